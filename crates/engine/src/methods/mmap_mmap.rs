//! Memory copies from a mapping of the file that is copied into a mapping of the copy.

use std::os::fd::BorrowedFd;

use writebench_model::{Store, SyncCall};

use super::IoThread;
use super::copy::move_all;
use super::map::Map;
use super::mapped::{self, Mapped, each_mapped_thread};
use super::mmap_write::{map_source, populate_source};
use crate::call::CallError;
use crate::records::Records;
use crate::region::Region;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_mapped_thread(regions, |region, mapped| MmapMmapThread { region, from: None, mapped })
}

struct MmapMmapThread<'a> {
    region: Region<'a>,
    from: Option<Map>,
    mapped: Mapped,
}

impl IoThread for MmapMmapThread<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.from = Some(map_source(&self.region)?);
        self.mapped.attach(&self.region, file)
    }

    fn write(&mut self, _file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let Some(from) = &self.from else { return Ok(()) };
        let (region, to) = (&self.region, self.mapped.map()?);
        let (mut present, mut prepared) = (0, 0);
        let mut prepare = |at| {
            populate_source(region, from, at, &mut present)?;
            mapped::prepare_from(region, to, at, &mut prepared)
        };
        match region.axes.store {
            Store::Plain => move_all(region, "memcpy", records, |most, at| {
                prepare(at)?;
                to.store(region.file_offset + at, from.bytes(region.range.offset + at, most));
                Ok(most)
            }),
            Store::Nontemporal => {
                let copy = mapped::streaming_copy()?;
                move_all(region, "memcpy", records, |most, at| {
                    prepare(at)?;
                    let bytes = from.bytes(region.range.offset + at, most);
                    to.store_past_caches(copy, region.file_offset + at, bytes);
                    Ok(most)
                })
            }
        }
    }

    fn sync(&mut self, file: BorrowedFd<'_>, call: SyncCall) -> Result<(), CallError> {
        self.mapped.sync(file, call)
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.from.take().map_or(Ok(()), Map::unmap)?;
        self.mapped.detach()
    }
}
