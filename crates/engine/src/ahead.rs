//! Rolling preallocation: blocks for the next bytes of a file whose length is not known yet.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::FallocateFlags;
use writebench_model::{Choices, Prepare, SyncCall};

use crate::call::{Result, retry};

/// The blocks reserved ahead of a thread's writes.
pub(crate) struct Ahead {
    file: Arc<OwnedFd>,
    reserved_bytes: u64,
}

impl Ahead {
    pub(crate) fn new(choices: &Choices, file: &Arc<OwnedFd>) -> Option<Self> {
        (choices.prepare == Prepare::FallocateAhead).then(|| Self {
            file: file.clone(),
            reserved_bytes: 0,
        })
    }

    /// Makes sure that a write that ends at `end` has its blocks.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, end: u64) -> Result<()> {
        if end <= self.reserved_bytes {
            Ok(())
        } else {
            self.reserve_more(end)
        }
    }

    #[cold]
    fn reserve_more(&mut self, end: u64) -> Result<()> {
        let from = self.reserved_bytes;
        let length = Prepare::AHEAD_BYTES.max(end - from);
        retry("fallocate", || {
            rustix::fs::fallocate(&self.file, FallocateFlags::empty(), from, length)
        })
        .map_err(|error| error.at(from))?;
        self.reserved_bytes += length;
        Ok(())
    }

    /// Cuts the file to its data.
    pub(crate) fn finish(self, choices: &Choices, bytes: u64) -> Result<()> {
        retry("ftruncate", || rustix::fs::ftruncate(&self.file, bytes))?;
        // Syncs on the way have made the longer file durable, so the new length needs one too.
        let sync = if choices.sync.is_on_the_way() {
            SyncCall::Fdatasync
        } else {
            SyncCall::None
        };
        crate::sync::sync(self.file.as_fd(), sync)
    }
}
