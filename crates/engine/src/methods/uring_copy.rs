//! io_uring copies: each chunk is a read and a write, linked, and several are under way at the same time.
#![expect(unsafe_code, reason = "the kernel uses memory that the queue refers to after the call")]

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use direct_io::AlignedBuffer;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, opcode};
use rustix::io::Errno;
use writebench_model::Registered;

use super::copy::{Input, ended};
use super::read_write::{buffers, no_buffer};
use super::uring::IO_URING_SETUP;
use super::{IoThread, each_thread};
use crate::call::CallError;
use crate::file::{self, COPIED};
use crate::records::Records;
use crate::region::Region;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| UringCopyThread {
        region,
        buffers: buffers(&region),
        input: None,
        ring: None,
    })
}

struct UringCopyThread<'a> {
    region: Region<'a>,
    // None if there is no memory for the buffers.
    buffers: Option<Vec<AlignedBuffer>>,
    input: Option<OwnedFd>,
    // Dropped after `detach`, which ends what the kernel knows of the buffers.
    ring: Option<IoUring>,
}

/// The most bytes of one operation: write(2).
const MOST_BYTES: u64 = 0x7fff_f000;
/// The source's place among the registered files; the copy's is 1.
const SOURCE: u32 = 0;
const COPY: u32 = 1;

impl IoThread for UringCopyThread<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        let axes = self.region.axes;
        let input = Input::open_with(&self.region, axes.cache)?;
        let ring = IoUring::new(axes.depth * 2).map_err(|error| CallError::from_io(IO_URING_SETUP, &error))?;
        if matches!(axes.registered, Registered::Buffers | Registered::Both) {
            register(&ring, self.buffers.as_deref().unwrap_or_default())?;
        }
        if matches!(axes.registered, Registered::Files | Registered::Both) {
            let registered = ring.submitter().register_files(&[input.as_raw_fd(), file.as_raw_fd()]);
            registered.map_err(|error| CallError::from_io("io_uring_register files", &error))?;
        }
        (self.input, self.ring) = (Some(input), Some(ring));
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let (Some(input), Some(ring)) = (&self.input, &mut self.ring) else { return Ok(()) };
        let Some(buffers) = &mut self.buffers else { return Err(no_buffer()) };
        let slots = buffers.iter_mut().map(|buffer| Slot { buffer, at: 0, length: 0, read: 0, written: 0 });
        let slots: Vec<Slot<'_>> = slots.collect();
        let mut queue = Queue {
            region: self.region,
            files: [input.as_raw_fd(), file.as_raw_fd()],
            ring,
            free: (0..slots.len()).rev().collect(),
            slots,
            next: 0,
            completed_bytes: 0,
            under_way: 0,
        };
        let result = queue.run(records);
        if result.is_err() {
            // No operation may be under way when the files are closed and the memory is reused.
            queue.drain();
        }
        result
    }

    fn detach(&mut self) -> Result<(), CallError> {
        if let Some(ring) = self.ring.take() {
            let registered = self.region.axes.registered;
            super::uring::unregister(&ring, registered, self.buffers.is_some())?;
        }
        self.input.take().map_or(Ok(()), file::close)
    }
}

fn register(ring: &IoUring, buffers: &[AlignedBuffer]) -> Result<(), CallError> {
    let buffers: Vec<libc::iovec> = buffers
        .iter()
        .map(|buffer| libc::iovec { iov_base: buffer.as_ptr().cast_mut().cast(), iov_len: buffer.len() })
        .collect();
    // SAFETY: the thread keeps the buffers until it has unregistered them.
    unsafe { ring.submitter().register_buffers(&buffers) }
        .map_err(|error| CallError::from_io("io_uring_register buffers", &error))
}

/// A chunk under way, with its buffer.
struct Slot<'q> {
    buffer: &'q mut AlignedBuffer,
    // The chunk's start in the region's range.
    at: u64,
    length: usize,
    read: usize,
    written: usize,
}

/// The chunks of one region: at most `depth` of them under way.
struct Queue<'q, 'a> {
    region: Region<'a>,
    // The source and the copy.
    files: [i32; 2],
    ring: &'q mut IoUring,
    slots: Vec<Slot<'q>>,
    free: Vec<usize>,
    next: u64,
    completed_bytes: u64,
    under_way: usize,
}

/// The kind of operation, in the low bit of a completion's user data.
const READ: u64 = 0;
const WRITE: u64 = 1;
const OPERATIONS: u64 = 2;

impl Queue<'_, '_> {
    fn run(&mut self, records: &mut Records) -> Result<(), CallError> {
        let length = self.region.range.length;
        while self.next < length || self.under_way > 0 {
            while self.next < length
                && let Some(index) = self.free.pop()
            {
                let chunk = self.region.axes.chunk_size_bytes.min(MOST_BYTES).min(length - self.next);
                let slot = &mut self.slots[index];
                (slot.at, slot.read, slot.written) = (self.next, 0, 0);
                slot.length = usize::try_from(chunk).unwrap_or(usize::MAX);
                self.next += chunk;
                self.push_both(index)?;
            }
            self.submit(usize::from(self.under_way > 0))?;
            loop {
                let next = self.ring.completion().next();
                let Some(completion) = next else { break };
                self.under_way -= 1;
                let index = usize::try_from(completion.user_data() / OPERATIONS).unwrap_or(usize::MAX);
                match completion.user_data() % OPERATIONS {
                    READ => self.complete_read(index, completion.result())?,
                    _ => self.complete_write(index, completion.result(), records)?,
                }
            }
        }
        records.handed_over_bytes += length;
        Ok(())
    }

    /// Queues the read of the rest of a chunk, and the write of all of it. The kernel cancels the write if the
    /// read is short or fails.
    fn push_both(&mut self, index: usize) -> Result<(), CallError> {
        let read = self.entry(index, READ).flags(Flags::IO_LINK);
        let write = self.entry(index, WRITE);
        // A link must not be cut by a submission in between.
        let queued = self.ring.submission();
        let has_room = queued.capacity() - queued.len() >= 2;
        drop(queued);
        if !has_room {
            self.submit(0)?;
        }
        self.push(read)?;
        self.push(write)
    }

    fn entry(&mut self, index: usize, operation: u64) -> Entry {
        let slot = &mut self.slots[index];
        let (done, file, index_of_file, base) = match operation {
            READ => (slot.read, self.files[0], SOURCE, self.region.range.offset),
            _ => (slot.written, self.files[1], COPY, self.region.file_offset),
        };
        let memory = &mut slot.buffer[done..slot.length];
        let (pointer, length) = (memory.as_mut_ptr(), u32::try_from(memory.len()).unwrap_or(u32::MAX));
        let offset = base + slot.at + done as u64;
        let number = u16::try_from(index).unwrap_or(u16::MAX);
        let (fd, fixed) = (Fd(file), Fixed(index_of_file));
        let entry = match (self.region.axes.registered, operation) {
            (Registered::None, READ) => opcode::Read::new(fd, pointer, length).offset(offset).build(),
            (Registered::None, _) => opcode::Write::new(fd, pointer, length).offset(offset).build(),
            (Registered::Files, READ) => opcode::Read::new(fixed, pointer, length).offset(offset).build(),
            (Registered::Files, _) => opcode::Write::new(fixed, pointer, length).offset(offset).build(),
            (Registered::Buffers, READ) => {
                opcode::ReadFixed::new(fd, pointer, length, number).offset(offset).build()
            }
            (Registered::Buffers, _) => {
                opcode::WriteFixed::new(fd, pointer, length, number).offset(offset).build()
            }
            (Registered::Both, READ) => {
                opcode::ReadFixed::new(fixed, pointer, length, number).offset(offset).build()
            }
            (Registered::Both, _) => {
                opcode::WriteFixed::new(fixed, pointer, length, number).offset(offset).build()
            }
        };
        entry.user_data(index as u64 * OPERATIONS + operation)
    }

    fn push(&mut self, entry: Entry) -> Result<(), CallError> {
        loop {
            // SAFETY: the buffers and files of the entry outlive the operation: the queue is drained before
            // they are dropped.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                self.under_way += 1;
                return Ok(());
            }
            self.submit(0)?;
        }
    }

    fn submit(&mut self, wanted: usize) -> Result<(), CallError> {
        super::uring::submit(self.ring, wanted)
    }

    fn complete_read(&mut self, index: usize, result: i32) -> Result<(), CallError> {
        let slot = &mut self.slots[index];
        let offset = self.region.range.offset + slot.at + slot.read as u64;
        match usize::try_from(result) {
            Ok(0) => Err(ended("io_uring read", offset)),
            Ok(read) => {
                slot.read += read.min(slot.length - slot.read);
                Ok(())
            }
            // The linked write is cancelled, and both operations are queued again.
            Err(_) if is_interrupted(result) => Ok(()),
            Err(_) => Err(failed("io_uring read", result).with_path(COPIED).at(offset)),
        }
    }

    fn complete_write(&mut self, index: usize, result: i32, records: &mut Records) -> Result<(), CallError> {
        let slot = &mut self.slots[index];
        let offset = self.region.file_offset + slot.at + slot.written as u64;
        if slot.read < slot.length {
            // The read was short, and the write has been cancelled, or has written what was not yet read.
            return self.push_both(index);
        }
        match usize::try_from(result) {
            Ok(0) => {
                let message = "wrote 0 bytes and gave no error".to_owned();
                return Err(CallError::other("io_uring write", message).at(offset));
            }
            Ok(written) => slot.written += written.min(slot.length - slot.written),
            Err(_) if is_interrupted(result) => {}
            Err(_) => return Err(failed("io_uring write", result).at(offset)),
        }
        if slot.written < slot.length {
            let rest = self.entry(index, WRITE);
            return self.push(rest);
        }
        self.completed_bytes += slot.length as u64;
        self.free.push(index);
        records.reached(self.completed_bytes)
    }

    /// Waits until no operation is under way, whatever the results.
    fn drain(&mut self) {
        super::uring::drain(self.ring, &mut self.under_way);
    }
}

/// Whether the operation is to be queued again: it was interrupted, or the read before it was.
fn is_interrupted(result: i32) -> bool {
    matches!(-result, libc::EINTR | libc::EAGAIN | libc::ECANCELED)
}

fn failed(call: &'static str, result: i32) -> CallError {
    CallError::new(call, Errno::from_raw_os_error(-result))
}
