//! `sendfile(2)`: from file to file in the kernel.

use writebench_model::{Axis, MethodInfo};

use super::copy::{self, in_kernel};
use super::{Method, lane_each};

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "sendfile",
        summary: "copies a file: sendfile(2), a chunk per call",
        words: "sendfile(2)",
        calls: "sendfile",
        effort: 2,
        example: &[(Axis::Chunk, "3000")],
        ..copy::INFO
    },
    lanes: |parts| {
        lane_each(parts, |part| {
            in_kernel(part, "sendfile", |from, to, most| rustix::fs::sendfile(to, from, None, most))
        })
    },
};
