//! Write-back follows the writer at a distance, so neither the kernel's limit on dirty pages nor the final sync
//! waits for all data.
#![expect(unsafe_code, reason = "rustix has no sync_file_range")]

use std::ffi::c_uint;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use writebench_model::{Axes, Drop};

use crate::call::{Result, libc_result, retry};

pub(crate) struct WriteBehind {
    file: Arc<OwnedFd>,
    file_offset: u64,
    pub(crate) distance: u64,
    drops: bool,
    started: u64,
    ended: u64,
}

/// Of a whole file, without waiting.
pub(crate) fn start_write_back(file: BorrowedFd<'_>) -> Result<()> {
    sync_range(file, 0, 0, libc::SYNC_FILE_RANGE_WRITE)
}

fn sync_range(file: BorrowedFd<'_>, at: u64, length: u64, flags: c_uint) -> Result<()> {
    let offset = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    retry("sync_file_range", || {
        // SAFETY: the call takes numbers, and an open descriptor.
        libc_result(unsafe {
            libc::sync_file_range(file.as_raw_fd(), offset(at), offset(length), flags)
        })
    })
    .map_err(|error| error.at(at))
}

impl WriteBehind {
    pub(crate) fn new(axes: &Axes, file: &Arc<OwnedFd>, file_offset: u64) -> Option<Self> {
        let distance = axes.writeback_bytes?;
        let (file, drops) = (file.clone(), axes.drop == Drop::Yes);
        Some(Self {
            file,
            file_offset,
            distance,
            drops,
            started: 0,
            ended: 0,
        })
    }

    #[inline(always)]
    pub(crate) fn reached(&mut self, bytes: u64) -> Result<()> {
        if bytes - self.started < self.distance {
            Ok(())
        } else {
            self.advance(bytes)
        }
    }

    /// Waits for the bytes before the last call: sync_file_range(2). At most two windows are dirty or in
    /// write-back.
    #[cold]
    fn advance(&mut self, bytes: u64) -> Result<()> {
        const AND_WAIT: c_uint = libc::SYNC_FILE_RANGE_WAIT_BEFORE
            | libc::SYNC_FILE_RANGE_WRITE
            | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        self.sync(self.started, bytes, libc::SYNC_FILE_RANGE_WRITE)?;
        if self.ended < self.started {
            self.sync(self.ended, self.started, AND_WAIT)?;
            if self.drops {
                let length = std::num::NonZeroU64::new(self.started - self.ended);
                let (from, advice) = (self.file_offset + self.ended, rustix::fs::Advice::DontNeed);
                retry("posix_fadvise", || {
                    rustix::fs::fadvise(&self.file, from, length, advice)
                })?;
            }
        }
        self.ended = self.started;
        self.started = bytes;
        Ok(())
    }

    fn sync(&self, from: u64, to: u64, flags: c_uint) -> Result<()> {
        sync_range(self.file.as_fd(), self.file_offset + from, to - from, flags)
    }
}
