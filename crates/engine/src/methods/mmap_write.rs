//! `write(2)` from a mapping of the source.

use std::os::fd::AsFd;

use writebench_model::{Advice, Cache, Populate};

use super::attached::attached;
use super::copy::{move_all, open_unadvised};
use super::map::Map;
use super::{IoThread, Region, Result};
use crate::call::retry;
use crate::file::{self, COPIED};

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    attached(
        region,
        |region, _| map_source(region),
        |region, map, file, write_loop| {
            let mut present = 0;
            move_all(region, "write", write_loop, |most, at| {
                populate_source(region, map, at, &mut present)?;
                let bytes = map.bytes(region.range.offset + at, most);
                retry("write", || rustix::io::write(file, bytes))
            })
        },
    )
}

pub(super) fn map_source(region: &Region<'_>) -> Result<Map> {
    let source = open_unadvised(region, Cache::Buffered)?;
    let map = Map::reading(source.as_fd(), region.range.offset, region.range.length)
        .map_err(|error| error.with_path(COPIED))?;
    // The mapping keeps the file open.
    file::close(source)?;
    if region.choices.advice == Advice::Sequential {
        map.advise("madvise", libc::MADV_WILLNEED)?;
        map.advise("madvise", libc::MADV_SEQUENTIAL)?;
    }
    Ok(map)
}

/// Populates the next window of the source if the bytes from `at` are not ready. `present` bytes are.
#[inline(always)]
pub(super) fn populate_source(
    region: &Region<'_>,
    map: &Map,
    at: u64,
    present: &mut u64,
) -> Result<()> {
    let window = match region.choices.populate {
        Populate::None => return Ok(()),
        Populate::Window => region.choices.window_bytes,
        Populate::All => u64::MAX,
    };
    let Some(length) = region.next_window(at, || window, present) else {
        return Ok(());
    };
    map.populate(region.range.offset + at, length)
        .map_err(|error| error.with_path(COPIED))
}
