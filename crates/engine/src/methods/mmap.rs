//! `mmap(2)`: stores into a shared mapping of the file.

use std::os::fd::BorrowedFd;

use writebench_model::{Axis, Cursor, Family, FioEngine, MethodInfo, Store, SyncCall};

use super::mapped::{self, Mapped, lane_each_mapped};
use super::{Lane, Method, SYNCS_OF_MAPS, WRITING};
use crate::call::CallError;
use crate::job::Part;
use crate::records::Records;

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "mmap",
        summary: "memory copies into a MAP_SHARED mapping, one per chunk",
        words: "memory copies into mmap(2)",
        calls: "mmap, madvise, memcpy, msync, munmap",
        has_buffer: false,
        cursor: Cursor::Mapping,
        copying: None,
        axes: &[WRITING, &[Axis::Map, Axis::Populate, Axis::Huge, Axis::Store, Axis::Window]],
        prepares: mapped::PREPARES,
        syncs: SYNCS_OF_MAPS,
        syncs_on_the_way: &[SyncCall::Msync, SyncCall::Fsync, SyncCall::Fdatasync],
        // The file needs its length beforehand, and errors arrive as SIGBUS.
        effort: 4,
        fio: Ok(FioEngine::plain("mmap")),
        code: Ok(Family::Map),
        example: &[(Axis::Chunk, "4KiB")],
    },
    lanes: |parts| lane_each_mapped(parts, |part, mapped| MmapLane { part, mapped }),
};

struct MmapLane<'a> {
    part: Part<'a>,
    mapped: Mapped,
}

impl Lane for MmapLane<'_> {
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
