//! The operations of one region: queued, under way and completed.
#![expect(unsafe_code, reason = "the kernel reads memory that the queue refers to after the call")]

use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;
use writebench_model::{Registered, SyncCall};

use super::{PIECE_BYTES, drain, submit};
use crate::call::CallError;
use crate::methods::writev::flags;
use crate::records::Records;
use crate::region::Region;

/// The most bytes of one write: write(2). The kernel cuts a longer one silently, and a linked sync would run
/// before the rest is written.
const MOST_BYTES: usize = 0x7fff_f000;

/// A chunk under way.
#[derive(Clone, Copy)]
struct Slot {
    // The chunk's start in the region's range, and the number of bytes still to be written.
    begin: usize,
    left: usize,
    length: usize,
    // Present if each record has a latency.
    submitted: Option<Instant>,
    // Whether a sync is linked to the write that is under way.
    linked: bool,
    // Whether the chunk's write has ended and only the linked sync is awaited.
    write_ended: bool,
}

/// The kernel's side of the operations.
pub(super) trait Ring {
    /// Queues an operation, and returns whether there was room.
    ///
    /// # Safety
    /// Its memory and its file must outlive it.
    unsafe fn push(&mut self, entry: &Entry) -> bool;
    /// Submits what is queued, and waits for so many completions.
    fn submit(&mut self, wanted: usize) -> Result<(), CallError>;
    /// The user data and the result of a completion.
    fn completed(&mut self) -> Option<(u64, i32)>;
    /// Waits for all operations in flight.
    fn drain(&mut self, under_way: &mut usize);
}

impl Ring for IoUring {
    unsafe fn push(&mut self, entry: &Entry) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.submission().push(entry) }.is_ok()
    }

    fn submit(&mut self, wanted: usize) -> Result<(), CallError> {
        submit(self, wanted)
    }

    fn completed(&mut self) -> Option<(u64, i32)> {
        self.completion().next().map(|entry| (entry.user_data(), entry.result()))
    }

    fn drain(&mut self, under_way: &mut usize) {
        drain(self, under_way);
    }
}

/// The operations of one region: at most `depth` chunks under way, with every result checked.
pub(super) struct Queue<'q, 'a, R> {
    region: Region<'a>,
    file: BorrowedFd<'q>,
    ring: &'q mut R,
    memory: &'a [u8],
    // Aligned memory with room for each slot's chunk, if the data must be copied there.
    staging: Option<&'q mut [u8]>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    next: usize,
    length: usize,
    // Bytes of completed chunks, in any order.
    completed_bytes: u64,
    under_way: usize,
    // Chunks since the last sync that waits for all chunks before it.
    since_sync: u64,
    sync_owed: bool,
}

/// The kind of operation, in the low bits of a completion's user data.
const WRITE: u64 = 0;
const SYNC: u64 = 1;
const BARRIER: u64 = 2;
const OPERATIONS: u64 = 4;

impl<'q, 'a, R: Ring> Queue<'q, 'a, R> {
    pub(super) fn new(
        region: Region<'a>,
        file: BorrowedFd<'q>,
        ring: &'q mut R,
        staging: Option<&'q mut [u8]>,
    ) -> Self {
        let depth = region.axes.depth as usize;
        let length = usize::try_from(region.range.length).unwrap_or(usize::MAX);
        Self {
            region,
            file,
            ring,
            memory: region.memory(),
            staging,
            slots: vec![None; depth],
            free: (0..depth).rev().collect(),
            next: 0,
            length,
            completed_bytes: 0,
            under_way: 0,
            since_sync: 0,
            sync_owed: false,
        }
    }

    pub(super) fn run(&mut self, records: &mut Records) -> Result<(), CallError> {
        let chunk = usize::try_from(self.region.axes.chunk_size_bytes).unwrap_or(usize::MAX);
        records.begin();
        while self.next < self.length || self.under_way > 0 {
            if records.is_past_limit() {
                // Operations under way are completed; no other begins.
                self.length = self.next;
            }
            while self.next < self.length
                && let Some(index) = self.free.pop()
            {
                let length = chunk.min(self.length - self.next);
                // The clock is read only if each record has a latency.
                let submitted = if records.is_off() { None } else { Some(Instant::now()) };
                self.begin(index, length, submitted)?;
            }
            self.wait()?;
            self.reap(records)?;
        }
        if self.sync_owed || (self.waits_for_all() && self.since_sync > 0) {
            crate::sync::sync(self.file, self.region.axes.sync.call)?;
        }
        records.handed_over_bytes += self.length as u64;
        Ok(())
    }

    /// Whether a sync is linked to each write.
    fn links(&self) -> bool {
        self.region.axes.sync.every == Some(1)
    }

    /// Whether a sync follows several writes, and so must wait for all of them.
    fn waits_for_all(&self) -> bool {
        self.region.axes.sync.every.is_some_and(|every| every > 1)
    }

    fn begin(&mut self, index: usize, length: usize, submitted: Option<Instant>) -> Result<(), CallError> {
        let begin = self.next;
        self.slots[index] =
            Some(Slot { begin, left: length, length, submitted, linked: false, write_ended: false });
        self.next += length;
        self.push_write(index)?;
        if self.waits_for_all() {
            self.since_sync += 1;
            if self.region.axes.sync.every.is_some_and(|every| self.since_sync >= u64::from(every)) {
                self.push(self.sync_entry().flags(Flags::IO_DRAIN).user_data(BARRIER))?;
                self.since_sync = 0;
            }
        }
        Ok(())
    }

    /// Queues the rest of a slot's chunk, with the linked sync.
    fn push_write(&mut self, index: usize) -> Result<(), CallError> {
        let Some((write, sync)) = self.operations(index) else { return Ok(()) };
        self.push(write)?;
        sync.map_or(Ok(()), |sync| self.push(sync))
    }

    /// The write of the rest of a slot's chunk, and the linked sync.
    fn operations(&mut self, index: usize) -> Option<(Entry, Option<Entry>)> {
        let (links, registered) = (self.links(), self.region.axes.registered);
        let slot = self.slots[index].as_mut()?;
        let done = slot.length - slot.left;
        let mut in_memory = match self.region.axes.source {
            writebench_model::Source::File => slot.begin + done,
            writebench_model::Source::Chunk => done,
        };
        let mut memory = self.memory;
        if let Some(staging) = self.staging.as_deref_mut() {
            // No other operation uses the slot's place.
            let chunk = usize::try_from(self.region.axes.chunk_size_bytes).unwrap_or(usize::MAX);
            let staged_at = index * chunk.min(self.length);
            staging[staged_at..staged_at + slot.left]
                .copy_from_slice(&memory[in_memory..in_memory + slot.left]);
            (memory, in_memory) = (staging, staged_at);
        }
        // A write may not cross the border of a registered buffer.
        let most = match registered {
            Registered::Buffers | Registered::Both => PIECE_BYTES - in_memory % PIECE_BYTES,
            _ => MOST_BYTES,
        };
        let bytes = &memory[in_memory..in_memory + slot.left.min(most)];
        let bytes = (bytes.as_ptr(), bytes.len());
        slot.linked = links && bytes.1 == slot.left;
        let linked = slot.linked;
        let offset = self.region.file_offset + (slot.begin + done) as u64;
        let write = self.write_entry(bytes, offset, in_memory / PIECE_BYTES);
        let data = index as u64 * OPERATIONS;
        if !linked {
            return Some((write.user_data(data | WRITE), None));
        }
        let write = write.flags(Flags::IO_LINK).user_data(data | WRITE);
        Some((write, Some(self.sync_entry().user_data(data | SYNC))))
    }

    fn write_entry(&self, (pointer, length): (*const u8, usize), offset: u64, buffer: usize) -> Entry {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let flags = i32::try_from(flags(self.region.axes).bits()).unwrap_or(0);
        let buffer = u16::try_from(buffer).unwrap_or(u16::MAX);
        let number = types::Fd(self.file.as_raw_fd());
        let write = |fd| opcode::Write::new(fd, pointer, length).offset(offset).rw_flags(flags).build();
        match self.region.axes.registered {
            Registered::None => write(number),
            Registered::Files => {
                opcode::Write::new(Fixed(0), pointer, length).offset(offset).rw_flags(flags).build()
            }
            Registered::Buffers => {
                opcode::WriteFixed::new(number, pointer, length, buffer).offset(offset).rw_flags(flags).build()
            }
            Registered::Both => opcode::WriteFixed::new(Fixed(0), pointer, length, buffer)
                .offset(offset)
                .rw_flags(flags)
                .build(),
        }
    }

    fn sync_entry(&self) -> Entry {
        let flags = match self.region.axes.sync.call {
            SyncCall::Fdatasync => FsyncFlags::DATASYNC,
            SyncCall::Fsync => FsyncFlags::empty(),
            // `Case` has no other call on the way.
            SyncCall::None | SyncCall::Msync | SyncCall::ODsync | SyncCall::OSync | SyncCall::RwfDsync => {
                unreachable!("a sync call on the way")
            }
        };
        match self.region.axes.registered {
            Registered::Files | Registered::Both => opcode::Fsync::new(Fixed(0)).flags(flags).build(),
            _ => opcode::Fsync::new(types::Fd(self.file.as_raw_fd())).flags(flags).build(),
        }
    }

    fn push(&mut self, entry: Entry) -> Result<(), CallError> {
        loop {
            // SAFETY: the source and the file of the entry outlive the operation: the queue is drained before
            // either is dropped.
            if unsafe { self.ring.push(&entry) } {
                self.under_way += 1;
                return Ok(());
            }
            self.ring.submit(0)?;
        }
    }

    fn wait(&mut self) -> Result<(), CallError> {
        self.ring.submit(usize::from(self.under_way > 0))
    }

    /// Takes all available completions.
    fn reap(&mut self, records: &mut Records) -> Result<(), CallError> {
        while let Some((data, result)) = self.ring.completed() {
            self.under_way -= 1;
            let index = usize::try_from(data / OPERATIONS).unwrap_or(usize::MAX);
            match data % OPERATIONS {
                WRITE => self.complete_write(index, result, records)?,
                SYNC => self.complete_sync(index, result, records)?,
                _ => sync_result(result)?,
            }
        }
        Ok(())
    }

    fn complete_write(&mut self, index: usize, result: i32, records: &mut Records) -> Result<(), CallError> {
        let part_offset = self.region.file_offset;
        let Some(slot) = self.slots.get_mut(index).and_then(Option::as_mut) else { return Ok(()) };
        let offset = part_offset + (slot.begin + slot.length - slot.left) as u64;
        let linked = slot.linked;
        match usize::try_from(result) {
            Ok(0) if slot.left > 0 => {
                let message = "wrote 0 bytes and gave no error".to_owned();
                return Err(CallError::other("io_uring write", message).at(offset));
            }
            Ok(written) => slot.left -= written.min(slot.left),
            Err(_) if matches!(-result, libc::EINTR | libc::EAGAIN) => {}
            Err(_) => return Err(operation_failed("io_uring write", result).at(offset)),
        }
        if slot.left == 0 {
            slot.write_ended = true;
            return if linked { Ok(()) } else { self.complete_chunk(index, records) };
        }
        // The write was short. A linked sync is then cancelled, and both are queued again.
        self.sync_owed |= self.waits_for_all();
        if linked { Ok(()) } else { self.push_write(index) }
    }

    fn complete_sync(&mut self, index: usize, result: i32, records: &mut Records) -> Result<(), CallError> {
        let ended = self.slots.get(index).copied().flatten().is_some_and(|slot| slot.write_ended);
        if result < 0 && (ended || -result != libc::ECANCELED) {
            return Err(operation_failed("io_uring fsync", result));
        }
        // The sync was cancelled, or ran before the rest of the write.
        if ended { self.complete_chunk(index, records) } else { self.push_write(index) }
    }

    fn complete_chunk(&mut self, index: usize, records: &mut Records) -> Result<(), CallError> {
        if let Some(slot) = self.slots[index].take() {
            self.completed_bytes += slot.length as u64;
            records.reached(self.completed_bytes)?;
            if let Some(submitted) = slot.submitted {
                records.record_latency(submitted.elapsed());
            }
            self.free.push(index);
        }
        Ok(())
    }

    /// Waits until no operation is under way, whatever the results.
    pub(super) fn drain(&mut self) {
        self.ring.drain(&mut self.under_way);
    }
}

fn sync_result(result: i32) -> Result<(), CallError> {
    if result < 0 { Err(operation_failed("io_uring fsync", result)) } else { Ok(()) }
}

fn operation_failed(call: &'static str, result: i32) -> CallError {
    CallError::new(call, Errno::from_raw_os_error(-result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region;
    use std::os::fd::AsFd;
    use writebench_model::Case;

    /// The opcode, flags and user data, which an entry exposes only in its debug output.
    fn shown(entry: &Entry) -> String {
        format!("{entry:?}")
    }

    /// A ring that takes all operations and completes none. No kernel with io_uring is needed.
    struct Idle;

    impl Ring for Idle {
        unsafe fn push(&mut self, _: &Entry) -> bool {
            true
        }

        fn submit(&mut self, _: usize) -> Result<(), CallError> {
            Ok(())
        }

        fn completed(&mut self) -> Option<(u64, i32)> {
            None
        }

        fn drain(&mut self, _: &mut usize) {}
    }

    fn with_queue(name: &str, test: impl FnOnce(&mut Queue<'_, '_, Idle>, &mut Records)) {
        let case = Case::parse(name).unwrap();
        let source = vec![7; 64 << 10];
        let region = region::split(&case, 0, &source, None)[0];
        let file = tempfile::tempfile().unwrap();
        let mut ring = Idle;
        let mut queue = Queue::new(region, file.as_fd(), &mut ring, None);
        test(&mut queue, &mut Records::new(case.axes().sync, 0, None));
    }

    #[test]
    fn a_sync_is_linked_to_its_write_and_follows_it() {
        with_queue("uring,size=64KiB,chunk=16KiB,depth=4,sync=fdatasync/1", |queue, _| {
            let index = queue.free.pop().unwrap();
            queue.begin(index, 16 << 10, None).unwrap();
            let (write, sync) = queue.operations(index).unwrap();
            let linked = format!("flags: {}", Flags::IO_LINK.bits());
            assert!(shown(&write).contains(&linked), "{write:?}");
            assert!(shown(&sync.unwrap()).contains("flags: 0"));
            assert_eq!(queue.under_way, 2);
        });
        with_queue("uring,size=64KiB,chunk=16KiB,depth=4,sync=fsync/2", |queue, _| {
            for _ in 0..2 {
                let index = queue.free.pop().unwrap();
                queue.begin(index, 16 << 10, None).unwrap();
            }
            assert_eq!(queue.under_way, 3, "two writes and the sync that waits for them");
        });
    }

    #[test]
    fn a_short_write_and_its_canceled_sync_are_queued_again() {
        with_queue("uring,size=64KiB,chunk=16KiB,depth=4,sync=fsync/1", |queue, records| {
            let index = queue.free.pop().unwrap();
            queue.begin(index, 16 << 10, None).unwrap();
            queue.complete_write(index, 4096, records).unwrap();
            assert_eq!(queue.under_way, 2, "nothing before the sync has come back");
            queue.complete_sync(index, -libc::ECANCELED, records).unwrap();
            let slot = queue.slots[index].unwrap();
            assert_eq!((slot.left, slot.linked, queue.under_way), (12 << 10, true, 4));
            queue.complete_write(index, 12 << 10, records).unwrap();
            assert!(queue.slots[index].is_some(), "the sync is still to come");
            queue.complete_sync(index, 0, records).unwrap();
            assert!(queue.slots[index].is_none() && queue.free.contains(&index));
        });
    }

    #[test]
    fn a_sync_that_ran_behind_a_short_write_does_not_count() {
        with_queue("uring,size=64KiB,chunk=16KiB,depth=4,sync=fsync/1", |queue, records| {
            let index = queue.free.pop().unwrap();
            queue.begin(index, 16 << 10, None).unwrap();
            queue.complete_write(index, 4096, records).unwrap();
            queue.complete_sync(index, 0, records).unwrap();
            assert_eq!(queue.slots[index].unwrap().left, 12 << 10);
            assert_eq!(queue.under_way, 4, "the rest and a sync of its own");
        });
    }

    #[test]
    fn interrupted_writes_are_queued_again_and_errors_are_errors() {
        with_queue("uring,size=64KiB,chunk=16KiB,depth=4", |queue, records| {
            let index = queue.free.pop().unwrap();
            queue.begin(index, 16 << 10, None).unwrap();
            queue.complete_write(index, -libc::EINTR, records).unwrap();
            assert_eq!((queue.slots[index].unwrap().left, queue.under_way), (16 << 10, 2));
            assert!(queue.complete_write(index, -libc::EIO, records).is_err());
            assert!(queue.complete_write(index, 0, records).is_err(), "nothing written, and no error");
            assert!(queue.complete_sync(index, -libc::EIO, records).is_err());
        });
    }
}
