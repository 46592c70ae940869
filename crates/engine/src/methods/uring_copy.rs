//! A copy by `io_uring`, with several linked reads and writes in flight.
#![expect(
    unsafe_code,
    reason = "the kernel uses the queue's memory after the call"
)]

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use direct_io::AlignedBuffer;
use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, opcode};

use super::copy::{ended, open_unadvised};
use super::read_write::{buffers, no_buffer};
use super::uring::{
    MOST_BYTES, Operations, RegisteredRing, entry_file, has_buffers, must_be_repeated,
    operation_failed, user_data,
};
use super::{IoThread, Region, Result, WriteLoop};
use crate::call::wrote_nothing;
use crate::file::{self, COPIED};
use crate::region::to_usize;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    UringCopyThread {
        region,
        buffers: buffers(&region),
        source: None,
        ring: None,
    }
}

struct UringCopyThread<'a> {
    region: Region<'a>,
    ring: Option<RegisteredRing>,
    // They are dropped after the ring, which may have them registered. `None` means that there was not enough memory.
    buffers: Option<Vec<AlignedBuffer>>,
    source: Option<OwnedFd>,
}

impl IoThread for UringCopyThread<'_> {
    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<()> {
        let choices = self.region.choices;
        let source = self
            .source
            .insert(open_unadvised(&self.region, choices.cache)?);
        let ring = self.ring.insert(RegisteredRing::new(choices.depth * 2)?);
        let buffers = self.buffers.iter().flatten().map(|buffer| &**buffer);
        // SAFETY: the thread keeps the buffers, and drops the ring before them.
        unsafe {
            ring.register(
                choices.registered,
                &[source.as_raw_fd(), file.as_raw_fd()],
                buffers,
            )
        }
    }

    fn write(&mut self, file: BorrowedFd<'_>, write_loop: &mut WriteLoop) -> Result<()> {
        let Some(source) = &self.source else {
            return Ok(());
        };
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let buffers = self.buffers.as_mut().ok_or_else(no_buffer)?;
        let slots: Vec<Slot<'_>> = buffers
            .iter_mut()
            .map(|buffer| Slot {
                buffer,
                at: 0,
                length: 0,
                read: 0,
                written: 0,
            })
            .collect();
        let mut queue = Queue {
            region: self.region,
            files: [source.as_raw_fd(), file.as_raw_fd()],
            operations: Operations::new(&mut ring.ring),
            free: (0..slots.len()).rev().collect(),
            slots,
            next: 0,
            completed_bytes: 0,
        };
        queue.run(write_loop)
    }

    fn detach(&mut self) -> Result<()> {
        self.ring
            .take()
            .map_or(Ok(()), RegisteredRing::unregister)?;
        self.source.take().map_or(Ok(()), file::close)
    }
}

/// A chunk in flight.
struct Slot<'q> {
    buffer: &'q mut AlignedBuffer,
    /// Where the chunk begins in the region.
    at: u64,
    length: usize,
    read: usize,
    written: usize,
}

struct Queue<'q, 'a> {
    // It is the first field, so it ends before the buffers are returned.
    operations: Operations<'q, IoUring>,
    region: Region<'a>,
    // The source and the copy, in the order of the registered files.
    files: [RawFd; 2],
    slots: Vec<Slot<'q>>,
    free: Vec<usize>,
    next: u64,
    completed_bytes: u64,
}

const READ: u64 = 0;
const WRITE: u64 = 1;

impl Queue<'_, '_> {
    fn run(&mut self, write_loop: &mut WriteLoop) -> Result<()> {
        let length = self.region.range.length;
        while self.next < length || !self.operations.is_empty() {
            while self.next < length
                && let Some(index) = self.free.pop()
            {
                let chunk = self
                    .region
                    .choices
                    .chunk_size_bytes
                    .min(MOST_BYTES as u64)
                    .min(length - self.next);
                let slot = &mut self.slots[index];
                slot.at = self.next;
                slot.length = to_usize(chunk);
                slot.read = 0;
                slot.written = 0;
                self.next += chunk;
                self.push_both(index)?;
            }
            self.operations.wait()?;
            while let Some((index, kind, result)) = self.operations.completed() {
                self.complete(index, kind, result, write_loop)?;
            }
        }
        write_loop.handed_over_bytes += length;
        Ok(())
    }

    /// The kernel cancels the write if the read is short or fails.
    fn push_both(&mut self, index: usize) -> Result<()> {
        let read = self.entry(index, READ).flags(Flags::IO_LINK);
        let write = self.entry(index, WRITE);
        self.push(&[read, write])
    }

    fn push(&mut self, entries: &[Entry]) -> Result<()> {
        // SAFETY: the buffers and the files outlive the queue.
        unsafe { self.operations.push(entries) }
    }

    fn entry(&mut self, index: usize, kind: u64) -> Entry {
        let slot = &mut self.slots[index];
        let [source, copy] = self.files;
        let registered = self.region.choices.registered;
        let (done, base, (file, file_flags)) = match kind {
            READ => (
                slot.read,
                self.region.range.offset,
                entry_file(registered, source, 0),
            ),
            _ => (
                slot.written,
                self.region.file_offset,
                entry_file(registered, copy, 1),
            ),
        };
        let memory = &mut slot.buffer[done..slot.length];
        let pointer = memory.as_mut_ptr();
        let length = u32::try_from(memory.len()).unwrap_or(u32::MAX);
        let offset = base + slot.at + done as u64;
        let number = u16::try_from(index).unwrap_or(u16::MAX);
        let entry = match (kind, has_buffers(registered)) {
            (READ, false) => opcode::Read::new(file, pointer, length)
                .offset(offset)
                .build(),
            (READ, true) => opcode::ReadFixed::new(file, pointer, length, number)
                .offset(offset)
                .build(),
            (_, false) => opcode::Write::new(file, pointer, length)
                .offset(offset)
                .build(),
            (_, true) => opcode::WriteFixed::new(file, pointer, length, number)
                .offset(offset)
                .build(),
        };
        entry.flags(file_flags).user_data(user_data(index, kind))
    }

    fn complete(
        &mut self,
        index: usize,
        kind: u64,
        result: i32,
        write_loop: &mut WriteLoop,
    ) -> Result<()> {
        let slot = &mut self.slots[index];
        if kind == WRITE && slot.read < slot.length {
            // The write was cancelled, or has written bytes not yet read.
            return self.push_both(index);
        }
        let (done, base) = match kind {
            READ => (&mut slot.read, self.region.range.offset),
            _ => (&mut slot.written, self.region.file_offset),
        };
        let offset = base + slot.at + *done as u64;
        match usize::try_from(result) {
            Ok(0) if kind == READ => return Err(ended("io_uring read", offset)),
            Ok(0) => return Err(wrote_nothing("io_uring write").at(offset)),
            Ok(moved) => *done += moved.min(slot.length - *done),
            Err(_) if must_be_repeated(result) || -result == libc::ECANCELED => {}
            Err(_) if kind == READ => {
                let error = operation_failed("io_uring read", result);
                return Err(error.at(offset).with_path(COPIED));
            }
            Err(_) => return Err(operation_failed("io_uring write", result).at(offset)),
        }
        if kind == READ {
            return Ok(());
        }
        if slot.written < slot.length {
            let rest = self.entry(index, WRITE);
            return self.push(&[rest]);
        }
        self.completed_bytes += slot.length as u64;
        self.free.push(index);
        write_loop.advance_to(self.completed_bytes)
    }
}
