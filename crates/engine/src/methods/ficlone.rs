//! `ioctl(FICLONERANGE)`: the copy shares the source's blocks until a write to one of the two.
#![expect(unsafe_code, reason = "rustix has FICLONE for whole files only")]

use std::os::fd::AsRawFd;

use rustix::io::Errno;

use super::copy::copying;
use super::{IoThread, Region};
use crate::call::{Call, libc_result, retry};

/// The errors are those of filesystems that share no blocks, of two filesystems, and of ranges that end inside a
/// block: ioctl_ficlonerange(2).
pub(super) const FICLONERANGE: Call = Call {
    name: "ioctl(FICLONERANGE)",
    lacks: &[Errno::XDEV, Errno::INVAL, Errno::NOTTY],
    advice: &[],
};

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    copying(region, |region, source, file, write_loop| {
        let length = region.range.length;
        let range = libc::file_clone_range {
            src_fd: i64::from(source.as_raw_fd()),
            src_offset: region.range.offset,
            src_length: length,
            dest_offset: region.file_offset,
        };
        retry(FICLONERANGE, || {
            // SAFETY: the kernel reads the range, which lives for the call, and changes none of the process's
            // memory.
            libc_result(unsafe {
                libc::ioctl(file.as_raw_fd(), libc::FICLONERANGE, &raw const range)
            })
        })?;
        write_loop.handed_over_bytes += length;
        Ok(())
    })
}
