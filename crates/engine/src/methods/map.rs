//! Mappings of files into memory.
#![expect(unsafe_code, reason = "Rust does not know a mapping's memory")]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};
use writebench_model::Case;

use super::streaming_copy::StreamingCopy;
use crate::call::{Call, CallError, Result, libc_result, retry};
use crate::region::to_usize;

/// ENODEV from a filesystem that cannot map files: mmap(2).
pub(crate) const MMAP: Call = Call {
    name: "mmap",
    lacks: &[Errno::NODEV],
    advice: &[],
};

/// EINVAL before Linux 5.14. EFAULT if an access would raise SIGBUS: madvise(2).
const POPULATE: Call = Call {
    name: "madvise(MADV_POPULATE)",
    lacks: &[Errno::INVAL],
    advice: &[(
        Errno::FAULT,
        "an access would raise SIGBUS: check the free space",
    )],
};

/// EINVAL before Linux 6.1, and on filesystems without huge pages for written files.
const COLLAPSE: Call = Call {
    name: "madvise(MADV_COLLAPSE)",
    lacks: &[Errno::INVAL],
    advice: &[
        (Errno::NOMEM, "no huge page is free"),
        (Errno::AGAIN, "a page was in use: try again"),
    ],
};

/// EINVAL from kernels without huge pages.
pub(crate) const HUGE: Call = Call {
    name: "madvise(MADV_HUGEPAGE)",
    lacks: &[Errno::INVAL],
    advice: &[],
};

/// The number is in include/uapi/asm-generic/mman-common.h.
const MADV_COLLAPSE: c_int = 25;

/// A mapping of a file. Its methods only make system calls about it: a [`Map`] reaches its bytes.
pub(crate) struct Mapping {
    address: NonNull<c_void>,
    length: usize,
    file_offset: u64,
    // The file's bytes that a map may store to.
    claimed: Mutex<Vec<Range<u64>>>,
}

// SAFETY: the mapping belongs to the process, not to a thread, until the value is dropped.
unsafe impl Send for Mapping {}
// SAFETY: no method reads or writes a byte of it, or returns a reference to one.
unsafe impl Sync for Mapping {}

/// A thread's access to the bytes of a mapping, either to read or to store.
pub(crate) struct Map {
    mapping: Arc<Mapping>,
    // Bytes of the file. One range is empty, so no store changes bytes with a reference to them.
    reads: Range<u64>,
    stores: Range<u64>,
    // Two threads with one map could store to the same bytes.
    is_of_one_thread: PhantomData<Cell<()>>,
}

impl Deref for Map {
    type Target = Mapping;

    fn deref(&self) -> &Mapping {
        &self.mapping
    }
}

impl Map {
    /// Maps at least these bytes of a file to read them.
    pub(crate) fn reading(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Self> {
        let mapping = Arc::new(Mapping::new(file, offset, length, ProtFlags::READ)?);
        let reads = mapping.file_offset..mapping.file_offset + mapping.length as u64;
        Ok(Self {
            mapping,
            reads,
            stores: 0..0,
            is_of_one_thread: PhantomData,
        })
    }

    /// Gives a thread these bytes of a mapping to store to. It is an error if another map has some of them.
    pub(crate) fn storing(mapping: &Arc<Mapping>, offset: u64, length: u64) -> Result<Self> {
        let stores = offset..offset.saturating_add(length);
        let mut claimed = mapping
            .claimed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if claimed
            .iter()
            .any(|other| other.start < stores.end && stores.start < other.end)
        {
            return Err(CallError::other(MMAP, "two threads want the same bytes").at(offset));
        }
        claimed.push(stores.clone());
        drop(claimed);
        Ok(Self {
            mapping: mapping.clone(),
            reads: 0..0,
            stores,
            is_of_one_thread: PhantomData,
        })
    }

    pub(crate) fn unmap(self) -> Result<()> {
        let unmapped =
            Arc::into_inner(self.mapping).map_or(Ok(()), |mut mapping| mapping.release());
        unmapped.map_err(|errno| CallError::new("munmap", errno))
    }

    /// If the file has lost its pages, SIGBUS ends the worker, and that is the sample's outcome.
    #[inline]
    pub(crate) fn store(&self, offset: u64, bytes: &[u8]) {
        self.change(offset, bytes.len(), |to| to.copy_from_slice(bytes));
    }

    #[inline]
    pub(crate) fn store_past_caches(&self, copy: StreamingCopy, offset: u64, bytes: &[u8]) {
        self.change(offset, bytes.len(), |to| copy.run(bytes, to));
    }

    /// Reads into the mapping at an offset of its file.
    #[inline]
    pub(crate) fn read_into(
        &self,
        from: BorrowedFd<'_>,
        offset: u64,
        most: usize,
    ) -> rustix::io::Result<usize> {
        self.change(offset, most, |to| rustix::io::read(from, to))
    }

    #[inline]
    fn change<T>(&self, offset: u64, length: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
        let to = self.pointer(&self.stores, offset, length);
        // SAFETY: `pointer` has checked that this map stores to these mapped bytes. No other map has them, no
        // other thread has this map, and the only reference to them ends with the work.
        work(unsafe { std::slice::from_raw_parts_mut(to, length) })
    }

    /// Makes the pages of these bytes present, and writable for a storing map.
    pub(crate) fn populate(&self, from: u64, length: u64) -> Result<()> {
        let stores = self.reads.is_empty();
        let advice = if stores {
            libc::MADV_POPULATE_WRITE
        } else {
            libc::MADV_POPULATE_READ
        };
        self.advise_range(POPULATE, from, length, advice)
    }

    /// Makes huge pages of those that are inside these bytes. The kernel needs one small page of each to be present.
    /// Writing to it is harmless, because all bytes will be written.
    pub(crate) fn collapse(&self, from: u64, length: u64) -> Result<()> {
        let huge = Case::HUGE_PAGE_BYTES;
        let first = from.next_multiple_of(huge);
        let end = (from + length) / huge * huge;
        for at in (first..end).step_by(to_usize(huge)) {
            self.store(at, &[0]);
        }
        if first < end {
            self.advise_range(COLLAPSE, first, end - first, MADV_COLLAPSE)
        } else {
            Ok(())
        }
    }

    /// Bytes of the file to be read. A concurrent change of the file does no harm. If the file has lost its pages, a
    /// call fails with EFAULT, and a copy ends the worker by SIGBUS.
    #[inline]
    pub(crate) fn bytes(&self, offset: u64, length: usize) -> &[u8] {
        let at = self.pointer(&self.reads, offset, length);
        // SAFETY: the range is mapped during the value's life, this map stores to none of it, and bytes have no
        // invalid values.
        unsafe { std::slice::from_raw_parts(at, length) }
    }

    #[inline]
    fn pointer(&self, within: &Range<u64>, offset: u64, length: usize) -> *mut u8 {
        let end = offset.checked_add(length as u64);
        assert!(
            offset >= within.start && end.is_some_and(|end| end <= within.end),
            "inside the map's region"
        );
        self.mapping.pointer(offset, length)
    }
}

impl Mapping {
    /// Maps at an address with the offset's alignment to huge pages, without which none can be mapped.
    pub(crate) fn for_huge_pages(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Self> {
        let huge = Case::HUGE_PAGE_BYTES;
        let page_bytes = rustix::param::page_size();
        let page_offset = offset - offset % page_bytes as u64;
        // A mapping also begins at a page in memory.
        let before = page_offset % huge;
        let reserved = to_usize(length.saturating_add(before).saturating_add(2 * huge));
        let length = to_usize(length + (offset - page_offset));
        // SAFETY: a new mapping at an address of the kernel's choice does not touch the process's memory.
        let start = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                reserved,
                ProtFlags::empty(),
                MapFlags::PRIVATE,
            )
        }
        .map_err(|errno| CallError::new(MMAP, errno))?;
        let begin = start.align_offset(to_usize(huge)) + to_usize(before);
        // SAFETY: the range lies in the reservation, which is this function's own and empty.
        let mapped = unsafe {
            rustix::mm::mmap(
                start.wrapping_byte_add(begin),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::FIXED,
                file,
                page_offset,
            )
        };
        let kept = if mapped.is_ok() {
            begin..begin + length.next_multiple_of(page_bytes)
        } else {
            0..0
        };
        for unused in [0..kept.start, kept.end..reserved] {
            if unused.is_empty() {
                continue;
            }
            let address = start.wrapping_byte_add(unused.start);
            // SAFETY: these bytes of the reservation are mapped and empty.
            let _ = unsafe { rustix::mm::munmap(address, unused.len()) };
        }
        let address = mapped.map_err(|errno| CallError::new(MMAP, errno).at(offset))?;
        Self::at(address, length, page_offset)
    }

    /// Maps these bytes to write them, from the page where they begin.
    pub(crate) fn writable(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Self> {
        Self::new(file, offset, length, ProtFlags::READ | ProtFlags::WRITE)
    }

    fn new(file: BorrowedFd<'_>, offset: u64, length: u64, protection: ProtFlags) -> Result<Self> {
        let before = offset % rustix::param::page_size() as u64;
        let file_offset = offset - before;
        let length = usize::try_from(length + before)
            .map_err(|_| CallError::other(MMAP, "larger than the address space"))?;
        // SAFETY: a new mapping at an address of the kernel's choice does not touch the process's memory.
        let address = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                MapFlags::SHARED,
                file,
                file_offset,
            )
        }
        .map_err(|errno| CallError::new(MMAP, errno).at(offset))?;
        Self::at(address, length, file_offset)
    }

    fn at(address: *mut c_void, length: usize, file_offset: u64) -> Result<Self> {
        let address =
            NonNull::new(address).ok_or_else(|| CallError::other(MMAP, "gave address 0"))?;
        Ok(Self {
            address,
            length,
            file_offset,
            claimed: Mutex::default(),
        })
    }

    #[inline]
    fn pointer(&self, offset: u64, length: usize) -> *mut u8 {
        let at = to_usize(offset - self.file_offset);
        assert!(
            at.checked_add(length).is_some_and(|end| end <= self.length),
            "inside the mapping"
        );
        // SAFETY: `at` is inside the mapping, as asserted.
        unsafe { self.address.as_ptr().cast::<u8>().add(at) }
    }

    pub(crate) fn advise(&self, call: impl Into<Call>, advice: c_int) -> Result<()> {
        self.advise_range(call.into(), self.file_offset, self.length as u64, advice)
    }

    fn advise_range(&self, call: Call, from: u64, length: u64, advice: c_int) -> Result<()> {
        let before = from % rustix::param::page_size() as u64;
        let length = to_usize(length + before);
        let address = self.pointer(from - before, length);
        retry(call, || {
            // SAFETY: the range is mapped, and none of these advices changes its content.
            libc_result(unsafe { libc::madvise(address.cast(), length, advice) })
        })
        .map_err(|error| error.at(from))
    }

    /// Syncs the mapped part of these bytes of the file.
    pub(crate) fn sync(&self, from: u64, to: u64) -> Result<()> {
        let from = (from - from % rustix::param::page_size() as u64).max(self.file_offset);
        let length = to_usize(
            to.min(self.file_offset + self.length as u64)
                .saturating_sub(from),
        );
        let address = self.pointer(from, length);
        // SAFETY: the range is mapped, and msync changes no memory.
        unsafe { rustix::mm::msync(address.cast(), length, MsyncFlags::SYNC) }
            .map_err(|errno| CallError::new("msync", errno))
    }

    /// How many of the mapped bytes are in the page cache. mincore(2) loads no pages.
    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        let page = rustix::param::page_size();
        let mut pages = vec![0u8; self.length.div_ceil(page)];
        // SAFETY: the range is mapped, and the vector has a byte for each of its pages.
        libc_result(unsafe {
            libc::mincore(self.address.as_ptr(), self.length, pages.as_mut_ptr())
        })
        .map_err(|errno| CallError::new("mincore", errno))?;
        Ok(pages.iter().filter(|page| **page & 1 == 1).count() as u64 * page as u64)
    }

    fn release(&mut self) -> rustix::io::Result<()> {
        match std::mem::take(&mut self.length) {
            0 => Ok(()),
            // SAFETY: this is the last handle to the mapping, which is unmapped once.
            length => unsafe { rustix::mm::munmap(self.address.as_ptr(), length) },
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let _ = self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn file_with(bytes: u64) -> std::fs::File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(bytes).unwrap();
        file
    }

    #[test]
    fn two_maps_never_store_to_the_same_bytes() {
        let file = file_with(10_000);
        let mapping = Arc::new(Mapping::writable(file.as_fd(), 0, 10_000).unwrap());
        let first = Map::storing(&mapping, 0, 5000).unwrap();
        assert!(Map::storing(&mapping, 4999, 10).is_err());
        let second = Map::storing(&mapping, 5000, 5000).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || second.store(5000, &[2; 5000]));
            first.store(0, &[1; 5000]);
        });
        let map = Map::reading(file.as_fd(), 0, 10_000).unwrap();
        assert_eq!(
            (map.bytes(4999, 1), map.bytes(5000, 1)),
            (&[1][..], &[2][..])
        );
    }

    #[test]
    fn a_map_stores_to_no_bytes_but_its_own_and_to_none_that_it_reads() {
        let file = file_with(10_000);
        let mapping = Arc::new(Mapping::writable(file.as_fd(), 0, 10_000).unwrap());
        let own = Map::storing(&mapping, 5000, 100).unwrap();
        let reads = Map::reading(file.as_fd(), 0, 10_000).unwrap();
        for (map, offset) in [(&own, 4999), (&own, 5100), (&reads, 0)] {
            let store = AssertUnwindSafe(|| map.store(offset, &[1]));
            assert!(catch_unwind(store).is_err(), "offset {offset}");
        }
        assert!(catch_unwind(AssertUnwindSafe(|| own.bytes(5000, 1).len())).is_err());
    }

    #[test]
    fn a_mapping_for_huge_pages_begins_at_any_offset() {
        let huge = Case::HUGE_PAGE_BYTES;
        let file = file_with(3 * huge);
        for offset in [0, 1, 500_000, huge - 1, huge, huge + 500_000] {
            let mapping = Arc::new(Mapping::for_huge_pages(file.as_fd(), offset, 500_000).unwrap());
            assert_eq!(
                mapping.address.as_ptr().addr() as u64 % huge,
                mapping.file_offset % huge
            );
            Map::storing(&mapping, offset, 500_000)
                .unwrap()
                .store(offset, &[7; 500_000]);
        }
    }
}
