//! A program of the user's: it writes a file, or copies one, and the time from its start to its end is the sample's.
//! [`crate::program`] starts it; there is no loop of ours.

use std::os::fd::BorrowedFd;

use super::{IoThread, each_thread};
use crate::call::CallError;
use crate::records::Records;
use crate::region::Region;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| NoThread { _part: region })
}

/// Programs are started without threads of ours.
struct NoThread<'a> {
    _part: Region<'a>,
}

impl IoThread for NoThread<'_> {
    fn write(&mut self, _file: BorrowedFd<'_>, _records: &mut Records) -> Result<(), CallError> {
        Err(CallError::other("program", "it is started, and not called".to_owned()))
    }
}
