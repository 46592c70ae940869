//! `sendfile(2)`: from file to file in the kernel.

use super::copy::in_kernel;
use super::{Lane, lane_each};
use crate::job::Part;

pub(super) fn lanes<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
    lane_each(parts, |part| {
        in_kernel(part, "sendfile", |from, to, most| rustix::fs::sendfile(to, from, None, most))
    })
}
