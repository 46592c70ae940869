//! `read(2)` into a buffer and `write(2)` from it.

use std::os::fd::BorrowedFd;

use direct_io::AlignedBuffer;
use writebench_model::MethodInfo;

use super::copy::{self, Input, move_all};
use super::{Lane, Method, lane_each};
use crate::call::{CallError, hand_over};
use crate::file::COPIED;
use crate::job::Part;
use crate::records::Records;

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "read-write",
        summary: "copies a file: read(2) into a buffer of a chunk, write(2) from it",
        words: "read(2) and write(2)",
        calls: "read, write",
        has_buffer: true,
        ..copy::INFO
    },
    lanes: |parts| {
        lane_each(parts, |part| ReadWriteLane { part, buffer: buffer(&part), input: Input::default() })
    },
};

struct ReadWriteLane<'a> {
    part: Part<'a>,
    // None if there is no memory for the buffer.
    buffer: Option<AlignedBuffer>,
    input: Input,
}

const PAGE_BYTES: usize = 4096;

/// A page-aligned buffer, touched before the clock starts.
fn buffer(part: &Part<'_>) -> Option<AlignedBuffer> {
    let length = part.axes.chunk_size_bytes.min(part.range.length);
    let mut buffer = AlignedBuffer::new(usize::try_from(length).ok()?, PAGE_BYTES).ok()?;
    buffer.fill(1);
    Some(buffer)
}

impl Lane for ReadWriteLane<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.input.open(&self.part)
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let input = self.input.file()?;
        let Some(buffer) = &mut self.buffer else {
            return Err(CallError::other("read", "no memory for a buffer; try a smaller chunk".to_owned()));
        };
        let mut written = Ok(());
        move_all(&self.part, "read", records, |most, at| {
            let read = rustix::io::read(input, &mut buffer[..most])?;
            written = hand_over("write", &buffer[..read], at, |bytes, _| rustix::io::write(file, bytes));
            // The result ends the loop; the saved error counts.
            if written.is_err() { Ok(0) } else { Ok(read) }
        })
        .or_else(|error| written.and(Err(error.of_file(COPIED))))
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.input.close()
    }
}
