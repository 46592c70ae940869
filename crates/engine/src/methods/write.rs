//! `write(2)`: at the file's own position.

use std::os::fd::BorrowedFd;

use super::{IoThread, Region, WriteLoop};
use crate::call::hand_over;
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    move |file: BorrowedFd<'_>, write_loop: &mut WriteLoop| {
        let mut staging = Staging::for_region(&region, 1)?;
        write_loop.each_chunk(
            &region,
            |chunk, offset| {
                hand_over("write", staging.staged(chunk), offset, |bytes, _| {
                    rustix::io::write(file, bytes)
                })
            },
            |_, _| sync::sync(file, region.choices.sync.call),
        )
    }
}
