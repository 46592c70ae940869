//! A mapping of the written file, whose pages are prepared before their use.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use writebench_model::{Choices, Files, Huge, MapSharing, Populate};

use super::map::{HUGE, Map, Mapping};
use super::streaming_copy::{self, StreamingCopy};
use crate::call::{CallError, Result};
use crate::region::Region;

/// The mapping that all threads share. It is weak, so the last thread to release the mapping unmaps it in phase close.
pub(super) type SharedMapping = Arc<Mutex<Weak<Mapping>>>;

/// Maps the thread's part of the file, or the whole file for all threads.
pub(super) fn map_region(
    shared: &SharedMapping,
    region: &Region<'_>,
    file: BorrowedFd<'_>,
) -> Result<Map> {
    let offset = region.file_offset;
    let length = region.range.length;
    let is_shared =
        region.choices.map == MapSharing::Shared && region.choices.files == Files::Shared;
    let mapping = if is_shared {
        map_once(shared, region, file)?
    } else {
        Arc::new(map(region.choices, file, offset, length)?)
    };
    Map::storing(&mapping, offset, length)
}

fn map_once(
    shared: &SharedMapping,
    region: &Region<'_>,
    file: BorrowedFd<'_>,
) -> Result<Arc<Mapping>> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(mapping) = shared.upgrade() {
        return Ok(mapping);
    }
    let mapping = Arc::new(map(region.choices, file, 0, region.file_length)?);
    *shared = Arc::downgrade(&mapping);
    Ok(mapping)
}

fn map(choices: &Choices, file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Mapping> {
    if choices.huge == Huge::None {
        return Mapping::writable(file, offset, length);
    }
    let map = Mapping::for_huge_pages(file, offset, length)?;
    if choices.huge == Huge::Advise {
        map.advise(HUGE, libc::MADV_HUGEPAGE)?;
    }
    Ok(map)
}

/// How many bytes are prepared at once: a window, or all.
pub(super) fn window_bytes(choices: &Choices) -> u64 {
    choices.prepared_window_bytes().unwrap_or(u64::MAX)
}

/// Prepares the pages of so many bytes from an offset in the file, as the case says.
pub(super) fn prepare(choices: &Choices, map: &Map, from: u64, length: u64) -> Result<()> {
    if choices.huge == Huge::Collapse {
        map.collapse(from, length)?;
    }
    if choices.populate == Populate::None {
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
    let Some(length) = region.next_window(at, || window_bytes(region.choices), prepared) else {
        return Ok(());
    };
    prepare(region.choices, map, region.file_offset + at, length)
}

pub(super) fn streaming_copy() -> Result<StreamingCopy> {
    StreamingCopy::for_this_cpu()
        .ok_or_else(|| CallError::unsupported("store=nontemporal", streaming_copy::MISSING))
}
