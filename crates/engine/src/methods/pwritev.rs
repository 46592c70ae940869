//! `pwritev(2)`: several buffers in one call, at an offset of its own.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use writebench_model::{Axis, Cursor, Family, FioEngine, MethodInfo, Prepare};

use super::writev::{flags, vector, write_vectors};
use super::{Lane, Method, SYNCS_ON_THE_WAY, SYNCS_WITH_FLAGS, WRITE_BEHIND, WRITING, lane_each};
use crate::call::CallError;
use crate::job::Part;
use crate::records::Records;
use crate::sync;

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "pwritev",
        summary: "pwritev(2) at an offset, a vector of chunks per call; threads can share a descriptor",
        words: "pwritev(2)",
        calls: "pwritev",
        has_buffer: false,
        cursor: Cursor::Offset,
        copying: None,
        axes: &[WRITING, WRITE_BEHIND, &[Axis::Vector, Axis::Cache]],
        prepares: Prepare::ALL,
        syncs: SYNCS_WITH_FLAGS,
        syncs_on_the_way: SYNCS_ON_THE_WAY,
        effort: 2,
        fio: Ok(FioEngine::plain("pvsync")),
        code: Ok(Family::Write),
        example: &[(Axis::Chunk, "4KiB"), (Axis::Vector, "3")],
    },
    lanes: |parts| lane_each(parts, |part| PwritevLane { part, vector: vector(&part) }),
};

struct PwritevLane<'a> {
    part: Part<'a>,
    vector: Vec<IoSlice<'a>>,
}

impl Lane for PwritevLane<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let flags = flags(self.part.axes);
        let sync = self.part.axes.sync.call;
        let sync = |_, _| sync::sync(file, sync);
        if flags.is_empty() {
            let write = |vector: &[IoSlice<'_>], offset| rustix::io::pwritev(file, vector, offset);
            write_vectors(&self.part, &mut self.vector, "pwritev", records, write, sync)
        } else {
            let write = |vector: &[IoSlice<'_>], offset| rustix::io::pwritev2(file, vector, offset, flags);
            write_vectors(&self.part, &mut self.vector, "pwritev2", records, write, sync)
        }
    }
}
