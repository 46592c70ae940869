//! `copy_file_range(2)`: the filesystem copies, or shares blocks where it can.

use writebench_model::{Cursor, MethodInfo, Prepare};

use super::copy::{AXES, InKernelLane, SYNCS};
use super::{Lane, Method, lane_each};
use crate::call::COPY_FILE_RANGE;
use crate::job::Part;

static INFO: MethodInfo = MethodInfo {
    name: "copy-file-range",
    summary: "copies a file: copy_file_range(2), a chunk per call; btrfs and xfs may share the blocks",
    calls: "copy_file_range",
    has_buffer: false,
    cursor: Cursor::Copy,
    axes: AXES,
    prepares: Prepare::ALL,
    syncs: SYNCS,
    syncs_on_the_way: &[],
};

pub(super) struct CopyFileRange;

impl Method for CopyFileRange {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
        lane_each(parts, |part| {
            InKernelLane::new(part, COPY_FILE_RANGE, |from, to, most| {
                rustix::fs::copy_file_range(from, None, to, None, most)
            })
        })
    }
}
