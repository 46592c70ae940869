//! `sendfile(2)`: from file to file in the kernel.

use super::copy::in_kernel;
use super::{IoThread, Region};

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    in_kernel(region, "sendfile", |from, to, most| {
        rustix::fs::sendfile(to, from, None, most)
    })
}
