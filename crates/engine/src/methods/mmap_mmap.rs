//! Memory copies from a mapping of the source into a mapping of the copy.

use std::os::fd::BorrowedFd;

use writebench_model::Store;

use super::attached::attached;
use super::copy::move_all;
use super::map::Map;
use super::mapped::{SharedMapping, map_region, prepare_from, streaming_copy};
use super::mmap_write::{map_source, populate_source};
use super::{IoThread, Records, Region, Result};

pub(super) fn io_thread(region: Region<'_>, shared: SharedMapping) -> impl IoThread {
    let attach = move |region: &Region<'_>, file: BorrowedFd<'_>| {
        Ok((map_source(region)?, map_region(&shared, region, file)?))
    };
    attached(region, attach, write)
}

fn write(
    region: &Region<'_>,
    (from, to): &(Map, Map),
    _: BorrowedFd<'_>,
    records: &mut Records,
) -> Result<()> {
    let (mut present, mut prepared) = (0, 0);
    let mut prepare = |at| {
        populate_source(region, from, at, &mut present)?;
        prepare_from(region, to, at, &mut prepared)
    };
    match region.axes.store {
        Store::Plain => move_all(region, "memcpy", records, |most, at| {
            prepare(at)?;
            to.store(
                region.file_offset + at,
                from.bytes(region.range.offset + at, most),
            );
            Ok(most)
        }),
        Store::Nontemporal => {
            let copy = streaming_copy()?;
            move_all(region, "memcpy", records, |most, at| {
                prepare(at)?;
                let bytes = from.bytes(region.range.offset + at, most);
                to.store_past_caches(copy, region.file_offset + at, bytes);
                Ok(most)
            })
        }
    }
}
