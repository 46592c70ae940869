//! `pwrite(2)`: at an offset of its own.

use std::os::fd::BorrowedFd;

use model::{Axis, Cursor, MethodInfo, Prepare, Sync};

use super::{Lane, Method, lane_each};
use crate::call::{CallError, hand_over};
use crate::job::Part;

static INFO: MethodInfo = MethodInfo {
    name: "pwrite",
    summary: "pwrite(2) at an offset, one call per chunk; threads can share a descriptor",
    calls: "pwrite64",
    cursor: Cursor::Offset,
    axes: &[Axis::Chunk, Axis::Threads, Axis::Files, Axis::Descriptor, Axis::Data, Axis::Source],
    prepares: Prepare::ALL,
    syncs: &[Sync::None, Sync::Fsync, Sync::Fdatasync],
};

pub(super) struct Pwrite;

impl Method for Pwrite {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
        lane_each(parts, |part| PwriteLane { part })
    }
}

struct PwriteLane<'a> {
    part: Part<'a>,
}

impl Lane for PwriteLane<'_> {
    fn write(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.part.try_each_chunk(|chunk, offset| {
            hand_over("pwrite", chunk, offset, |bytes, offset| rustix::io::pwrite(file, bytes, offset))
        })
    }
}
