//! `sendfile(2)`: from file to file in the kernel.

use writebench_model::{Axis, Cursor, MethodInfo, Prepare};

use super::copy::{self, InKernelLane};
use super::{Method, SYNCS_AFTERWARDS, lane_each};

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "sendfile",
        summary: "copies a file: sendfile(2), a chunk per call",
        calls: "sendfile",
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
            InKernelLane::new(part, "sendfile", |from, to, most| rustix::fs::sendfile(to, from, None, most))
        })
    },
};
