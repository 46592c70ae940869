//! Opening and removing files by the rules of care: only what we created, by name in a directory that
//! is held open, never through a link.

use std::os::fd::{BorrowedFd, OwnedFd};

use model::{Case, Cursor, Prepare};
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::call::{CallError, retry};

const MODE: Mode = Mode::from_raw_mode(0o600);

/// The name of a part's file.
pub fn name(stem: &str, case: &Case, part: usize) -> String {
    if case.file_count() == 1 { stem.to_owned() } else { format!("{stem}-{part}") }
}

/// Opens a file the way its case's `prepare` asks for. A file that must be new is created exclusively.
pub fn open(directory: BorrowedFd<'_>, name: &str, case: &Case) -> Result<OwnedFd, CallError> {
    let flags = match case.axes().prepare {
        Prepare::Create | Prepare::SetLen | Prepare::Fallocate | Prepare::PosixFallocate => {
            OFlags::CREATE | OFlags::EXCL
        }
        Prepare::Truncate => OFlags::TRUNC,
        Prepare::Overwrite => OFlags::empty(),
    };
    open_with(directory, name, access(case) | flags)
}

/// Opens once more what [`open`] opened.
pub fn open_again(directory: BorrowedFd<'_>, name: &str, case: &Case) -> Result<OwnedFd, CallError> {
    open_with(directory, name, access(case))
}

/// Creates a file that must not exist yet.
pub fn create(directory: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, CallError> {
    open_with(directory, name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
}

/// Opens for reading.
pub fn open_to_read(directory: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, CallError> {
    open_with(directory, name, OFlags::RDONLY)
}

/// Removes a file; that it is not there is no error.
pub fn remove(directory: BorrowedFd<'_>, name: &str) -> Result<(), CallError> {
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(errno) => Err(CallError::new("unlink", errno)),
    }
}

/// Closes, and says if the filesystem reports a late error: see close(2) on NFS and quotas. After
/// EINTR Linux has closed the descriptor.
pub fn close(file: OwnedFd) -> Result<(), CallError> {
    match nix::unistd::close(file) {
        Ok(()) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(errno) => Err(CallError::new("close", rustix::io::Errno::from_raw_os_error(errno as i32))),
    }
}

// A shared writable mapping needs a descriptor that can read: mmap(2), EACCES.
fn access(case: &Case) -> OFlags {
    if case.method().cursor == Cursor::Mapping { OFlags::RDWR } else { OFlags::WRONLY }
}

fn open_with(directory: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<OwnedFd, CallError> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    retry("open", || rustix::fs::openat(directory, name, flags, MODE))
}
