//! What a program has left in the page cache: cachestat(2), since Linux 6.5.
#![expect(unsafe_code, reason = "neither rustix nor libc has cachestat")]

use std::ffi::{c_long, c_uint};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use writebench_model::{Bytes, Checksums};

use crate::call::{CallError, Result};
use crate::file::{self, Target};

/// The same number on all architectures of Rust (scripts/syscall.tbl of the kernel).
const SYS_CACHESTAT: c_long = 451;

/// The errors of a program's check name this instead of a call.
const DURABLE: &str = "durable";

#[repr(C)]
struct Range {
    offset: u64,
    /// Zero means to the end.
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct CacheStat {
    cached: u64,
    dirty: u64,
    under_write_back: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// A file's dirty bytes, and those under way to the device. It is `None` before Linux 6.5, and in sandboxes that refuse
/// the call.
fn unsynced_bytes(file: BorrowedFd<'_>) -> Option<u64> {
    const NO_FLAGS: c_uint = 0;
    let range = Range {
        offset: 0,
        length: 0,
    };
    let mut pages = CacheStat::default();
    // SAFETY: the file is open, and both structures have the kernel's layout (include/uapi/linux/mman.h).
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut pages,
            NO_FLAGS,
        )
    };
    let page_bytes = rustix::param::page_size() as u64;
    (result == 0).then(|| (pages.dirty + pages.under_write_back) * page_bytes)
}

/// Fails if a program has left dirty pages of a file that it promised to make durable. Pages in the cache prove nothing,
/// because a sync leaves them there. Nor do dirty ones where a sync does not clean them, such as on ext4 with
/// `data=journal`: a file of our own shows that.
pub(crate) fn check(directory: BorrowedFd<'_>, name: &str, size_bytes: u64) -> Result<()> {
    let file = file::open_to_read(Target::Directory(directory), name)?;
    let Some(unsynced @ 1..) = unsynced_bytes(file.as_fd()) else {
        return Ok(());
    };
    if !sync_cleans_pages(directory, &format!("{name}-synced"))? {
        return Ok(());
    }
    let unsynced = Bytes(unsynced.min(size_bytes)).approximate();
    let size = Bytes(size_bytes).approximate();
    let message = format!(
        "{unsynced} of {size} were only in the page cache when the program had ended, so it did not sync them. Let it \
         sync its file, or leave out --durable"
    );
    Err(CallError::other(DURABLE, message).with_path(name))
}

/// Whether a synced file has no dirty pages here.
fn sync_cleans_pages(directory: BorrowedFd<'_>, name: &str) -> Result<bool> {
    const BYTES: u64 = 64 << 10;
    let synced = file::create_filled(directory, name, BYTES, 0, Checksums::Default)?;
    let left = unsynced_bytes(synced.as_fd());
    file::close(synced)?;
    file::remove(Target::Directory(directory), name)?;
    Ok(left == Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags};
    use std::io::Write;
    use writebench_testkit::{Kind, directory_on};

    #[test]
    fn only_unsynced_pages_of_a_file_are_dirty() {
        let place = directory_on(Kind::Ext4);
        let mut file = std::fs::File::create_new(place.path().join("file")).unwrap();
        file.write_all(&[1; 1 << 16]).unwrap();
        if unsynced_bytes(file.as_fd()).is_none() {
            // The call is missing before Linux 6.5.
            return;
        }
        assert_eq!(unsynced_bytes(file.as_fd()), Some(1 << 16));
        let directory = rustix::fs::open(
            place.path(),
            OFlags::RDONLY | OFlags::DIRECTORY,
            Mode::empty(),
        )
        .unwrap();
        let refused = check(directory.as_fd(), "file", 1 << 16)
            .unwrap_err()
            .reason();
        assert!(
            refused.starts_with("durable: 64 KiB of 64 KiB were only in the page cache"),
            "{refused}"
        );
        file.sync_data().unwrap();
        assert_eq!(unsynced_bytes(file.as_fd()), Some(0));
        check(directory.as_fd(), "file", 1 << 16).unwrap();
        assert_eq!(
            std::fs::read_dir(place.path()).unwrap().count(),
            1,
            "the other file is removed"
        );
    }
}
