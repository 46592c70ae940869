//! `pwrite(2)`: at a given offset.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use super::writev::{flags, of_flags};
use super::{IoThread, Region, WriteLoop};
use crate::call::hand_over;
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    move |file: BorrowedFd<'_>, write_loop: &mut WriteLoop| {
        let flags = flags(region.choices);
        let mut staging = Staging::for_region(&region, 1)?;
        // Two loops: one with a branch would run more code between its calls.
        if flags.is_empty() {
            return write_loop.each_chunk(
                &region,
                |chunk, offset| {
                    hand_over("pwrite", staging.staged(chunk), offset, |bytes, offset| {
                        rustix::io::pwrite(file, bytes, offset)
                    })
                },
                |_, _| sync::sync(file, region.choices.sync.call),
            );
        }
        // Only pwritev2 takes flags: readv(2).
        write_loop.each_chunk(
            &region,
            |chunk, offset| {
                hand_over(
                    "pwritev2",
                    staging.staged(chunk),
                    offset,
                    |bytes, offset| {
                        rustix::io::pwritev2(file, &[IoSlice::new(bytes)], offset, flags)
                    },
                )
                .map_err(|error| of_flags(error, region.choices))
            },
            |_, _| sync::sync(file, region.choices.sync.call),
        )
    }
}
