//! `writev(2)`: several buffers in one call.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use model::{Axis, Cursor, MethodInfo, Prepare, Sync};

use super::{Lane, Method, lane_each};
use crate::call::{CallError, hand_over_vector};
use crate::job::{Chunks, Part};

static INFO: MethodInfo = MethodInfo {
    name: "writev",
    summary: "writev(2) at the file's own position, a vector of chunks per call",
    calls: "writev",
    cursor: Cursor::FilePosition,
    axes: &[Axis::Chunk, Axis::Vector, Axis::Threads, Axis::Files, Axis::Descriptor, Axis::Data, Axis::Source],
    prepares: Prepare::ALL,
    syncs: &[Sync::None, Sync::Fsync, Sync::Fdatasync],
};

pub(super) struct Writev;

impl Method for Writev {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
        lane_each(parts, |part| WritevLane { part, vector: vector(&part) })
    }
}

struct WritevLane<'a> {
    part: Part<'a>,
    vector: Vec<IoSlice<'a>>,
}

impl Lane for WritevLane<'_> {
    fn write(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        let mut chunks = self.part.chunks();
        let mut offset = self.part.file_offset;
        while let Some(length) = refill(&mut self.vector, &mut chunks) {
            hand_over_vector("writev", &mut self.vector, offset, |vector, _| rustix::io::writev(file, vector))?;
            offset += length;
        }
        Ok(())
    }
}

/// An empty vector with room for as many chunks as the case hands over at once.
pub(super) fn vector<'a>(part: &Part<'_>) -> Vec<IoSlice<'a>> {
    Vec::with_capacity(part.axes.vector as usize)
}

/// Puts the next chunks into `vector`; their length, or none if there are no more.
#[inline]
pub(super) fn refill<'a>(vector: &mut Vec<IoSlice<'a>>, chunks: &mut Chunks<'a>) -> Option<u64> {
    let room = vector.capacity();
    vector.clear();
    let mut length = 0;
    for chunk in chunks.take(room) {
        vector.push(IoSlice::new(chunk));
        length += chunk.len() as u64;
    }
    (length > 0).then_some(length)
}
