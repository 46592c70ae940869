//! The source of copies: the user's file, or the engine's own in each target.

use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::Advice;
use writebench_model::{Cache, Case, Checksums, Origin, SyncCall};

use crate::call::{CallError, Result};
use crate::file::{self, COPIED, Target};
use crate::region::to_usize;
use crate::{page_cache, sync};

pub(crate) struct CopySources {
    given: Option<OwnedFd>,
    // By the number of the target.
    made: HashMap<usize, OwnSource>,
}

struct OwnSource {
    file: OwnedFd,
    bytes: u64,
    seed: u64,
}

impl CopySources {
    pub(crate) fn new(given: Option<OwnedFd>) -> Self {
        Self {
            given,
            made: HashMap::new(),
        }
    }

    /// Each reader reopens it.
    pub(crate) fn get(&self, case: &Case, target: usize) -> Option<BorrowedFd<'_>> {
        let made = || self.made.get(&target).map(|made| &made.file);
        self.given
            .as_ref()
            .or_else(made)
            .filter(|_| case.method().has_source_file())
            .map(AsFd::as_fd)
    }

    /// The data is incompressible.
    pub(crate) fn make(
        &mut self,
        number: usize,
        target: Target<'_>,
        bytes: u64,
        seed: u64,
    ) -> Result<()> {
        let fits = |made: &OwnSource| made.bytes >= bytes && made.seed == seed;
        if self.given.is_some() || self.made.get(&number).is_some_and(fits) {
            return Ok(());
        }
        self.made.remove(&number);
        let Target::Directory(directory) = target else {
            let message = "a device has no room for a source: name one with --from".to_owned();
            return Err(CallError::other("copy", message));
        };
        file::remove(target, COPIED)?;
        let file = file::create_filled(directory, COPIED, bytes, seed, Checksums::Default)?;
        let file = file::reopen_to_read(file.as_fd(), Cache::Buffered)?;
        self.made.insert(number, OwnSource { file, bytes, seed });
        Ok(())
    }
}

/// Brings the source into the page cache, or out of it. Returns a reason to doubt the sample if some bytes did
/// not comply.
pub(crate) fn settle(file: BorrowedFd<'_>, case: &Case) -> Result<Option<String>> {
    let bytes = case.axes().size_bytes;
    let stat = rustix::fs::fstat(file).map_err(|errno| CallError::new("stat", errno))?;
    let length = u64::try_from(stat.st_size).unwrap_or(0);
    if length < bytes {
        let message = format!("the source has {length} bytes, but {bytes} are needed");
        return Err(CallError::other("copy from", message));
    }
    // mincore(2) reports every page as present to other processes.
    let is_reported = stat.st_uid == rustix::process::geteuid().as_raw() || {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
    };
    let resident_bytes = |file: &OwnedFd| -> Result<Option<u64>> {
        let there = page_cache::resident_bytes(file.as_fd(), 0, bytes)?;
        Ok(there.filter(|_| is_reported).map(|there| there.min(bytes)))
    };
    // A descriptor that has read to the end or twice has another read-ahead state than a new one.
    let file = file::reopen_to_read(file, Cache::Buffered)?;
    if case.axes().origin == Origin::Warm {
        if resident_bytes(&file)? == Some(bytes) {
            return Ok(None);
        }
        read_all(&file, bytes)?;
        let there = resident_bytes(&file)?.unwrap_or(bytes);
        let doubt =
            || format!("only {there} of the source's {bytes} bytes remained in the page cache");
        return Ok((there < bytes).then(doubt));
    }
    // The advice does not drop dirty pages.
    sync::sync(file.as_fd(), SyncCall::Fdatasync)?;
    rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)
        .map_err(|errno| CallError::new("posix_fadvise", errno))?;
    let message = match resident_bytes(&file)? {
        Some(0) => return Ok(None),
        Some(there) => {
            format!("{there} of {bytes} bytes remain in the page cache after POSIX_FADV_DONTNEED")
        }
        None if !is_reported => {
            "mincore reports cached pages only to the file's owner, or with permission to write"
                .to_owned()
        }
        None => {
            "the page cache is unknown, because mincore needs a mapping and the filesystem has none"
                .to_owned()
        }
    };
    Err(CallError::unsupported("origin=cold", message))
}

fn read_all(file: &OwnedFd, bytes: u64) -> Result<()> {
    let mut block = vec![0; 1 << 20];
    for at in (0..bytes).step_by(block.len()) {
        let length = block.len().min(to_usize(bytes - at));
        file::read_exact("copy from", file.as_fd(), &mut block[..length], at)?;
    }
    Ok(())
}
