//! A mapping of part of a file.
#![expect(unsafe_code, reason = "a mapping of a file is memory that Rust knows nothing of")]

use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};

use crate::call::{Call, CallError, Meaning};

/// The purpose of a mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// ENODEV from a filesystem that cannot map files: mmap(2).
pub(crate) const MMAP: Call = Call { name: "mmap", meanings: &[(Errno::NODEV, Meaning::Unsupported)] };

/// A mapping of part of a file, shared with all users of the file.
pub(crate) struct Map {
    address: NonNull<c_void>,
    length: usize,
    file_offset: u64,
}

// SAFETY: the mapping belongs to the process, not to a thread, and stays until the value is dropped.
unsafe impl Send for Map {}
// SAFETY: each thread writes its own range, and no thread reads it.
unsafe impl std::marker::Sync for Map {}

impl Map {
    /// Maps at least these bytes; a mapping begins at a page.
    pub(crate) fn new(
        file: BorrowedFd<'_>,
        offset: u64,
        length: u64,
        access: Access,
    ) -> Result<Self, CallError> {
        let before = offset % rustix::param::page_size() as u64;
        let file_offset = offset - before;
        let length = usize::try_from(length + before)
            .map_err(|_| CallError::other(MMAP, "larger than the address space".to_owned()))?;
        let protection = match access {
            Access::Read => ProtFlags::READ,
            Access::Write => ProtFlags::READ | ProtFlags::WRITE,
        };
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let address = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file, file_offset)
        }
        .map_err(|errno| CallError::new(MMAP, errno).at(offset))?;
        let address =
            NonNull::new(address).ok_or_else(|| CallError::other(MMAP, "gave address 0".to_owned()))?;
        Ok(Self { address, length, file_offset })
    }

    /// Copies into a writable mapping; `offset` is the file's. If the file has lost its pages, SIGBUS ends
    /// the worker, and that is the sample's outcome.
    #[inline]
    pub(crate) fn store(&self, offset: u64, bytes: &[u8]) {
        let at = usize::try_from(offset - self.file_offset).unwrap_or(usize::MAX);
        assert!(at.checked_add(bytes.len()).is_some_and(|end| end <= self.length), "inside the mapping");
        // SAFETY: `at` is inside the mapping, as asserted.
        let to = unsafe { self.address.as_ptr().cast::<u8>().add(at) };
        // SAFETY: so is the end, and nothing else has a reference into the mapping.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    /// The mapped bytes, for a system call. Only the kernel reads them, so that a concurrent change of the
    /// file does no harm; if the file has lost its pages, the call fails with EFAULT.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the range is mapped for as long as the value lives, and bytes have no invalid values.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr().cast::<u8>(), self.length) }
    }

    /// Tells the kernel how the mapping will be used.
    pub(crate) fn advise(&self, advice: Advice) -> Result<(), CallError> {
        // SAFETY: the range is mapped, and the advice given here changes no content.
        unsafe { rustix::mm::madvise(self.address.as_ptr(), self.length, advice) }
            .map_err(|errno| CallError::new("madvise", errno))
    }

    /// Makes the mapping durable.
    pub(crate) fn sync_all(&self) -> Result<(), CallError> {
        self.sync(self.file_offset, self.file_offset + self.length as u64)
    }

    /// Makes the pages with these bytes of the file durable.
    pub(crate) fn sync(&self, from: u64, to: u64) -> Result<(), CallError> {
        let page = rustix::param::page_size() as u64;
        let from = (from - from % page).max(self.file_offset) - self.file_offset;
        let to = (to - self.file_offset).min(self.length as u64);
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let (at, length) = (size(from), size(to.saturating_sub(from)));
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length), "inside the mapping");
        // SAFETY: `at` is inside the mapping, as asserted.
        let address = unsafe { self.address.as_ptr().cast::<u8>().add(at) };
        // SAFETY: the range is mapped; msync changes no memory.
        unsafe { rustix::mm::msync(address.cast(), length, MsyncFlags::SYNC) }
            .map_err(|errno| CallError::new("msync", errno))
    }

    /// The bytes of the pages that are in the page cache: mincore(2). The call brings none in.
    pub(crate) fn resident_bytes(&self) -> Result<u64, CallError> {
        let page = rustix::param::page_size();
        let mut pages = vec![0u8; self.length.div_ceil(page)];
        // SAFETY: the range is mapped, and the vector has a byte for each of its pages.
        let result = unsafe { libc::mincore(self.address.as_ptr(), self.length, pages.as_mut_ptr()) };
        if result != 0 {
            return Err(CallError::of_io("mincore", &std::io::Error::last_os_error()));
        }
        Ok(pages.iter().filter(|page| **page & 1 == 1).count() as u64 * page as u64)
    }

    /// Unmaps the bytes, and returns the result.
    pub(crate) fn unmap(self) -> Result<(), CallError> {
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
