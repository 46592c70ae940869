//! `write(2)` from a mapping of the file that is copied.

use std::os::fd::{AsFd, BorrowedFd};

use writebench_model::{Advice, Populate};

use super::copy::{Input, move_all};
use super::map::{Access, Map};
use super::{IoThread, each_thread};
use crate::call::{CallError, retry};
use crate::file::{self, COPIED};
use crate::records::Records;
use crate::region::Region;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| MmapWriteThread { region, map: None })
}

struct MmapWriteThread<'a> {
    region: Region<'a>,
    map: Option<Map>,
}

/// Maps the part of the file that is copied.
pub(super) fn map_source(region: &Region<'_>) -> Result<Map, CallError> {
    let input = Input::open_unadvised(region)?;
    let map = Map::reading(input.as_fd(), region.range.offset, region.range.length)
        .map_err(|error| error.with_path(COPIED))?;
    // The mapping keeps the file open.
    file::close(input)?;
    if region.axes.advice == Advice::Sequential {
        map.advise(rustix::mm::Advice::WillNeed)?;
        map.advise(rustix::mm::Advice::Sequential)?;
    }
    Ok(map)
}

/// Makes the pages of the source present, as the case says, before the bytes from `at` of the region are used.
/// `present` is the number of bytes that are present.
#[inline(always)]
pub(super) fn populate_source(
    region: &Region<'_>,
    map: &Map,
    at: u64,
    present: &mut u64,
) -> Result<(), CallError> {
    let window = match region.axes.populate {
        Populate::None => return Ok(()),
        Populate::Window => region.axes.window_bytes,
        Populate::All => u64::MAX,
    };
    if at < *present {
        return Ok(());
    }
    // Windows begin at multiples of their size: a short call may end anywhere.
    let end = (at / window).saturating_add(1).saturating_mul(window).min(region.range.length);
    map.populate(region.range.offset + at, end - at, Access::Read).map_err(|error| error.with_path(COPIED))?;
    *present = end;
    Ok(())
}

impl IoThread for MmapWriteThread<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.map = Some(map_source(&self.region)?);
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let Some(map) = &self.map else { return Ok(()) };
        let region = &self.region;
        let mut present = 0;
        move_all(region, "write", records, |most, at| {
            populate_source(region, map, at, &mut present)?;
            let bytes = map.bytes(region.range.offset + at, most);
            retry("write", || rustix::io::write(file, bytes))
        })
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.map.take().map_or(Ok(()), Map::unmap)
    }
}
