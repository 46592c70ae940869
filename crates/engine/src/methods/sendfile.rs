//! `sendfile(2)`: from file to file in the kernel.

use super::IoThread;
use super::copy::in_kernel;
use crate::region::Region;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    in_kernel(region, "sendfile", |from, to, most| rustix::fs::sendfile(to, from, None, most))
}
