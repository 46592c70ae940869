//! No call per chunk: the harness's own time.

use std::hint::black_box;
use std::os::fd::BorrowedFd;

use super::{IoThread, Records, Region};
use crate::call::hand_over;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    move |_: BorrowedFd<'_>, records: &mut Records| {
        let write = |bytes: &[u8], _| Ok(black_box(bytes).len());
        records.each(
            &region,
            |chunk, offset| hand_over("null", chunk, offset, write),
            |_, _| Ok(()),
        )
    }
}
