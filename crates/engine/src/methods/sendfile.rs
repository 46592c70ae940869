//! `sendfile(2)`: from file to file in the kernel.

use super::copy::in_kernel;
use super::{IoThread, each_thread};
use crate::region::Region;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| {
        in_kernel(region, "sendfile", |from, to, most| rustix::fs::sendfile(to, from, None, most))
    })
}
