//! `read(2)` into a buffer and `write(2)` from it.

use std::os::fd::BorrowedFd;

use direct_io::AlignedBuffer;

use super::copy::{CopyThread, move_all};
use super::{IoThread, each_thread};
use crate::call::{CallError, hand_over, retry};
use crate::file::COPIED;
use crate::job::Part;
use crate::records::Records;

pub(super) fn io_threads<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(parts, |part| {
        let mut buffer = buffer(&part);
        CopyThread::new(
            part,
            move |part: &Part<'_>, input: BorrowedFd<'_>, file: BorrowedFd<'_>, records: &mut Records| {
                read_and_write(part, buffer.as_mut().ok_or_else(no_buffer)?, input, file, records)
            },
        )
    })
}

const PAGE_BYTES: usize = 4096;

/// A page-aligned buffer, touched before the clock starts.
pub(super) fn buffer(part: &Part<'_>) -> Option<AlignedBuffer> {
    let length = part.axes.chunk_size_bytes.min(part.range.length);
    let mut buffer = AlignedBuffer::new(usize::try_from(length).ok()?, PAGE_BYTES).ok()?;
    buffer.fill(1);
    Some(buffer)
}

/// A buffer for each chunk that is under way at the same time; none if there is no memory.
pub(super) fn buffers(part: &Part<'_>) -> Option<Vec<AlignedBuffer>> {
    (0..part.axes.depth).map(|_| buffer(part)).collect()
}

/// There is no memory for a buffer.
pub(super) fn no_buffer() -> CallError {
    CallError::other("read", "no memory for a buffer; try a smaller chunk".to_owned())
}

fn read_and_write(
    part: &Part<'_>,
    buffer: &mut AlignedBuffer,
    input: BorrowedFd<'_>,
    file: BorrowedFd<'_>,
    records: &mut Records,
) -> Result<(), CallError> {
    let offset = part.file_offset;
    move_all(part, "read", records, |most, at| {
        let read = retry("read", || rustix::io::read(input, &mut buffer[..most]))
            .map_err(|error| error.of_file(COPIED))?;
        hand_over("write", &buffer[..read], offset + at, |bytes, _| rustix::io::write(file, bytes))?;
        Ok(read)
    })
}
