//! `pwritev(2)`: several buffers in one call, at a given offset.

use super::writev::vector_thread;
use super::{IoThread, Region};

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    vector_thread(
        region,
        "pwritev",
        |file, vector, offset| rustix::io::pwritev(file, vector, offset),
        |offset| offset,
    )
}
