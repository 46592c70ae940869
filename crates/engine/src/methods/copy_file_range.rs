//! `copy_file_range(2)`: the filesystem copies, or shares blocks if possible.

use rustix::io::Errno;

use super::copy::in_kernel;
use super::{IoThread, Region};
use crate::call::Call;

/// The errors are those of copies between filesystems, or to a special file: copy_file_range(2).
pub(super) const COPY_FILE_RANGE: Call = Call {
    name: "copy_file_range",
    lacks: &[Errno::XDEV, Errno::INVAL],
    advice: &[],
};

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    in_kernel(region, COPY_FILE_RANGE, |from, to, most| {
        rustix::fs::copy_file_range(from, None, to, None, most)
    })
}
