//! `mmap(2)`: stores into a shared mapping of the file.
#![expect(unsafe_code, reason = "a mapping of a file is memory that Rust knows nothing of")]

use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use model::{Axis, Cursor, Files, MapSharing, MethodInfo, Prepare, Sync};
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};

use super::{Lane, Method, lane_each};
use crate::call::CallError;
use crate::job::Part;

static INFO: MethodInfo = MethodInfo {
    name: "mmap",
    summary: "memory copies into a MAP_SHARED mapping, one per chunk",
    calls: "mmap, memcpy, msync, munmap",
    cursor: Cursor::Mapping,
    axes: &[Axis::Chunk, Axis::Threads, Axis::Files, Axis::Descriptor, Axis::Map, Axis::Data, Axis::Source],
    prepares: &[Prepare::SetLen, Prepare::Fallocate, Prepare::PosixFallocate, Prepare::Overwrite],
    syncs: &[Sync::None, Sync::Msync, Sync::Fsync, Sync::Fdatasync],
};

pub(super) struct Mmap;

impl Method for Mmap {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
        let shared = Arc::new(Mutex::new(Weak::new()));
        lane_each(parts, |part| MmapLane { part, shared: shared.clone(), map: None })
    }
}

struct MmapLane<'a> {
    part: Part<'a>,
    // Weak, so that the last lane to let go of the map unmaps it, in phase close.
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
                    let map = Arc::new(Map::new(file, 0, part.file_length)?);
                    *shared = Arc::downgrade(&map);
                    map
                }
            }
        } else {
            Arc::new(Map::new(file, part.file_offset, part.range.length)?)
        });
        Ok(())
    }

    fn write(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        let Some(map) = &self.map else { return Ok(()) };
        self.part.try_each_chunk(|chunk, offset| {
            map.store(offset, chunk);
            Ok(())
        })
    }

    fn sync(&mut self, file: BorrowedFd<'_>, call: Sync) -> Result<(), CallError> {
        match (&self.map, call) {
            (Some(map), Sync::Msync) => map.sync(),
            _ => crate::sync::sync(file, call),
        }
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.map.take().and_then(Arc::into_inner).map_or(Ok(()), Map::unmap)
    }
}

/// A mapping of part of a file.
struct Map {
    address: NonNull<c_void>,
    length: usize,
    file_offset: u64,
}

// SAFETY: the mapping belongs to the process, not to a thread, and stays until the value is dropped.
unsafe impl Send for Map {}
// SAFETY: it is only written to, and each thread writes its own range.
unsafe impl std::marker::Sync for Map {}

impl Map {
    /// Maps at least these bytes: a mapping begins at a page.
    fn new(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Self, CallError> {
        let before = offset % rustix::param::page_size() as u64;
        let file_offset = offset - before;
        let length = usize::try_from(length + before)
            .map_err(|_| CallError::other("mmap", "larger than the address space".to_owned()))?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let address =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, access, flags, file, file_offset) }
                .map_err(|errno| CallError::new("mmap", errno).at(offset))?;
        let address =
            NonNull::new(address).ok_or_else(|| CallError::other("mmap", "gave address 0".to_owned()))?;
        Ok(Self { address, length, file_offset })
    }

    /// Copies into the mapping; `offset` is the file's. A file that lost its pages raises SIGBUS here,
    /// which ends the worker process and is that sample's outcome.
    #[inline]
    fn store(&self, offset: u64, bytes: &[u8]) {
        let at = usize::try_from(offset - self.file_offset).unwrap_or(usize::MAX);
        assert!(at.checked_add(bytes.len()).is_some_and(|end| end <= self.length), "inside the mapping");
        // SAFETY: `at` is inside the mapping, as asserted.
        let to = unsafe { self.address.as_ptr().cast::<u8>().add(at) };
        // SAFETY: so is the end, and nothing else has a reference into the mapping.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    fn sync(&self) -> Result<(), CallError> {
        // SAFETY: the range is mapped; msync changes no memory.
        unsafe { rustix::mm::msync(self.address.as_ptr(), self.length, MsyncFlags::SYNC) }
            .map_err(|errno| CallError::new("msync", errno))
    }

    fn unmap(self) -> Result<(), CallError> {
        let map = std::mem::ManuallyDrop::new(self);
        // SAFETY: this is the last handle to the mapping, and dropping it is suppressed.
        unsafe { rustix::mm::munmap(map.address.as_ptr(), map.length) }
            .map_err(|errno| CallError::new("munmap", errno))
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: this is the last handle to the mapping.
        let _ = unsafe { rustix::mm::munmap(self.address.as_ptr(), self.length) };
    }
}
