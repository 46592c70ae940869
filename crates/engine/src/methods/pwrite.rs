//! `pwrite(2)`: at a given offset.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use super::writev::flags;
use super::{IoThread, Records, Region};
use crate::call::hand_over;
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    move |file: BorrowedFd<'_>, records: &mut Records| {
        let sync = |_, _| sync::sync(file, region.axes.sync.call);
        let flags = flags(region.axes);
        let mut staging = Staging::for_region(&region, 1)?;
        if flags.is_empty() {
            let write = |bytes: &[u8], offset| rustix::io::pwrite(file, bytes, offset);
            let hand_over =
                |chunk, offset| hand_over("pwrite", staging.staged(chunk), offset, write);
            return records.each(&region, hand_over, sync);
        }
        // Only pwritev2 takes flags: readv(2).
        let write = |bytes: &[u8], offset| {
            rustix::io::pwritev2(file, &[IoSlice::new(bytes)], offset, flags)
        };
        let hand_over = |chunk, offset| hand_over("pwritev2", staging.staged(chunk), offset, write);
        records.each(&region, hand_over, sync)
    }
}
