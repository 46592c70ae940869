//! `copy_file_range(2)`: the filesystem copies, or shares blocks where it can.

use rustix::io::Errno;
use writebench_model::{Axis, Cursor, MethodInfo, Prepare};

use super::copy::{self, InKernelLane};
use super::{Method, SYNCS_AFTERWARDS, lane_each};
use crate::call::{Call, Meaning};

/// From one filesystem to another, or to what is no regular file: copy_file_range(2).
pub(super) const COPY_FILE_RANGE: Call = Call {
    name: "copy_file_range",
    meanings: &[(Errno::XDEV, Meaning::Unsupported), (Errno::INVAL, Meaning::Unsupported)],
};

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "copy-file-range",
        summary: "copies a file: copy_file_range(2), a chunk per call; btrfs and xfs may share the blocks",
        calls: "copy_file_range",
        has_buffer: false,
        cursor: Cursor::Copy,
        axes: copy::AXES,
        prepares: Prepare::ALL,
        syncs: SYNCS_AFTERWARDS,
        syncs_on_the_way: &[],
        effort: 2,
        fio: copy::NO_FIO,
        example: &[(Axis::Chunk, "3000")],
    },
    lanes: |parts| {
        lane_each(parts, |part| {
            InKernelLane::new(part, COPY_FILE_RANGE, |from, to, most| {
                rustix::fs::copy_file_range(from, None, to, None, most)
            })
        })
    },
};
