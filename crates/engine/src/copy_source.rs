//! The file that is copied: somebody's, or one of our own beside the samples.

use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::Advice;
use writebench_model::{Case, Origin, SyncCall};

use crate::call::{CallError, retry};
use crate::file::{self, COPIED, Target};
use crate::methods::map::{Access, Map};
use crate::sync;

/// The file that is copied, open.
pub(crate) struct CopySource {
    file: OwnedFd,
    // How much our own holds, and of which data; none for somebody's.
    made: Option<(u64, u64)>,
}

/// What is copied into each target: the same file of somebody's, or our own in each.
pub(crate) enum CopySources {
    /// Somebody's file, which is only read.
    Given(CopySource),
    /// Our own, by the number of the target.
    Made(HashMap<usize, CopySource>),
}

impl CopySources {
    /// Somebody's file, or our own where none is given.
    pub(crate) fn new(given: Option<OwnedFd>) -> Self {
        match given {
            Some(file) => Self::Given(CopySource { file, made: None }),
            None => Self::Made(HashMap::new()),
        }
    }

    /// What is copied into that target, where it is there.
    pub(crate) fn of(&self, target: usize) -> Option<&CopySource> {
        match self {
            Self::Given(source) => Some(source),
            Self::Made(made) => made.get(&target),
        }
    }

    /// Our own with at least so many bytes, made where there is none that will do. Incompressible data.
    pub(crate) fn make(
        &mut self,
        number: usize,
        target: Target<'_>,
        bytes: u64,
        seed: u64,
    ) -> Result<(), CallError> {
        let Self::Made(made) = self else { return Ok(()) };
        let will_do = |it: &CopySource| it.made.is_some_and(|(length, of)| length >= bytes && of == seed);
        if made.get(&number).is_some_and(will_do) {
            return Ok(());
        }
        made.remove(&number);
        made.insert(number, CopySource::make(target, bytes, seed)?);
        Ok(())
    }
}

impl CopySource {
    fn make(target: Target<'_>, bytes: u64, seed: u64) -> Result<Self, CallError> {
        let Target::Directory(directory) = target else {
            return Err(CallError::other(
                "copy",
                "a device has no place for a file to copy; give --from".to_owned(),
            ));
        };
        file::remove(target, COPIED)?;
        let file = file::create_filled(directory, COPIED, bytes, seed)?;
        let file = file::reopen_to_read(file.as_fd()).map_err(|error| error.of_file(COPIED))?;
        Ok(Self { file, made: Some((bytes, seed)) })
    }

    /// The file, to be opened again by whoever reads it.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Brings the first `size` bytes into the page cache, or out of it, as the case asks, and looks whether they
    /// are. Why the sample would not be itself, if they are not all there.
    pub(crate) fn settle(&self, case: &Case) -> Result<Option<String>, CallError> {
        self.bring_in_or_out(case).map_err(|error| error.of_file(COPIED))
    }

    fn bring_in_or_out(&self, case: &Case) -> Result<Option<String>, CallError> {
        let bytes = case.axes().size_bytes;
        let length = rustix::fs::fstat(&self.file).map_err(|errno| CallError::new("stat", errno))?.st_size;
        let length = u64::try_from(length).unwrap_or(0);
        if length < bytes {
            let message = format!("the file has {length} bytes, and {bytes} are to be copied");
            return Err(CallError::other("copy from", message));
        }
        // One that is read from its end or twice leaves another read-ahead behind than a fresh one.
        let file = file::reopen_to_read(self.file())?;
        match case.axes().origin {
            Origin::Warm => {
                read_all(&file, bytes)?;
                // Whoever may not ask is not told otherwise.
                let there = if may_ask(&file)? { resident_bytes(&file, bytes)? } else { bytes };
                Ok((there < bytes).then(|| {
                    format!("only {there} of {bytes} bytes of the copied file stayed in the page cache")
                }))
            }
            Origin::Cold => {
                // Dirty pages stay.
                sync::sync(file.as_fd(), SyncCall::Fdatasync)?;
                rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)
                    .map_err(|errno| CallError::new("posix_fadvise", errno))?;
                if !may_ask(&file)? {
                    let message =
                        "mincore tells only who owns the file, or may write to it, what is in the page cache";
                    return Err(CallError::unsupported("origin=cold", message.to_owned()));
                }
                match resident_bytes(&file, bytes)? {
                    0 => Ok(None),
                    there => {
                        let message = format!(
                            "{there} of {bytes} bytes stay in the page cache after POSIX_FADV_DONTNEED"
                        );
                        Err(CallError::unsupported("origin=cold", message))
                    }
                }
            }
        }
    }
}

/// Whether mincore(2) tells this process the truth: to others the kernel says that every page is there.
fn may_ask(file: &OwnedFd) -> Result<bool, CallError> {
    let stat = rustix::fs::fstat(file).map_err(|errno| CallError::new("stat", errno))?;
    if stat.st_uid == rustix::process::geteuid().as_raw() {
        return Ok(true);
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok())
}

fn resident_bytes(file: &OwnedFd, bytes: u64) -> Result<u64, CallError> {
    Map::new(file.as_fd(), 0, bytes, Access::Read)?.resident_bytes().map(|there| there.min(bytes))
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
