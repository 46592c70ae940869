//! `write(2)`: at the file's own position.

use std::os::fd::BorrowedFd;

use writebench_model::{Axis, Cursor, Family, FioEngine, MethodInfo, Prepare};

use super::{Lane, Method, SYNCS, SYNCS_ON_THE_WAY, WRITE_BEHIND, WRITING, lane_each};
use crate::call::{CallError, hand_over};
use crate::job::Part;
use crate::records::Records;
use crate::staging::Staging;
use crate::sync;

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "write",
        summary: "write(2) at the file's own position, one call per chunk",
        words: "write(2)",
        calls: "write",
        has_buffer: false,
        cursor: Cursor::FilePosition,
        copying: None,
        axes: &[WRITING, WRITE_BEHIND, &[Axis::Cache]],
        prepares: Prepare::ALL,
        syncs: SYNCS,
        syncs_on_the_way: SYNCS_ON_THE_WAY,
        effort: 0,
        fio: Ok(FioEngine::plain("sync")),
        code: Ok(Family::Write),
        example: &[(Axis::Chunk, "4KiB")],
    },
    lanes: |parts| lane_each(parts, |part| WriteLane { part }),
};

struct WriteLane<'a> {
    part: Part<'a>,
}

impl Lane for WriteLane<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let call = self.part.axes.sync.call;
        let mut staging = Staging::of(&self.part, 1)?;
        let write = |bytes: &[u8], _| rustix::io::write(file, bytes);
        records.each(
            &self.part,
            |chunk, offset| hand_over("write", staging.staged(chunk), offset, write),
            |_, _| sync::sync(file, call),
        )
    }
}
