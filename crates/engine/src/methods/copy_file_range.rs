//! `copy_file_range(2)`: the filesystem copies, or shares blocks where it can.

use std::os::fd::BorrowedFd;

use model::{Cursor, MethodInfo, Prepare};

use super::copy::{AXES, Input, SYNCS, move_all};
use super::{Lane, Method, lane_each};
use crate::call::{COPY_FILE_RANGE, CallError};
use crate::job::Part;
use crate::records::Records;

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
        lane_each(parts, |part| CopyFileRangeLane { part, input: Input::default() })
    }
}

struct CopyFileRangeLane<'a> {
    part: Part<'a>,
    input: Input,
}

impl Lane for CopyFileRangeLane<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.input.open(&self.part)
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let input = self.input.file()?;
        move_all(&self.part, COPY_FILE_RANGE, records, |most, _| {
            rustix::fs::copy_file_range(input, None, file, None, most)
        })
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.input.close()
    }
}
