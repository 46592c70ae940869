//! `copy_file_range(2)`: the filesystem copies, or shares blocks where it can.

use rustix::io::Errno;
use writebench_model::{Axis, MethodInfo};

use super::copy::{self, in_kernel};
use super::{Method, lane_each};
use crate::call::{Call, Meaning};

/// Errors for copies between filesystems, or to a special file: copy_file_range(2).
pub(super) const COPY_FILE_RANGE: Call = Call {
    name: "copy_file_range",
    meanings: &[(Errno::XDEV, Meaning::Unsupported), (Errno::INVAL, Meaning::Unsupported)],
};

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "copy-file-range",
        summary: "copies a file: copy_file_range(2), a chunk per call; btrfs and xfs may share the blocks",
        words: "copy_file_range(2)",
        calls: "copy_file_range",
        effort: 2,
        example: &[(Axis::Chunk, "3000")],
        ..copy::INFO
    },
    lanes: |parts| {
        lane_each(parts, |part| {
            in_kernel(part, COPY_FILE_RANGE, |from, to, most| {
                rustix::fs::copy_file_range(from, None, to, None, most)
            })
        })
    },
};
