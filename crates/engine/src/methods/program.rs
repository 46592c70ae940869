//! [`crate::program`] starts the user's program.

use std::os::fd::BorrowedFd;

use super::IoThread;
use crate::call::CallError;
use crate::records::Records;
use crate::region::Region;

pub(super) fn io_thread(_: Region<'_>) -> impl IoThread {
    |_: BorrowedFd<'_>, _: &mut Records| Err(CallError::other("program", "it is started, and not called"))
}
