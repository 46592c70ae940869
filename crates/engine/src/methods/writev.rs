//! `writev(2)`: several buffers in one call.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use model::{Axis, Cursor, MethodInfo, Prepare, Sync};

use super::{Lane, Method, lane_each};
use crate::call::{CallError, hand_over_vector};
use crate::job::Part;

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
        write_vectors(&self.part, &mut self.vector, "writev", |vector, _| rustix::io::writev(file, vector))
    }
}

/// An empty vector with room for as many chunks as the case hands over at once.
pub(super) fn vector<'a>(part: &Part<'_>) -> Vec<IoSlice<'a>> {
    Vec::with_capacity(part.axes.vector as usize)
}

/// Gathers chunks until the vector is full, hands it over, and begins again.
#[inline(always)]
pub(super) fn write_vectors<'a>(
    part: &Part<'a>,
    vector: &mut Vec<IoSlice<'a>>,
    call: &'static str,
    mut write: impl FnMut(&[IoSlice<'_>], u64) -> rustix::io::Result<usize>,
) -> Result<(), CallError> {
    let room = part.axes.vector as usize;
    let mut start = part.file_offset;
    part.try_each_chunk(|chunk, offset| {
        vector.push(IoSlice::new(chunk));
        if vector.len() == room {
            hand_over_vector(call, vector, start, &mut write)?;
            vector.clear();
            start = offset + chunk.len() as u64;
        }
        Ok(())
    })?;
    hand_over_vector(call, vector, start, &mut write)
}
