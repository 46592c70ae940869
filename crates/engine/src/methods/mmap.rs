//! `mmap(2)`: stores into a shared mapping of the file.

use std::os::fd::BorrowedFd;

use writebench_model::{Store, SyncCall};

use super::attached::attached;
use super::map::Map;
use super::mapped::{SharedMapping, map_region, prepare, streaming_copy, window_bytes};
use super::{IoThread, Region, Result, WriteLoop};

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
    write_loop: &mut WriteLoop,
) -> Result<()> {
    match region.choices.store {
        Store::Plain => store_chunks(region, map, file, write_loop, |offset, chunk| {
            map.store(offset, chunk);
        }),
        Store::Nontemporal => {
            let copy = streaming_copy()?;
            store_chunks(region, map, file, write_loop, |offset, chunk| {
                map.store_past_caches(copy, offset, chunk);
            })
        }
    }
}

#[inline(always)]
fn store_chunks(
    region: &Region<'_>,
    map: &Map,
    file: BorrowedFd<'_>,
    write_loop: &mut WriteLoop,
    store: impl Fn(u64, &[u8]),
) -> Result<()> {
    write_loop.each_chunk_by_window(
        region,
        window_bytes(region.choices),
        |window| prepare(region.choices, map, window.file_offset, window.range.length),
        |chunk, offset| {
            store(offset, chunk);
            Ok(())
        },
        |from, to| match region.choices.sync.call {
            SyncCall::Msync => map.sync(from, to),
            call => crate::sync::sync(file, call),
        },
    )
}
