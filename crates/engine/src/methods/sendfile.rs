//! `sendfile(2)`: from file to file in the kernel.

use std::os::fd::BorrowedFd;

use model::{Cursor, MethodInfo, Prepare};

use super::copy::{AXES, Input, SYNCS, move_all};
use super::{Lane, Method, lane_each};
use crate::call::CallError;
use crate::job::Part;
use crate::records::Records;

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
        lane_each(parts, |part| SendfileLane { part, input: Input::default() })
    }
}

struct SendfileLane<'a> {
    part: Part<'a>,
    input: Input,
}

impl Lane for SendfileLane<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.input.open(&self.part)
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let input = self.input.file()?;
        move_all(&self.part, "sendfile", records, |most, _| rustix::fs::sendfile(file, input, None, most))
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.input.close()
    }
}
