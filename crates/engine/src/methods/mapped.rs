//! A mapping of the written file, whose pages are prepared before their use.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use writebench_model::{Axes, Files, Huge, MapSharing, Populate};

use super::map::{HUGE, Map, Mapping};
use super::streaming_copy::{self, StreamingCopy};
use crate::call::{CallError, Result};
use crate::region::Region;

/// Weak, so the last thread to release the common mapping unmaps it in phase close.
pub(super) type SharedMapping = Arc<Mutex<Weak<Mapping>>>;

pub(super) fn map_region(
    shared: &SharedMapping,
    region: &Region<'_>,
    file: BorrowedFd<'_>,
) -> Result<Map> {
    let mapping = if region.axes.map == MapSharing::Shared && region.axes.files == Files::Shared {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match shared.upgrade() {
            Some(mapping) => mapping,
            None => {
                let mapping = Arc::new(map(region.axes, file, 0, region.file_length)?);
                *shared = Arc::downgrade(&mapping);
                mapping
            }
        }
    } else {
        Arc::new(map(
            region.axes,
            file,
            region.file_offset,
            region.range.length,
        )?)
    };
    Map::storing(&mapping, region.file_offset, region.range.length)
}

fn map(axes: &Axes, file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Mapping> {
    if axes.huge == Huge::None {
        return Mapping::writable(file, offset, length);
    }
    let map = Mapping::for_huge_pages(file, offset, length)?;
    if axes.huge == Huge::Advise {
        map.advise(HUGE, libc::MADV_HUGEPAGE)?;
    }
    Ok(map)
}

/// A window, or all.
pub(super) fn window_bytes(axes: &Axes) -> u64 {
    axes.prepared_window_bytes().unwrap_or(u64::MAX)
}

pub(super) fn prepare(axes: &Axes, map: &Map, from: u64, length: u64) -> Result<()> {
    if axes.huge == Huge::Collapse {
        map.collapse(from, length)?;
    }
    if axes.populate == Populate::None {
        Ok(())
    } else {
        map.populate(from, length)
    }
}

/// [`prepare`] at the borders of windows, for a loop at `at`. `prepared` bytes are ready.
#[inline(always)]
pub(super) fn prepare_from(
    region: &Region<'_>,
    map: &Map,
    at: u64,
    prepared: &mut u64,
) -> Result<()> {
    let Some(length) = region.next_window(at, || window_bytes(region.axes), prepared) else {
        return Ok(());
    };
    prepare(region.axes, map, region.file_offset + at, length)
}

pub(super) fn streaming_copy() -> Result<StreamingCopy> {
    let missing = || CallError::unsupported("store=nontemporal", streaming_copy::MISSING);
    StreamingCopy::for_this_cpu().ok_or_else(missing)
}
