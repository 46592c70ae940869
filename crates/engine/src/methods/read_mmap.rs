//! `read(2)` into a mapping of the copy.

use std::os::fd::AsFd;

use super::attached::attached;
use super::copy::{move_all, open_source};
use super::mapped::{SharedMapping, map_region, prepare_from};
use super::{IoThread, Region};
use crate::call::retry;

pub(super) fn io_thread(region: Region<'_>, shared: SharedMapping) -> impl IoThread {
    attached(
        region,
        move |region, file| Ok((open_source(region)?, map_region(&shared, region, file)?)),
        |region, (source, map), _, write_loop| {
            let mut prepared = 0;
            move_all(region, "read", write_loop, |most, at| {
                prepare_from(region, map, at, &mut prepared)?;
                retry("read", || {
                    map.read_into(source.as_fd(), region.file_offset + at, most)
                })
            })
        },
    )
}
