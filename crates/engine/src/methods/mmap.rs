//! `mmap(2)`: stores into a shared mapping of the file.

use std::os::fd::BorrowedFd;

use writebench_model::{Store, SyncCall};

use super::attached::attached;
use super::map::Map;
use super::mapped::{SharedMapping, map_region, prepare, streaming_copy, window_bytes};
use super::{IoThread, Records, Region, Result};

pub(super) fn io_thread(region: Region<'_>, shared: SharedMapping) -> impl IoThread {
    attached(
        region,
        move |region, file| map_region(&shared, region, file),
        write,
    )
}

fn write(
    region: &Region<'_>,
    map: &Map,
    file: BorrowedFd<'_>,
    records: &mut Records,
) -> Result<()> {
    let window = window_bytes(region.axes);
    let before =
        |window: &Region<'_>| prepare(region.axes, map, window.file_offset, window.range.length);
    let sync = |from, to| match region.axes.sync.call {
        SyncCall::Msync => map.sync(from, to),
        call => crate::sync::sync(file, call),
    };
    match region.axes.store {
        Store::Plain => {
            let store = |chunk: &[u8], offset| {
                map.store(offset, chunk);
                Ok(())
            };
            records.each_by_window(region, window, before, store, sync)
        }
        Store::Nontemporal => {
            let copy = streaming_copy()?;
            let store = |chunk: &[u8], offset| {
                map.store_past_caches(copy, offset, chunk);
                Ok(())
            };
            records.each_by_window(region, window, before, store, sync)
        }
    }
}
