//! io_uring: operations are queued, and several are under way at the same time.
#![expect(unsafe_code, reason = "the kernel reads memory that the queue refers to after the call")]

use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{IoUring, opcode, types};
use model::{Axis, Cursor, MethodInfo, Prepare, Registered, SyncCall};
use rustix::io::Errno;

use super::writev::flags;
use super::{Lane, Method, lane_each};
use crate::call::{CallError, IO_URING_SETUP};
use crate::job::Part;
use crate::records::Records;

static INFO: MethodInfo = MethodInfo {
    name: "uring",
    summary: "io_uring writes at an offset, one per chunk, several under way; sync=CALL/1 links a sync to each",
    calls: "io_uring_setup, io_uring_register, io_uring_enter",
    cursor: Cursor::Offset,
    axes: &[
        Axis::Chunk,
        Axis::Depth,
        Axis::Registered,
        Axis::Threads,
        Axis::Files,
        Axis::Descriptor,
        Axis::Cache,
        Axis::Data,
        Axis::Source,
        Axis::Alignment,
    ],
    prepares: Prepare::ALL,
    syncs: &[
        SyncCall::None,
        SyncCall::Fsync,
        SyncCall::Fdatasync,
        SyncCall::ODsync,
        SyncCall::OSync,
        SyncCall::RwfDsync,
    ],
    syncs_on_the_way: &[SyncCall::Fsync, SyncCall::Fdatasync],
};

pub(super) struct Uring;

impl Method for Uring {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
        lane_each(parts, |part| UringLane { part, ring: None })
    }
}

struct UringLane<'a> {
    part: Part<'a>,
    ring: Option<IoUring>,
}

impl Lane for UringLane<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        let axes = self.part.axes;
        // A write may have a sync linked to it.
        let ring = IoUring::new(axes.depth * 2).map_err(|error| failed(IO_URING_SETUP, &error))?;
        if matches!(axes.registered, Registered::Buffers | Registered::Both) && !self.part.memory().is_empty() {
            register_memory(&ring, self.part.memory())?;
        }
        if matches!(axes.registered, Registered::Files | Registered::Both) {
            let registered = ring.submitter().register_files(&[file.as_raw_fd()]);
            registered.map_err(|error| failed("io_uring_register files", &error))?;
        }
        self.ring = Some(ring);
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let Some(ring) = &mut self.ring else { return Ok(()) };
        let mut queue = Queue::new(self.part, file, ring);
        let result = queue.run(records);
        if result.is_err() {
            // Nothing may be under way when the file is closed and the memory given to others.
            queue.drain();
        }
        result
    }

    fn detach(&mut self) -> Result<(), CallError> {
        let Some(ring) = self.ring.take() else { return Ok(()) };
        // The kernel takes a ring apart some time after it was closed; until then it would hold on to the file.
        match self.part.axes.registered {
            Registered::Files | Registered::Both => ring
                .submitter()
                .unregister_files()
                .map_err(|error| failed("io_uring_register unregister files", &error)),
            _ => Ok(()),
        }
    }
}

/// What the kernel takes in one registered buffer: io_uring_register(2).
const PIECE_BYTES: usize = 1 << 30;

fn register_memory(ring: &IoUring, memory: &[u8]) -> Result<(), CallError> {
    let buffers: Vec<libc::iovec> = memory
        .chunks(PIECE_BYTES)
        .map(|piece| libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() })
        .collect();
    // SAFETY: the source stays where it is for longer than the lane, and the ring, live.
    unsafe { ring.submitter().register_buffers(&buffers) }
        .map_err(|error| failed("io_uring_register buffers", &error))
}

fn failed(call: &'static str, error: &std::io::Error) -> CallError {
    CallError::new(call, Errno::from_io_error(error).unwrap_or(Errno::IO))
}

/// A chunk under way.
#[derive(Clone, Copy)]
struct Slot {
    // Where in the part's range it begins, and how much of it is still to be written.
    begin: usize,
    left: usize,
    length: usize,
    // Where each record is a figure.
    submitted: Option<Instant>,
    // Whether a sync is linked to the write that is under way.
    linked: bool,
    // Whether its write has ended and only the sync linked to it is awaited.
    write_ended: bool,
}

/// The operations of one part: at most `depth` chunks under way, every result looked at.
struct Queue<'q, 'a> {
    part: Part<'a>,
    file: BorrowedFd<'q>,
    ring: &'q mut IoUring,
    memory: &'a [u8],
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    next: usize,
    length: usize,
    under_way: usize,
    // Chunks since the last sync that waits for all before it.
    since_sync: u64,
    sync_owed: bool,
}

/// What a completion is of, in the low bits of its user data.
const WRITE: u64 = 0;
const SYNC: u64 = 1;
const BARRIER: u64 = 2;
const KINDS: u64 = 4;

impl<'q, 'a> Queue<'q, 'a> {
    fn new(part: Part<'a>, file: BorrowedFd<'q>, ring: &'q mut IoUring) -> Self {
        let depth = part.axes.depth as usize;
        let length = usize::try_from(part.range.length).unwrap_or(usize::MAX);
        Self {
            part,
            file,
            ring,
            memory: part.memory(),
            slots: vec![None; depth],
            free: (0..depth).rev().collect(),
            next: 0,
            length,
            under_way: 0,
            since_sync: 0,
            sync_owed: false,
        }
    }

    fn run(&mut self, records: &mut Records) -> Result<(), CallError> {
        let chunk = usize::try_from(self.part.axes.chunk_size_bytes).unwrap_or(usize::MAX);
        while self.next < self.length || self.under_way > 0 {
            while self.next < self.length
                && let Some(index) = self.free.pop()
            {
                let length = chunk.min(self.length - self.next);
                // The clock is read only where each record is a figure.
                let submitted = if records.is_off() { None } else { Some(Instant::now()) };
                self.begin(index, length, submitted)?;
            }
            self.wait()?;
            self.reap(records)?;
        }
        if self.sync_owed || (self.waits_for_all() && self.since_sync > 0) {
            crate::sync::sync(self.file, self.part.axes.sync.call)?;
        }
        records.add_bytes(self.length as u64);
        Ok(())
    }

    /// Whether a sync is linked to each write.
    fn links(&self) -> bool {
        self.part.axes.sync.every == Some(1)
    }

    /// Whether a sync comes after several writes, and so must wait for all of them.
    fn waits_for_all(&self) -> bool {
        self.part.axes.sync.every.is_some_and(|every| every > 1)
    }

    fn begin(&mut self, index: usize, length: usize, submitted: Option<Instant>) -> Result<(), CallError> {
        let begin = self.next;
        self.slots[index] =
            Some(Slot { begin, left: length, length, submitted, linked: false, write_ended: false });
        self.next += length;
        self.push_write(index)?;
        if self.waits_for_all() {
            self.since_sync += 1;
            if self.part.axes.sync.every.is_some_and(|every| self.since_sync >= u64::from(every)) {
                self.push(self.sync_entry().flags(Flags::IO_DRAIN).user_data(BARRIER))?;
                self.since_sync = 0;
            }
        }
        Ok(())
    }

    /// Queues what is left of a slot's chunk, with the sync that is linked to it.
    fn push_write(&mut self, index: usize) -> Result<(), CallError> {
        let (links, registered) = (self.links(), self.part.axes.registered);
        let Some(slot) = &mut self.slots[index] else { return Ok(()) };
        let done = slot.length - slot.left;
        let in_memory = match self.part.axes.source {
            model::Source::File => slot.begin + done,
            model::Source::Chunk => done,
        };
        // Not over the border of a registered buffer.
        let most = match registered {
            Registered::Buffers | Registered::Both => PIECE_BYTES - in_memory % PIECE_BYTES,
            _ => usize::MAX,
        };
        let bytes = &self.memory[in_memory..in_memory + slot.left.min(most)];
        slot.linked = links && bytes.len() == slot.left;
        let linked = slot.linked;
        let offset = self.part.file_offset + (slot.begin + done) as u64;
        let write = self.write_entry(bytes, offset, in_memory / PIECE_BYTES);
        let data = index as u64 * KINDS;
        if linked {
            self.push(write.flags(Flags::IO_LINK).user_data(data | WRITE))?;
            self.push(self.sync_entry().user_data(data | SYNC))
        } else {
            self.push(write.user_data(data | WRITE))
        }
    }

    fn write_entry(&self, bytes: &[u8], offset: u64, buffer: usize) -> Entry {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let flags = i32::try_from(flags(self.part.axes).bits()).unwrap_or(0);
        let buffer = u16::try_from(buffer).unwrap_or(u16::MAX);
        let (pointer, number) = (bytes.as_ptr(), types::Fd(self.file.as_raw_fd()));
        let write = |fd| opcode::Write::new(fd, pointer, length).offset(offset).rw_flags(flags).build();
        match self.part.axes.registered {
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
        let flags = match self.part.axes.sync.call {
            SyncCall::Fdatasync => FsyncFlags::DATASYNC,
            _ => FsyncFlags::empty(),
        };
        match self.part.axes.registered {
            Registered::Files | Registered::Both => opcode::Fsync::new(Fixed(0)).flags(flags).build(),
            _ => opcode::Fsync::new(types::Fd(self.file.as_raw_fd())).flags(flags).build(),
        }
    }

    fn push(&mut self, entry: Entry) -> Result<(), CallError> {
        loop {
            // SAFETY: what the entry refers to, the source and the file, outlives the operation: the queue is
            // drained before either goes.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                self.under_way += 1;
                return Ok(());
            }
            self.submit(0)?;
        }
    }

    fn wait(&mut self) -> Result<(), CallError> {
        self.submit(usize::from(self.under_way > 0))
    }

    fn submit(&mut self, wanted: usize) -> Result<(), CallError> {
        loop {
            match self.ring.submit_and_wait(wanted) {
                Ok(_) => return Ok(()),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                // The kernel wants its completions taken first: io_uring_enter(2).
                Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EAGAIN)) => return Ok(()),
                Err(error) => return Err(failed("io_uring_enter", &error)),
            }
        }
    }

    /// Takes all completions that are there.
    fn reap(&mut self, records: &mut Records) -> Result<(), CallError> {
        loop {
            let next = self.ring.completion().next();
            let Some(completion) = next else { return Ok(()) };
            self.under_way -= 1;
            let (data, result) = (completion.user_data(), completion.result());
            let index = usize::try_from(data / KINDS).unwrap_or(usize::MAX);
            match data % KINDS {
                WRITE => self.written(index, result, records)?,
                SYNC => self.synced(index, result, records)?,
                _ => sync_result(result)?,
            }
        }
    }

    fn written(&mut self, index: usize, result: i32, records: &mut Records) -> Result<(), CallError> {
        let part_offset = self.part.file_offset;
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
            return if linked { Ok(()) } else { self.end(index, records) };
        }
        // A short write. A sync that is linked to it comes back canceled, and then both are queued again.
        self.sync_owed |= self.waits_for_all();
        if linked { Ok(()) } else { self.push_write(index) }
    }

    fn synced(&mut self, index: usize, result: i32, records: &mut Records) -> Result<(), CallError> {
        let ended = self.slots.get(index).copied().flatten().is_some_and(|slot| slot.write_ended);
        match -result {
            libc::ECANCELED if !ended => self.push_write(index),
            _ => {
                sync_result(result)?;
                self.end(index, records)
            }
        }
    }

    fn end(&mut self, index: usize, records: &mut Records) -> Result<(), CallError> {
        if let Some(slot) = self.slots[index].take() {
            if let Some(submitted) = slot.submitted {
                records.took(submitted.elapsed());
            }
            self.free.push(index);
        }
        Ok(())
    }

    /// Waits until nothing is under way, whatever comes of it.
    fn drain(&mut self) {
        while self.under_way > 0 {
            if self.ring.submit_and_wait(1).is_err_and(|error| error.raw_os_error() != Some(libc::EINTR)) {
                return;
            }
            while self.ring.completion().next().is_some() {
                self.under_way -= 1;
            }
        }
    }
}

fn sync_result(result: i32) -> Result<(), CallError> {
    if result < 0 { Err(operation_failed("io_uring fsync", result)) } else { Ok(()) }
}

fn operation_failed(call: &'static str, result: i32) -> CallError {
    CallError::new(call, Errno::from_raw_os_error(-result))
}
