//! `mmap(2)`: stores into a shared mapping of the file.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use writebench_model::{Axis, Cursor, Files, FioEngine, MapSharing, MethodInfo, Prepare, SyncCall};

use super::map::{Access, Map};
use super::{Lane, Method, WRITING, lane_each};
use crate::call::CallError;
use crate::job::Part;
use crate::records::Records;

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "mmap",
        summary: "memory copies into a MAP_SHARED mapping, one per chunk",
        words: "memory copies into mmap(2)",
        calls: "mmap, memcpy, msync, munmap",
        has_buffer: false,
        cursor: Cursor::Mapping,
        axes: &[WRITING, &[Axis::Map, Axis::Alignment]],
        prepares: &[
            Prepare::SetLen,
            Prepare::Fallocate,
            Prepare::PosixFallocate,
            Prepare::FallocateZeroRange,
            Prepare::ZeroFill,
            Prepare::Overwrite,
        ],
        syncs: &[SyncCall::None, SyncCall::Msync, SyncCall::Fsync, SyncCall::Fdatasync],
        syncs_on_the_way: &[SyncCall::Msync, SyncCall::Fsync, SyncCall::Fdatasync],
        // The file needs its length beforehand, and errors arrive as SIGBUS.
        effort: 4,
        fio: Ok(FioEngine::plain("mmap")),
        example: &[(Axis::Chunk, "4KiB")],
    },
    lanes: |parts| {
        let shared = Arc::new(Mutex::new(Weak::new()));
        lane_each(parts, |part| MmapLane { part, shared: shared.clone(), map: None })
    },
};

struct MmapLane<'a> {
    part: Part<'a>,
    // Weak, so that the last lane to release the map unmaps it, in phase close.
    shared: Arc<Mutex<Weak<Map>>>,
    map: Option<Arc<Map>>,
}

impl Lane for MmapLane<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        let part = &self.part;
        let one_map = part.axes.map == MapSharing::Shared && part.axes.files == Files::Shared;
        self.map = Some(if one_map {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            match shared.upgrade() {
                Some(map) => map,
                None => {
                    let map = Arc::new(Map::new(file, 0, part.file_length, Access::Write)?);
                    *shared = Arc::downgrade(&map);
                    map
                }
            }
        } else {
            Arc::new(Map::new(file, part.file_offset, part.range.length, Access::Write)?)
        });
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let Some(map) = &self.map else { return Ok(()) };
        let call = self.part.axes.sync.call;
        let store = |chunk: &[u8], offset| {
            map.store(offset, chunk);
            Ok(())
        };
        records.each(&self.part, store, |from, to| match call {
            SyncCall::Msync => map.sync(from, to),
            call => crate::sync::sync(file, call),
        })
    }

    fn sync(&mut self, file: BorrowedFd<'_>, call: SyncCall) -> Result<(), CallError> {
        match (&self.map, call) {
            (Some(map), SyncCall::Msync) => map.sync_all(),
            _ => crate::sync::sync(file, call),
        }
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.map.take().and_then(Arc::into_inner).map_or(Ok(()), Map::unmap)
    }
}
