//! `pwrite(2)`: at an offset of its own.

use std::os::fd::BorrowedFd;

use writebench_model::{Axis, Cursor, FioEngine, MethodInfo, Prepare};

use super::{Lane, Method, SYNCS, SYNCS_ON_THE_WAY, WRITING, lane_each};
use crate::call::{CallError, hand_over};
use crate::job::Part;
use crate::records::Records;
use crate::sync;

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "pwrite",
        summary: "pwrite(2) at an offset, one call per chunk; threads can share a descriptor",
        words: "pwrite(2)",
        calls: "pwrite64",
        has_buffer: false,
        cursor: Cursor::Offset,
        axes: &[WRITING, &[Axis::Cache, Axis::Alignment]],
        prepares: Prepare::ALL,
        syncs: SYNCS,
        syncs_on_the_way: SYNCS_ON_THE_WAY,
        effort: 0,
        fio: Ok(FioEngine::plain("psync")),
        example: &[(Axis::Chunk, "4KiB")],
    },
    lanes: |parts| lane_each(parts, |part| PwriteLane { part }),
};

struct PwriteLane<'a> {
    part: Part<'a>,
}

impl Lane for PwriteLane<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let call = self.part.axes.sync.call;
        records.each(
            &self.part,
            |chunk, offset| {
                hand_over("pwrite", chunk, offset, |bytes, offset| rustix::io::pwrite(file, bytes, offset))
            },
            |_, _| sync::sync(file, call),
        )
    }
}
