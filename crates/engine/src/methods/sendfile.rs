//! `sendfile(2)`: from file to file in the kernel.

use writebench_model::{Cursor, MethodInfo, Prepare};

use super::copy::{AXES, InKernelLane, SYNCS};
use super::{Lane, Method, lane_each};
use crate::job::Part;

static INFO: MethodInfo = MethodInfo {
    name: "sendfile",
    summary: "copies a file: sendfile(2), a chunk per call",
    calls: "sendfile",
    has_buffer: false,
    cursor: Cursor::Copy,
    axes: AXES,
    prepares: Prepare::ALL,
    syncs: SYNCS,
    syncs_on_the_way: &[],
};

pub(super) struct Sendfile;

impl Method for Sendfile {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
        lane_each(parts, |part| {
            InKernelLane::new(part, "sendfile", |from, to, most| rustix::fs::sendfile(to, from, None, most))
        })
    }
}
