//! A program of the user's: it writes a file, or copies one, and the time from its start to its end is the sample's.
//! [`crate::program`] starts it; there is no loop of ours.

use std::os::fd::BorrowedFd;

use super::{Lane, lane_each};
use crate::call::CallError;
use crate::job::Part;
use crate::records::Records;

pub(super) fn lanes<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
    lane_each(parts, |part| NoLane { _part: part })
}

/// Programs are started without threads of ours.
struct NoLane<'a> {
    _part: Part<'a>,
}

impl Lane for NoLane<'_> {
    fn write(&mut self, _file: BorrowedFd<'_>, _records: &mut Records) -> Result<(), CallError> {
        Err(CallError::other("program", "it is started, and not called".to_owned()))
    }
}
