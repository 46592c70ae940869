//! `pwritev(2)`: several buffers in one call, at an offset of its own.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use model::{Axis, Cursor, MethodInfo, Prepare, Sync};

use super::writev::{vector, write_vectors};
use super::{Lane, Method, lane_each};
use crate::call::CallError;
use crate::job::Part;

static INFO: MethodInfo = MethodInfo {
    name: "pwritev",
    summary: "pwritev(2) at an offset, a vector of chunks per call; threads can share a descriptor",
    calls: "pwritev",
    cursor: Cursor::Offset,
    axes: &[Axis::Chunk, Axis::Vector, Axis::Threads, Axis::Files, Axis::Descriptor, Axis::Data, Axis::Source],
    prepares: Prepare::ALL,
    syncs: &[Sync::None, Sync::Fsync, Sync::Fdatasync],
};

pub(super) struct Pwritev;

impl Method for Pwritev {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
        lane_each(parts, |part| PwritevLane { part, vector: vector(&part) })
    }
}

struct PwritevLane<'a> {
    part: Part<'a>,
    vector: Vec<IoSlice<'a>>,
}

impl Lane for PwritevLane<'_> {
    fn write(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        write_vectors(&self.part, &mut self.vector, "pwritev", |vector, offset| {
            rustix::io::pwritev(file, vector, offset)
        })
    }
}
