//! The file that is copied: the user's, or our own beside the samples.

use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::Advice;
use writebench_model::{Cache, Case, Origin, SyncCall};

use crate::call::{CallError, retry};
use crate::file::{self, COPIED, Target};
use crate::methods::map::Map;
use crate::sync;

/// The file that is copied into each target: one that the user named, which is only read, or our own in each
/// target.
pub(crate) struct CopySources {
    given: Option<OwnedFd>,
    // Our own files, by the number of the target.
    made: HashMap<usize, OwnSource>,
}

/// Our own file, open.
struct OwnSource {
    file: OwnedFd,
    bytes: u64,
    seed: u64,
}

impl CopySources {
    /// Uses the user's file, or our own if none is given.
    pub(crate) fn new(given: Option<OwnedFd>) -> Self {
        Self { given, made: HashMap::new() }
    }

    /// The file that a case copies into that target, if the case copies and the file exists. Each reader
    /// reopens it.
    pub(crate) fn get(&self, case: &Case, target: usize) -> Option<BorrowedFd<'_>> {
        let made = || self.made.get(&target).map(|made| &made.file);
        self.given.as_ref().or_else(made).filter(|_| case.method().has_source_file()).map(AsFd::as_fd)
    }

    /// Makes our own file of incompressible data with at least this many bytes, unless a suitable one exists.
    pub(crate) fn make(
        &mut self,
        number: usize,
        target: Target<'_>,
        bytes: u64,
        seed: u64,
    ) -> Result<(), CallError> {
        let fits = |made: &OwnSource| made.bytes >= bytes && made.seed == seed;
        if self.given.is_some() || self.made.get(&number).is_some_and(fits) {
            return Ok(());
        }
        self.made.remove(&number);
        let Target::Directory(directory) = target else {
            let message = "a device has no place for a file to copy; give --from".to_owned();
            return Err(CallError::other("copy", message));
        };
        file::remove(target, COPIED)?;
        let file = file::create_filled(directory, COPIED, bytes, seed)?;
        let file =
            file::reopen_to_read(file.as_fd(), Cache::Buffered).map_err(|error| error.with_path(COPIED))?;
        self.made.insert(number, OwnSource { file, bytes, seed });
        Ok(())
    }
}

/// Brings the copied bytes of the file into the page cache, or out of it, as the case requires, and checks
/// the result. Returns a reason to doubt the sample if not all bytes complied.
pub(crate) fn settle(file: BorrowedFd<'_>, case: &Case) -> Result<Option<String>, CallError> {
    bring_in_or_out(file, case).map_err(|error| error.with_path(COPIED))
}

fn bring_in_or_out(file: BorrowedFd<'_>, case: &Case) -> Result<Option<String>, CallError> {
    let bytes = case.axes().size_bytes;
    let length = rustix::fs::fstat(file).map_err(|errno| CallError::new("stat", errno))?.st_size;
    let length = u64::try_from(length).unwrap_or(0);
    if length < bytes {
        let message = format!("the file has {length} bytes, and {bytes} are to be copied");
        return Err(CallError::other("copy from", message));
    }
    // A descriptor that has read to the end or read twice leaves a different read-ahead state than a fresh
    // one.
    let file = file::reopen_to_read(file, Cache::Buffered)?;
    if case.axes().origin == Origin::Warm {
        let asks = may_ask(&file)?;
        if asks && resident_bytes(&file, bytes)? == bytes {
            return Ok(None);
        }
        read_all(&file, bytes)?;
        // To a process that may not ask, the kernel reports every page as present.
        let there = if asks { resident_bytes(&file, bytes)? } else { bytes };
        let doubt = || format!("only {there} of {bytes} bytes of the copied file stayed in the page cache");
        return Ok((there < bytes).then(doubt));
    }
    // The advice does not drop dirty pages.
    sync::sync(file.as_fd(), SyncCall::Fdatasync)?;
    rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)
        .map_err(|errno| CallError::new("posix_fadvise", errno))?;
    let message = if may_ask(&file)? {
        match resident_bytes(&file, bytes)? {
            0 => return Ok(None),
            there => format!("{there} of {bytes} bytes stay in the page cache after POSIX_FADV_DONTNEED"),
        }
    } else {
        "mincore tells only who owns the file, or may write to it, what is in the page cache".to_owned()
    };
    Err(CallError::unsupported("origin=cold", message))
}

/// Whether mincore(2) tells this process the truth: otherwise the kernel reports every page as present.
fn may_ask(file: &OwnedFd) -> Result<bool, CallError> {
    let stat = rustix::fs::fstat(file).map_err(|errno| CallError::new("stat", errno))?;
    if stat.st_uid == rustix::process::geteuid().as_raw() {
        return Ok(true);
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok())
}

fn resident_bytes(file: &OwnedFd, bytes: u64) -> Result<u64, CallError> {
    Map::reading(file.as_fd(), 0, bytes)?.resident_bytes().map(|there| there.min(bytes))
}

fn read_all(file: &OwnedFd, bytes: u64) -> Result<(), CallError> {
    let mut block = vec![0; 1 << 20];
    let mut at = 0;
    while at < bytes {
        let read = retry("pread", || rustix::io::pread(file, block.as_mut_slice(), at));
        match read.map_err(|error| error.at(at))? {
            0 => return Err(CallError::other("copy from", "the file ends too early".to_owned()).at(at)),
            read => at += read as u64,
        }
    }
    Ok(())
}
