//! A program of the user's: it writes a file, or copies one, and the time from its start to its end is the sample's.
//! [`crate::program`] starts it; there is no loop of ours.

use std::os::fd::BorrowedFd;

use super::IoThread;
use crate::call::CallError;
use crate::records::Records;
use crate::region::Region;

pub(super) fn io_thread(_: Region<'_>) -> impl IoThread {
    |_: BorrowedFd<'_>, _: &mut Records| Err(CallError::other("program", "it is started, and not called"))
}
