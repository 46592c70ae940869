//! `write(2)`: at the file's own position.

use std::os::fd::BorrowedFd;

use super::{IoThread, Records, Region};
use crate::call::hand_over;
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    move |file: BorrowedFd<'_>, records: &mut Records| {
        let mut staging = Staging::for_region(&region, 1)?;
        let write = |bytes: &[u8], _| rustix::io::write(file, bytes);
        records.each(
            &region,
            |chunk, offset| hand_over("write", staging.staged(chunk), offset, write),
            |_, _| sync::sync(file, region.axes.sync.call),
        )
    }
}
