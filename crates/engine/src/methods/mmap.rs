//! `mmap(2)`: stores into a shared mapping of the file.

use std::os::fd::BorrowedFd;

use writebench_model::{Store, SyncCall};

use super::IoThread;
use super::mapped::{self, Mapped, each_mapped_thread};
use crate::call::CallError;
use crate::records::Records;
use crate::region::Region;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_mapped_thread(regions, |region, mapped| MmapThread { region, mapped })
}

struct MmapThread<'a> {
    region: Region<'a>,
    mapped: Mapped,
}

impl IoThread for MmapThread<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.mapped.attach(&self.region, file)
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let (region, map) = (&self.region, self.mapped.map()?);
        let window = mapped::window_bytes(region.axes);
        let before =
            |window: &Region<'_>| mapped::prepare(region.axes, map, window.file_offset, window.range.length);
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
                let copy = mapped::streaming_copy()?;
                let store = |chunk: &[u8], offset| {
                    map.store_past_caches(copy, offset, chunk);
                    Ok(())
                };
                records.each_by_window(region, window, before, store, sync)
            }
        }
    }

    fn sync(&mut self, file: BorrowedFd<'_>, call: SyncCall) -> Result<(), CallError> {
        self.mapped.sync(file, call)
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.mapped.detach()
    }
}
