//! Write-back follows the writer at a distance, so neither the kernel's limit on dirty pages nor the final sync
//! waits for all data.
#![expect(unsafe_code, reason = "rustix has no sync_file_range")]

use std::ffi::c_uint;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::Advice;
use writebench_model::{Choices, Drop};

use crate::call::{Result, libc_result, retry};

/// The write-back of the bytes from a thread. Its numbers count from the first of them.
pub(crate) struct WriteBehind {
    file: Arc<OwnedFd>,
    file_offset: u64,
    pub(crate) distance: u64,
    /// Whether the pages are dropped after their write-back.
    drops: bool,
    /// Write-back has been started up to here.
    started: u64,
    /// Write-back has ended up to here.
    ended: u64,
}

/// Starts the write-back of a whole file without waiting for it.
pub(crate) fn start_write_back(file: BorrowedFd<'_>) -> Result<()> {
    sync_range(file, 0, 0, libc::SYNC_FILE_RANGE_WRITE)
}

fn sync_range(file: BorrowedFd<'_>, at: u64, length: u64, flags: c_uint) -> Result<()> {
    let offset = i64::try_from(at).unwrap_or(i64::MAX);
    let signed_length = i64::try_from(length).unwrap_or(i64::MAX);
    retry("sync_file_range", || {
        // SAFETY: the call takes numbers, and an open descriptor.
        libc_result(unsafe {
            libc::sync_file_range(file.as_raw_fd(), offset, signed_length, flags)
        })
    })
    .map_err(|error| error.at(at))
}

impl WriteBehind {
    pub(crate) fn new(choices: &Choices, file: &Arc<OwnedFd>, file_offset: u64) -> Option<Self> {
        Some(Self {
            file: file.clone(),
            file_offset,
            distance: choices.writeback_bytes?,
            drops: choices.drop == Drop::Yes,
            started: 0,
            ended: 0,
        })
    }

    /// The thread has written so many bytes.
    #[inline(always)]
    pub(crate) fn advance_to(&mut self, bytes: u64) -> Result<()> {
        if bytes - self.started < self.distance {
            Ok(())
        } else {
            self.start_window(bytes)
        }
    }

    /// Starts the write-back of the bytes since the last call, and waits for that of the bytes before it:
    /// sync_file_range(2). At most two windows are dirty or in write-back.
    #[cold]
    fn start_window(&mut self, bytes: u64) -> Result<()> {
        const AND_WAIT: c_uint = libc::SYNC_FILE_RANGE_WAIT_BEFORE
            | libc::SYNC_FILE_RANGE_WRITE
            | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        self.sync(self.started, bytes, libc::SYNC_FILE_RANGE_WRITE)?;
        if self.ended < self.started {
            self.sync(self.ended, self.started, AND_WAIT)?;
            if self.drops {
                self.drop_pages(self.ended, self.started)?;
            }
        }
        self.ended = self.started;
        self.started = bytes;
        Ok(())
    }

    fn drop_pages(&self, from: u64, to: u64) -> Result<()> {
        let length = NonZeroU64::new(to - from);
        retry("posix_fadvise", || {
            rustix::fs::fadvise(
                &self.file,
                self.file_offset + from,
                length,
                Advice::DontNeed,
            )
        })
    }

    fn sync(&self, from: u64, to: u64, flags: c_uint) -> Result<()> {
        sync_range(self.file.as_fd(), self.file_offset + from, to - from, flags)
    }
}
