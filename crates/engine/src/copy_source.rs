//! The source of copies: the user's file, or the engine's own in each target.

use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{Access, Advice};
use writebench_model::{Cache, Case, Checksums, Origin, SyncCall};

use crate::call::{CallError, Result};
use crate::file::{self, COPIED, Target};
use crate::region::to_usize;
use crate::{page_cache, sync};

pub(crate) struct CopySources {
    given: Option<OwnedFd>,
    // The engine's own sources, by the number of the target.
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

    /// The source of a case, if it has one. Each reader reopens it.
    pub(crate) fn get(&self, case: &Case, target: usize) -> Option<BorrowedFd<'_>> {
        if !case.method().has_source_file() {
            return None;
        }
        match &self.given {
            Some(given) => Some(given.as_fd()),
            None => self.made.get(&target).map(|made| made.file.as_fd()),
        }
    }

    /// Makes the engine's own source in a target, unless the user's or a present one can be used. The data is
    /// incompressible.
    pub(crate) fn make(
        &mut self,
        number: usize,
        target: Target<'_>,
        bytes: u64,
        seed: u64,
    ) -> Result<()> {
        let has_made = self
            .made
            .get(&number)
            .is_some_and(|made| made.bytes >= bytes && made.seed == seed);
        if self.given.is_some() || has_made {
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
    let bytes = case.given().size_bytes;
    let stat = rustix::fs::fstat(file).map_err(|errno| CallError::new("stat", errno))?;
    let length = u64::try_from(stat.st_size).unwrap_or(0);
    if length < bytes {
        let message = format!("the source has {length} bytes, but {bytes} are needed");
        return Err(CallError::other("copy from", message));
    }
    let is_reported = reports_cached_pages(file, stat.st_uid);
    // A descriptor that has read to the end or twice has another read-ahead state than a new one.
    let source = OpenSource {
        file: file::reopen_to_read(file, Cache::Buffered)?,
        bytes,
        is_reported,
    };
    if case.given().origin == Origin::Warm {
        source.warm()
    } else {
        source.cool().map(|()| None)
    }
}

/// mincore(2) reports every page as present to a process that neither owns the file nor may write to it.
fn reports_cached_pages(file: BorrowedFd<'_>, owner: u32) -> bool {
    if owner == rustix::process::geteuid().as_raw() {
        return true;
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::access(path, Access::WRITE_OK).is_ok()
}

struct OpenSource {
    file: OwnedFd,
    /// The bytes that the case needs.
    bytes: u64,
    is_reported: bool,
}

impl OpenSource {
    /// The needed bytes in the page cache, or `None` if they are unknown.
    fn resident_bytes(&self) -> Result<Option<u64>> {
        let resident = page_cache::resident_bytes(self.file.as_fd(), 0, self.bytes)?;
        Ok(resident
            .filter(|_| self.is_reported)
            .map(|resident| resident.min(self.bytes)))
    }

    /// Brings the source into the page cache. Returns a reason to doubt the sample if some bytes did not remain.
    fn warm(&self) -> Result<Option<String>> {
        let bytes = self.bytes;
        if self.resident_bytes()? == Some(bytes) {
            return Ok(None);
        }
        read_all(&self.file, bytes)?;
        let remained = self.resident_bytes()?.unwrap_or(bytes);
        Ok((remained < bytes).then(|| {
            format!("only {remained} of the source's {bytes} bytes remained in the page cache")
        }))
    }

    /// Drops the source from the page cache. It is an error if some bytes remain, or may remain.
    fn cool(&self) -> Result<()> {
        // The advice does not drop dirty pages.
        sync::sync(self.file.as_fd(), SyncCall::Fdatasync)?;
        rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed)
            .map_err(|errno| CallError::new("posix_fadvise", errno))?;
        let bytes = self.bytes;
        let message = match self.resident_bytes()? {
            Some(0) => return Ok(()),
            Some(remain) => {
                format!(
                    "{remain} of {bytes} bytes remain in the page cache after POSIX_FADV_DONTNEED"
                )
            }
            None if !self.is_reported => {
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
}

fn read_all(file: &OwnedFd, bytes: u64) -> Result<()> {
    let mut block = vec![0; 1 << 20];
    for at in (0..bytes).step_by(block.len()) {
        let length = block.len().min(to_usize(bytes - at));
        file::read_exact("copy from", file.as_fd(), &mut block[..length], at)?;
    }
    Ok(())
}
