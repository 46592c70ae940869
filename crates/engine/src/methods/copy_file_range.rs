//! `copy_file_range(2)`: the filesystem copies, or shares blocks where it can.

use rustix::io::Errno;

use super::copy::in_kernel;
use super::{Lane, lane_each};
use crate::call::{Call, Meaning};
use crate::job::Part;

/// Errors for copies between filesystems, or to a special file: copy_file_range(2).
pub(super) const COPY_FILE_RANGE: Call = Call {
    name: "copy_file_range",
    meanings: &[(Errno::XDEV, Meaning::Unsupported), (Errno::INVAL, Meaning::Unsupported)],
};

pub(super) fn lanes<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
    lane_each(parts, |part| {
        in_kernel(part, COPY_FILE_RANGE, |from, to, most| {
            rustix::fs::copy_file_range(from, None, to, None, most)
        })
    })
}
