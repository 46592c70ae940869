//! `mmap(2)`: stores into a shared mapping of the file.

use std::os::fd::BorrowedFd;

use writebench_model::{Store, SyncCall};

use super::IoThread;
use super::mapped::{self, Mapped, each_mapped_thread};
use crate::call::CallError;
use crate::job::Part;
use crate::records::Records;

pub(super) fn io_threads<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_mapped_thread(parts, |part, mapped| MmapThread { part, mapped })
}

struct MmapThread<'a> {
    part: Part<'a>,
    mapped: Mapped,
}

impl IoThread for MmapThread<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.mapped.attach(&self.part, file)
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let (part, map) = (&self.part, self.mapped.map()?);
        let window = mapped::window_bytes(part.axes);
        let before =
            |window: &Part<'_>| mapped::prepare(part.axes, map, window.file_offset, window.range.length);
        let sync = |from, to| match part.axes.sync.call {
            SyncCall::Msync => map.sync(from, to),
            call => crate::sync::sync(file, call),
        };
        match part.axes.store {
            Store::Plain => {
                let store = |chunk: &[u8], offset| {
                    map.store(offset, chunk);
                    Ok(())
                };
                records.each_by_window(part, window, before, store, sync)
            }
            Store::Nontemporal => {
                let copy = mapped::streaming_copy()?;
                let store = |chunk: &[u8], offset| {
                    map.store_past_caches(copy, offset, chunk);
                    Ok(())
                };
                records.each_by_window(part, window, before, store, sync)
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
