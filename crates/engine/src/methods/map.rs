//! A mapping of part of a file.
#![expect(unsafe_code, reason = "a mapping of a file is memory that Rust knows nothing of")]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};
use writebench_model::Case;

use super::streaming_copy::StreamingCopy;
use crate::call::{Call, CallError, Meaning, of_libc, retry};

/// The purpose of a mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Reading and writing.
    Write,
}

/// ENODEV from a filesystem that cannot map files: mmap(2).
pub(crate) const MMAP: Call = Call { name: "mmap", meanings: &[(Errno::NODEV, Meaning::Unsupported)] };

/// EINVAL before Linux 5.14; EFAULT where an access would raise SIGBUS: madvise(2).
const POPULATE: Call = Call {
    name: "madvise(MADV_POPULATE)",
    meanings: &[
        (Errno::INVAL, Meaning::Unsupported),
        (Errno::FAULT, Meaning::Limited("an access would raise SIGBUS; is there still space for the file?")),
    ],
};

/// EINVAL before Linux 6.1, and on filesystems without huge pages for files that are written.
const COLLAPSE: Call = Call {
    name: "madvise(MADV_COLLAPSE)",
    meanings: &[
        (Errno::INVAL, Meaning::Unsupported),
        (Errno::NOMEM, Meaning::Limited("no huge page is free")),
        (Errno::AGAIN, Meaning::Limited("a page was in use; it may work the next time")),
    ],
};

/// EINVAL from kernels without huge pages.
const HUGE: Call = Call { name: "madvise(MADV_HUGEPAGE)", meanings: &[(Errno::INVAL, Meaning::Unsupported)] };

/// include/uapi/asm-generic/mman-common.h.
const MADV_COLLAPSE: c_int = 25;

/// Addresses that are ours, with part of a mapping among them.
struct Reservation {
    place: *mut c_void,
    reserved: usize,
}

impl Reservation {
    /// Unmaps all but these bytes, which lie in the reservation.
    fn release_around(self, kept: *mut c_void, length: usize) {
        let before = kept.addr() - self.place.addr();
        let kept_pages = length.next_multiple_of(rustix::param::page_size());
        let unmap = |at: usize, length: usize| {
            if length > 0 {
                // SAFETY: the offset lies in the reservation.
                let address = unsafe { self.place.cast::<u8>().add(at) };
                // SAFETY: these bytes of the reservation are mapped, and hold nothing.
                let _ = unsafe { rustix::mm::munmap(address.cast(), length) };
            }
        };
        unmap(0, before);
        unmap(before + kept_pages, self.reserved - before - kept_pages);
    }
}

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
    /// Maps these bytes as [`Map::new`] does, at an address that is aligned in memory as the offset is in the
    /// file, by huge pages: only then can huge pages be mapped.
    pub(crate) fn for_huge_pages(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Self, CallError> {
        let huge = Case::HUGE_PAGE_BYTES;
        let before = offset % huge;
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let reserved = size(length.saturating_add(before).saturating_add(2 * huge));
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let place = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), reserved, ProtFlags::empty(), MapFlags::PRIVATE)
        }
        .map_err(|errno| CallError::new(MMAP, errno))?;
        let skipped = place.align_offset(size(huge));
        // SAFETY: the reservation has room for this offset.
        let at = unsafe { place.cast::<u8>().add(skipped + size(before)) };
        let page_offset = offset - offset % rustix::param::page_size() as u64;
        let length = size(length + (offset - page_offset));
        // SAFETY: the range lies in the reservation, which is ours and holds nothing.
        let mapped = unsafe {
            let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
            rustix::mm::mmap(at.cast(), length, protection, flags, file, page_offset)
        };
        let reservation = Reservation { place, reserved };
        match mapped {
            Ok(address) => {
                reservation.release_around(address, length);
                let address =
                    NonNull::new(address).ok_or_else(|| CallError::other(MMAP, "gave address 0".to_owned()))?;
                Ok(Self { address, length, file_offset: page_offset })
            }
            Err(errno) => {
                reservation.release_around(place, 0);
                Err(CallError::new(MMAP, errno).at(offset))
            }
        }
    }

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
        let to = self.place(offset, bytes.len());
        // SAFETY: `place` has checked that so many bytes are mapped there; nothing else has a reference into
        // the mapping.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    /// Like [`Map::store`], with stores that bypass the CPU's caches.
    #[inline]
    pub(crate) fn store_past_caches(&self, copy: StreamingCopy, offset: u64, bytes: &[u8]) {
        let to = self.place(offset, bytes.len());
        // SAFETY: as for `store`.
        unsafe { copy.run(bytes, to) };
    }

    /// Lets the kernel read into the mapping; `offset` is the file's. Returns the bytes that were read.
    #[inline]
    pub(crate) fn read_into(
        &self,
        from: BorrowedFd<'_>,
        offset: u64,
        most: usize,
    ) -> rustix::io::Result<usize> {
        let to = self.place(offset, most).cast::<MaybeUninit<u8>>();
        // SAFETY: `place` has checked that so many bytes are mapped there, and only the kernel writes them.
        let buffer = unsafe { std::slice::from_raw_parts_mut(to, most) };
        rustix::io::read(from, buffer).map(|(read, _)| read.len())
    }

    /// The address of these bytes of the file, which must be inside the mapping.
    #[inline]
    fn place(&self, offset: u64, length: usize) -> *mut u8 {
        let at = usize::try_from(offset - self.file_offset).unwrap_or(usize::MAX);
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length), "inside the mapping");
        // SAFETY: `at` is inside the mapping, as asserted.
        unsafe { self.address.as_ptr().cast::<u8>().add(at) }
    }

    /// Makes the pages with these bytes of the file present, and writable if the mapping is for writing.
    pub(crate) fn populate(&self, from: u64, length: u64, access: Access) -> Result<(), CallError> {
        let advice = match access {
            Access::Read => libc::MADV_POPULATE_READ,
            Access::Write => libc::MADV_POPULATE_WRITE,
        };
        self.advise_range(POPULATE, from, length, advice)
    }

    /// Makes huge pages of those that lie in these bytes of the file as a whole. The kernel wants one small
    /// page of each to be present; writing to it is harmless, since all bytes are about to be written.
    pub(crate) fn collapse(&self, from: u64, length: u64) -> Result<(), CallError> {
        let huge = Case::HUGE_PAGE_BYTES;
        let (first, end) = (from.next_multiple_of(huge), (from + length) / huge * huge);
        for at in (first..end).step_by(usize::try_from(huge).unwrap_or(usize::MAX)) {
            self.store(at, &[0]);
        }
        if first < end { self.advise_range(COLLAPSE, first, end - first, MADV_COLLAPSE) } else { Ok(()) }
    }

    /// Asks for huge pages wherever the kernel makes them.
    pub(crate) fn allow_huge_pages(&self) -> Result<(), CallError> {
        self.advise_range(HUGE, self.file_offset, self.length as u64, libc::MADV_HUGEPAGE)
    }

    /// Advises about the pages that hold these bytes of the file.
    fn advise_range(&self, call: Call, from: u64, length: u64, advice: c_int) -> Result<(), CallError> {
        let before = from % rustix::param::page_size() as u64;
        let length = usize::try_from(length + before).unwrap_or(usize::MAX);
        let address = self.place(from - before, length);
        retry(call, || {
            // SAFETY: the range is mapped, and none of these advices changes its content.
            of_libc(unsafe { libc::madvise(address.cast(), length, advice) })
        })
        .map_err(|error| error.at(from))
    }

    /// These bytes of the file, for a system call or a copy of bytes, which a concurrent change of the file does
    /// no harm. If the file has lost its pages, the call fails with EFAULT, and a copy ends the worker by SIGBUS.
    #[inline]
    pub(crate) fn bytes(&self, offset: u64, length: usize) -> &[u8] {
        let at = self.place(offset, length);
        // SAFETY: the range is mapped for as long as the value lives, and bytes have no invalid values.
        unsafe { std::slice::from_raw_parts(at, length) }
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
