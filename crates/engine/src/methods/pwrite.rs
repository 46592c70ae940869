//! `pwrite(2)`: at an offset of its own.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use writebench_model::{Axis, Cursor, Family, FioEngine, MethodInfo, Prepare};

use super::writev::flags;
use super::{Lane, Method, STRIDING, SYNCS_ON_THE_WAY, SYNCS_WITH_FLAGS, WRITE_BEHIND, WRITING, lane_each};
use crate::call::{CallError, hand_over};
use crate::job::Part;
use crate::records::Records;
use crate::staging::Staging;
use crate::sync;

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "pwrite",
        summary: "pwrite(2) at an offset, one call per chunk (with flags pwritev2); threads can share a descriptor",
        words: "pwrite(2)",
        calls: "pwrite64",
        has_buffer: false,
        cursor: Cursor::Offset,
        copying: None,
        axes: &[WRITING, STRIDING, WRITE_BEHIND, &[Axis::Cache]],
        prepares: Prepare::ALL,
        syncs: SYNCS_WITH_FLAGS,
        syncs_on_the_way: SYNCS_ON_THE_WAY,
        effort: 0,
        fio: Ok(FioEngine::plain("psync")),
        code: Ok(Family::Write),
        example: &[(Axis::Chunk, "4KiB")],
    },
    lanes: |parts| lane_each(parts, |part| PwriteLane { part }),
};

struct PwriteLane<'a> {
    part: Part<'a>,
}

impl Lane for PwriteLane<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let sync = |_, _| sync::sync(file, self.part.axes.sync.call);
        let flags = flags(self.part.axes);
        let mut staging = Staging::of(&self.part, 1)?;
        if flags.is_empty() {
            let write = |bytes: &[u8], offset| rustix::io::pwrite(file, bytes, offset);
            let hand_over = |chunk, offset| hand_over("pwrite", staging.staged(chunk), offset, write);
            return records.each(&self.part, hand_over, sync);
        }
        // Only pwritev2 takes flags: readv(2).
        let write = |bytes: &[u8], offset| rustix::io::pwritev2(file, &[IoSlice::new(bytes)], offset, flags);
        let hand_over = |chunk, offset| hand_over("pwritev2", staging.staged(chunk), offset, write);
        records.each(&self.part, hand_over, sync)
    }
}
