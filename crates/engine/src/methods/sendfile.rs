//! `sendfile(2)`: from file to file in the kernel.

use super::copy::in_kernel;
use super::{IoThread, each_thread};
use crate::job::Part;

pub(super) fn io_threads<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(parts, |part| {
        in_kernel(part, "sendfile", |from, to, most| rustix::fs::sendfile(to, from, None, most))
    })
}
