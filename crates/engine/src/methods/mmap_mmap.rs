//! Memory copies from a mapping of the source into a mapping of the copy.

use std::os::fd::BorrowedFd;

use writebench_model::Store;

use super::attached::attached;
use super::copy::move_all;
use super::map::Map;
use super::mapped::{SharedMapping, map_region, prepare_from, streaming_copy};
use super::mmap_write::{map_source, populate_source};
use super::{IoThread, Region, Result, WriteLoop};

pub(super) fn io_thread(region: Region<'_>, shared: SharedMapping) -> impl IoThread {
    attached(
        region,
        move |region, file| Ok((map_source(region)?, map_region(&shared, region, file)?)),
        write,
    )
}

fn write(
    region: &Region<'_>,
    (from, to): &(Map, Map),
    _: BorrowedFd<'_>,
    write_loop: &mut WriteLoop,
) -> Result<()> {
    match region.choices.store {
        Store::Plain => copy_all(region, from, to, write_loop, |offset, bytes| {
            to.store(offset, bytes);
        }),
        Store::Nontemporal => {
            let copy = streaming_copy()?;
            copy_all(region, from, to, write_loop, |offset, bytes| {
                to.store_past_caches(copy, offset, bytes);
            })
        }
    }
}

#[inline(always)]
fn copy_all(
    region: &Region<'_>,
    from: &Map,
    to: &Map,
    write_loop: &mut WriteLoop,
    store: impl Fn(u64, &[u8]),
) -> Result<()> {
    let mut present = 0;
    let mut prepared = 0;
    move_all(region, "memcpy", write_loop, |most, at| {
        populate_source(region, from, at, &mut present)?;
        prepare_from(region, to, at, &mut prepared)?;
        store(
            region.file_offset + at,
            from.bytes(region.range.offset + at, most),
        );
        Ok(most)
    })
}
