//! A program of the user's: it writes a file, or copies one, and the time from its start to its end is the sample's.
//! [`crate::program`] starts it; there is no loop of ours.

use std::os::fd::BorrowedFd;

use super::{IoThread, each_thread};
use crate::call::CallError;
use crate::job::Part;
use crate::records::Records;

pub(super) fn io_threads<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(parts, |part| NoThread { _part: part })
}

/// Programs are started without threads of ours.
struct NoThread<'a> {
    _part: Part<'a>,
}

impl IoThread for NoThread<'_> {
    fn write(&mut self, _file: BorrowedFd<'_>, _records: &mut Records) -> Result<(), CallError> {
        Err(CallError::other("program", "it is started, and not called".to_owned()))
    }
}
