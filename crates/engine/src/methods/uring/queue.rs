//! The chunks in flight of the method `io_uring`.
#![expect(
    unsafe_code,
    reason = "the kernel reads the queue's memory after the call"
)]

use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

use io_uring::opcode;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::FsyncFlags;
use writebench_model::{Source, SyncCall};

use super::{
    Operations, Ring, entry_file, must_be_repeated, operation_failed, user_data, write_entry,
};
use crate::call::{Result, wrote_nothing};
use crate::methods::writev::{flags, of_flags};
use crate::page_writes::PageWrites;
use crate::region::{Region, to_usize};
use crate::write_loop::WriteLoop;

/// A chunk in flight.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// Where the chunk begins in the region's range.
    begin: usize,
    /// The number of unwritten bytes.
    left: usize,
    length: usize,
    /// When the write was submitted, if each record has a latency.
    submitted: Option<Instant>,
    linked: bool,
    write_ended: bool,
}

/// At most `depth` chunks are in flight.
pub(super) struct Queue<'q, 'a, R: Ring> {
    region: Region<'a>,
    file: BorrowedFd<'q>,
    operations: Operations<'q, R>,
    memory: &'a [u8],
    // Memory for each slot's chunk, if the data must be copied.
    staging: Option<&'q mut [u8]>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    next: usize,
    length: usize,
    completed_bytes: u64,
    // Chunks since the last sync that waits for all before it.
    since_sync: u64,
    sync_owed: bool,
}

const WRITE: u64 = 0;
const SYNC: u64 = 1;
const BARRIER: u64 = 2;

impl<'q, 'a, R: Ring> Queue<'q, 'a, R> {
    pub(super) fn new(
        region: Region<'a>,
        file: BorrowedFd<'q>,
        ring: &'q mut R,
        staging: Option<&'q mut [u8]>,
    ) -> Self {
        let depth = region.choices.depth as usize;
        Self {
            region,
            file,
            operations: Operations::new(ring),
            memory: region.memory(),
            staging,
            slots: vec![Slot::default(); depth],
            free: (0..depth).rev().collect(),
            next: 0,
            length: to_usize(region.range.length),
            completed_bytes: 0,
            since_sync: 0,
            sync_owed: false,
        }
    }

    pub(super) fn run(&mut self, write_loop: &mut WriteLoop) -> Result<()> {
        if let Some(pages) = self.region.pages {
            return self.run_commits(pages, write_loop);
        }
        let chunk = to_usize(self.region.choices.chunk_size_bytes);
        write_loop.start_clock();
        while self.next < self.length || !self.operations.is_empty() {
            if write_loop.is_past_limit() {
                self.length = self.next;
            }
            while self.next < self.length
                && let Some(index) = self.free.pop()
            {
                let length = chunk.min(self.length - self.next);
                write_loop.reserve((self.next + length) as u64)?;
                // The clock is read only if each record has a latency.
                let submitted = if write_loop.is_untimed() {
                    None
                } else {
                    Some(Instant::now())
                };
                self.begin(index, length, submitted)?;
            }
            self.operations.wait()?;
            while let Some((index, kind, result)) = self.operations.completed() {
                match kind {
                    WRITE => self.complete_write(index, result, write_loop)?,
                    SYNC => self.complete_sync(index, result, write_loop)?,
                    _ if result < 0 => return Err(operation_failed("io_uring fsync", result)),
                    _ => {}
                }
            }
        }
        if self.sync_owed || (self.waits_for_all() && self.since_sync > 0) {
            crate::sync::sync(self.file, self.region.choices.sync.call)?;
        }
        write_loop.handed_over_bytes += self.length as u64;
        Ok(())
    }

    /// Each commit has all its pages written, at most `depth` at a time, and is synced before the next begins.
    fn run_commits(&mut self, pages: &PageWrites, write_loop: &mut WriteLoop) -> Result<()> {
        let page_bytes = to_usize(pages.page_bytes());
        let commit_bytes = page_bytes * pages.commit_pages();
        write_loop.start_clock();
        while self.next < self.length && !write_loop.is_past_limit() {
            let began = Instant::now();
            let begin = self.next;
            let end = (begin + commit_bytes).min(self.length);
            while self.next < end || !self.operations.is_empty() {
                while self.next < end
                    && let Some(index) = self.free.pop()
                {
                    self.begin(index, page_bytes, None)?;
                }
                if self.next < end {
                    self.operations.wait()?;
                } else {
                    self.operations.wait_for_all()?;
                }
                while let Some((index, _, result)) = self.operations.completed() {
                    self.complete_write(index, result, write_loop)?;
                }
            }
            crate::sync::sync(self.file, self.region.choices.sync.call)?;
            if end - begin == commit_bytes {
                write_loop.record_latency(began.elapsed());
            }
        }
        write_loop.handed_over_bytes += self.next as u64;
        Ok(())
    }

    /// A sync after several writes must wait for all of them.
    fn waits_for_all(&self) -> bool {
        self.is_synced_by_ring(|every| every > 1)
    }

    /// Whether the ring makes syncs after so many chunks. Those of commits are calls.
    fn is_synced_by_ring(&self, is_so: impl FnOnce(u32) -> bool) -> bool {
        self.region.pages.is_none() && self.region.choices.sync.every.is_some_and(is_so)
    }

    /// Where a byte of the region's data goes in the file.
    fn file_offset(&self, begin: usize, done: usize) -> u64 {
        let begin = match self.region.pages {
            Some(pages) => pages.offset(begin / to_usize(pages.page_bytes())),
            None => self.region.file_offset + begin as u64,
        };
        begin + done as u64
    }

    fn begin(&mut self, index: usize, length: usize, submitted: Option<Instant>) -> Result<()> {
        self.slots[index] = Slot {
            begin: self.next,
            left: length,
            length,
            submitted,
            ..Slot::default()
        };
        self.next += length;
        self.push_write(index)?;
        if self.staging.is_some() {
            // The copy of the next chunk overlaps with this write.
            self.operations.submit()?;
        }
        if self.waits_for_all() {
            self.since_sync += 1;
            if self
                .region
                .choices
                .sync
                .every
                .is_some_and(|every| self.since_sync >= u64::from(every))
            {
                let sync = self.sync_entry().flags(Flags::IO_DRAIN);
                self.push(&[sync.user_data(user_data(index, BARRIER))])?;
                self.since_sync = 0;
            }
        }
        Ok(())
    }

    fn push_write(&mut self, index: usize) -> Result<()> {
        match self.entries(index) {
            (write, None) => self.push(&[write]),
            (write, Some(sync)) => self.push(&[write, sync]),
        }
    }

    fn push(&mut self, entries: &[Entry]) -> Result<()> {
        // SAFETY: the source, the staging and the file outlive the queue.
        unsafe { self.operations.push(entries) }
    }

    fn entries(&mut self, index: usize) -> (Entry, Option<Entry>) {
        let Slot {
            begin,
            length,
            left,
            ..
        } = self.slots[index];
        let done = length - left;
        let offset = self.file_offset(begin, done);
        let is_linked = self.is_synced_by_ring(|every| every == 1);
        let slot = &mut self.slots[index];
        let mut in_memory = match self.region.given.source {
            Source::File => slot.begin + done,
            Source::Chunk => done,
        };
        let mut memory = self.memory;
        if let Some(staging) = self.staging.as_deref_mut() {
            // No other operation uses the slot's bytes.
            let staged_at = index * to_usize(self.region.choices.chunk_size_bytes).min(self.length);
            staging[staged_at..staged_at + slot.left]
                .copy_from_slice(&memory[in_memory..in_memory + slot.left]);
            memory = staging;
            in_memory = staged_at;
        }
        let registered = self.region.choices.registered;
        let bytes = &memory[in_memory..in_memory + slot.left];
        let file = entry_file(registered, self.file.as_raw_fd(), 0);
        let flags = i32::try_from(flags(self.region.choices).bits()).unwrap_or(0);
        let (write, length) = write_entry(bytes, in_memory, registered, file, (offset, flags));
        slot.linked = is_linked && length == slot.left;
        let write = write.user_data(user_data(index, WRITE));
        if !slot.linked {
            return (write, None);
        }
        let sync = self.sync_entry().user_data(user_data(index, SYNC));
        (write.flags(Flags::IO_LINK), Some(sync))
    }

    fn sync_entry(&self) -> Entry {
        // `Case` allows no other periodic sync than fsync.
        let is_data = self.region.choices.sync.call == SyncCall::Fdatasync;
        let sync_flags = if is_data {
            FsyncFlags::DATASYNC
        } else {
            FsyncFlags::empty()
        };
        let (file, file_flags) =
            entry_file(self.region.choices.registered, self.file.as_raw_fd(), 0);
        opcode::Fsync::new(file)
            .flags(sync_flags)
            .build()
            .flags(file_flags)
    }

    fn complete_write(
        &mut self,
        index: usize,
        result: i32,
        write_loop: &mut WriteLoop,
    ) -> Result<()> {
        let Slot {
            begin,
            length,
            left,
            ..
        } = self.slots[index];
        let offset = self.file_offset(begin, length - left);
        let slot = &mut self.slots[index];
        let linked = slot.linked;
        match usize::try_from(result) {
            Ok(0) if slot.left > 0 => return Err(wrote_nothing("io_uring write").at(offset)),
            Ok(written) => slot.left -= written.min(slot.left),
            Err(_) if must_be_repeated(result) => {}
            Err(_) => {
                let error = operation_failed("io_uring write", result).at(offset);
                return Err(of_flags(error, self.region.choices));
            }
        }
        if slot.left == 0 {
            slot.write_ended = true;
            return if linked {
                Ok(())
            } else {
                self.complete_chunk(index, write_loop)
            };
        }
        // The kernel cancels the linked sync of a short write.
        self.sync_owed |= self.waits_for_all();
        if linked {
            Ok(())
        } else {
            self.push_write(index)
        }
    }

    fn complete_sync(
        &mut self,
        index: usize,
        result: i32,
        write_loop: &mut WriteLoop,
    ) -> Result<()> {
        let ended = self.slots[index].write_ended;
        if result < 0 && (ended || -result != libc::ECANCELED) {
            return Err(operation_failed("io_uring fsync", result));
        }
        // The sync was cancelled, or ran before the rest of the write.
        if ended {
            self.complete_chunk(index, write_loop)
        } else {
            self.push_write(index)
        }
    }

    fn complete_chunk(&mut self, index: usize, write_loop: &mut WriteLoop) -> Result<()> {
        let slot = &self.slots[index];
        self.completed_bytes += slot.length as u64;
        write_loop.advance_to(self.completed_bytes)?;
        if let Some(submitted) = slot.submitted {
            write_loop.record_latency(submitted.elapsed());
        }
        self.free.push(index);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::CallError;
    use crate::region;
    use std::os::fd::AsFd;
    use writebench_model::Case;

    /// Only an entry's debug output has its opcode, flags and user data.
    fn shown(entry: &Entry) -> String {
        format!("{entry:?}")
    }

    /// Needs no kernel with io_uring.
    struct Idle;

    impl Ring for Idle {
        unsafe fn push(&mut self, _: &[Entry]) -> bool {
            true
        }

        // The queue must not wait at its end.
        fn submit(&mut self, _: usize) -> Result<bool> {
            Err(CallError::other("idle", String::new()))
        }

        fn completed(&mut self) -> Option<(u64, i32)> {
            None
        }
    }

    fn with_queue(name: &str, test: impl FnOnce(&mut Queue<'_, '_, Idle>, &mut WriteLoop)) {
        let case = Case::parse(name).unwrap();
        let source = vec![7; 64 << 10];
        let region = region::split(&case, 0, &source, None)[0];
        let file = tempfile::tempfile().unwrap();
        let mut ring = Idle;
        let mut queue = Queue::new(region, file.as_fd(), &mut ring, None);
        test(&mut queue, &mut WriteLoop::new(&case, 0, None));
    }

    #[test]
    fn a_sync_is_linked_to_its_write_and_follows_it() {
        with_queue(
            "io_uring,size=64KiB,chunk=16KiB,depth=4,sync=fdatasync/1",
            |queue, _| {
                let index = queue.free.pop().unwrap();
                queue.begin(index, 16 << 10, None).unwrap();
                let (write, sync) = queue.entries(index);
                let linked = format!("flags: {}", Flags::IO_LINK.bits());
                assert!(shown(&write).contains(&linked), "{write:?}");
                assert!(shown(&sync.unwrap()).contains("flags: 0"));
                assert_eq!(queue.operations.in_flight, 2);
            },
        );
        with_queue(
            "io_uring,size=64KiB,chunk=16KiB,depth=4,sync=fsync/2",
            |queue, _| {
                for _ in 0..2 {
                    let index = queue.free.pop().unwrap();
                    queue.begin(index, 16 << 10, None).unwrap();
                }
                assert_eq!(
                    queue.operations.in_flight, 3,
                    "two writes and the sync that waits for them"
                );
            },
        );
    }

    #[test]
    fn a_short_write_and_its_canceled_sync_are_queued_again() {
        with_queue(
            "io_uring,size=64KiB,chunk=16KiB,depth=4,sync=fsync/1",
            |queue, write_loop| {
                let index = queue.free.pop().unwrap();
                queue.begin(index, 16 << 10, None).unwrap();
                queue.complete_write(index, 4096, write_loop).unwrap();
                assert_eq!(
                    queue.operations.in_flight, 2,
                    "nothing before the sync has come back"
                );
                queue
                    .complete_sync(index, -libc::ECANCELED, write_loop)
                    .unwrap();
                let slot = queue.slots[index];
                assert_eq!(
                    (slot.left, slot.linked, queue.operations.in_flight),
                    (12 << 10, true, 4)
                );
                queue.complete_write(index, 12 << 10, write_loop).unwrap();
                assert!(!queue.free.contains(&index), "the sync is still to come");
                queue.complete_sync(index, 0, write_loop).unwrap();
                assert!(queue.free.contains(&index));
            },
        );
    }

    #[test]
    fn a_sync_that_ran_behind_a_short_write_does_not_count() {
        with_queue(
            "io_uring,size=64KiB,chunk=16KiB,depth=4,sync=fsync/1",
            |queue, write_loop| {
                let index = queue.free.pop().unwrap();
                queue.begin(index, 16 << 10, None).unwrap();
                queue.complete_write(index, 4096, write_loop).unwrap();
                queue.complete_sync(index, 0, write_loop).unwrap();
                assert_eq!(queue.slots[index].left, 12 << 10);
                assert_eq!(
                    queue.operations.in_flight, 4,
                    "the rest and a sync of its own"
                );
            },
        );
    }

    #[test]
    fn interrupted_writes_are_queued_again_and_errors_are_errors() {
        with_queue(
            "io_uring,size=64KiB,chunk=16KiB,depth=4",
            |queue, write_loop| {
                let index = queue.free.pop().unwrap();
                queue.begin(index, 16 << 10, None).unwrap();
                queue
                    .complete_write(index, -libc::EINTR, write_loop)
                    .unwrap();
                assert_eq!(
                    (queue.slots[index].left, queue.operations.in_flight),
                    (16 << 10, 2)
                );
                assert!(queue.complete_write(index, -libc::EIO, write_loop).is_err());
                assert!(
                    queue.complete_write(index, 0, write_loop).is_err(),
                    "nothing written, and no error"
                );
                assert!(queue.complete_sync(index, -libc::EIO, write_loop).is_err());
            },
        );
    }
}
