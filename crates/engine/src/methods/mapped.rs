//! A mapping of the file that is written, prepared as the case says before its pages are used.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use writebench_model::{Axes, Files, Huge, MapSharing, Populate, SyncCall};

use super::map::{Access, MMAP, Map, Mapping};
use super::streaming_copy::{self, StreamingCopy};
use super::{IoThread, each_thread};
use crate::call::CallError;
use crate::region::Region;

/// The mapping of a thread: the common one or its own.
pub(super) struct Mapped {
    // Weak, so that the last thread to release the map unmaps it, in phase close.
    shared: Arc<Mutex<Weak<Mapping>>>,
    map: Option<Map>,
}

/// Makes the same kind of thread for each region, with its mapping.
pub(super) fn each_mapped_thread<'a, L: IoThread + 'a>(
    regions: &[Region<'a>],
    thread: impl Fn(Region<'a>, Mapped) -> L,
) -> Vec<Box<dyn IoThread + 'a>> {
    let shared = Arc::new(Mutex::new(Weak::new()));
    each_thread(regions, |region| thread(region, Mapped { shared: shared.clone(), map: None }))
}

impl Mapped {
    /// Maps the region's range of the file, or the whole file for all threads.
    pub(super) fn attach(&mut self, region: &Region<'_>, file: BorrowedFd<'_>) -> Result<(), CallError> {
        let one_map = region.axes.map == MapSharing::Shared && region.axes.files == Files::Shared;
        let mapping = if one_map {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            match shared.upgrade() {
                Some(mapping) => mapping,
                None => {
                    let mapping = Arc::new(map(region.axes, file, 0, region.file_length)?);
                    *shared = Arc::downgrade(&mapping);
                    mapping
                }
            }
        } else {
            Arc::new(map(region.axes, file, region.file_offset, region.range.length)?)
        };
        self.map = Some(Map::storing(&mapping, region.file_offset, region.range.length)?);
        Ok(())
    }

    /// The mapping, after [`Mapped::attach`].
    pub(super) fn map(&self) -> Result<&Map, CallError> {
        let missing = || CallError::other(MMAP, "the file is not mapped".to_owned());
        self.map.as_ref().ok_or_else(missing)
    }

    /// Makes the file durable through its mapping or its descriptor.
    pub(super) fn sync(&self, file: BorrowedFd<'_>, call: SyncCall) -> Result<(), CallError> {
        if call == SyncCall::Msync { self.map()?.sync_all() } else { crate::sync::sync(file, call) }
    }

    /// Unmaps the file, unless another thread still uses the mapping.
    pub(super) fn detach(&mut self) -> Result<(), CallError> {
        self.map.take().map_or(Ok(()), Map::unmap)
    }
}

fn map(axes: &Axes, file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Mapping, CallError> {
    if axes.huge == Huge::None {
        return Mapping::writable(file, offset, length);
    }
    let map = Mapping::for_huge_pages(file, offset, length)?;
    if axes.huge == Huge::Advise {
        map.allow_huge_pages()?;
    }
    Ok(map)
}

/// The bytes to be prepared at a time: a window, or all.
pub(super) fn window_bytes(axes: &Axes) -> u64 {
    axes.prepared_window_bytes().unwrap_or(u64::MAX)
}

/// Prepares the pages with these bytes of the file for writing.
pub(super) fn prepare(axes: &Axes, map: &Map, from: u64, length: u64) -> Result<(), CallError> {
    if axes.huge == Huge::Collapse {
        map.collapse(from, length)?;
    }
    if axes.populate == Populate::None { Ok(()) } else { map.populate(from, length, Access::Write) }
}

/// Like [`prepare`], at the borders of windows, for a region whose loop is at `at`; `prepared` is the
/// number of bytes that are prepared.
#[inline(always)]
pub(super) fn prepare_from(
    region: &Region<'_>,
    map: &Map,
    at: u64,
    prepared: &mut u64,
) -> Result<(), CallError> {
    if at < *prepared {
        return Ok(());
    }
    let window = window_bytes(region.axes);
    // A short call may end inside a window.
    let end = (at / window).saturating_add(1).saturating_mul(window).min(region.range.length);
    prepare(region.axes, map, region.file_offset + at, end - at)?;
    *prepared = end;
    Ok(())
}

pub(super) fn streaming_copy() -> Result<StreamingCopy, CallError> {
    let missing = || CallError::unsupported("store=nontemporal", streaming_copy::MISSING.to_owned());
    StreamingCopy::for_this_cpu().ok_or_else(missing)
}
