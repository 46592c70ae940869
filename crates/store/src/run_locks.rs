//! Locks of runs in progress. Each run locks the byte of its number in a file next to the database. The
//! kernel releases the lock at any end of the program, and readers can test it without taking it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use crate::in_place;
use crate::ownership::{RUN_LOCKS, beside};

/// Opens the file to lock runs, and makes it if necessary.
pub(crate) fn open(database: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW);
    options.open(beside(database, RUN_LOCKS))
}

/// Whether other programs find this file at its path.
pub(crate) fn is_in_place(file: &File, database: &Path) -> bool {
    let at_path = beside(database, RUN_LOCKS).symlink_metadata();
    file.metadata()
        .and_then(|open| {
            Ok(in_place::device_and_inode(&open) == in_place::device_and_inode(&at_path?))
        })
        .unwrap_or(false)
}

/// Locks a run until the file is closed. Returns false if another process has the lock.
pub(crate) fn try_lock(file: &File, run: i64) -> io::Result<bool> {
    match fcntl(file, FcntlArg::F_OFD_SETLK(&lock_of(run))) {
        Ok(_) => Ok(true),
        Err(nix::Error::EAGAIN | nix::Error::EACCES) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens the file to test its locks. There is none if no run was ever in progress.
pub(crate) fn open_to_test(database: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW);
    match options.open(beside(database, RUN_LOCKS)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether another open file has the lock of a run. The file's own locks do not conflict.
pub(crate) fn is_locked(file: &File, run: i64) -> io::Result<bool> {
    if run < 0 {
        // Only a database from elsewhere has such a number, which cannot be a position in a file.
        return Ok(false);
    }
    let mut lock = lock_of(run);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock))?;
    Ok(i32::from(lock.l_type) != libc::F_UNLCK)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "constants of fcntl(2), each of them below 8"
)]
fn lock_of(run: i64) -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: run,
        l_len: 1,
        l_pid: 0,
    }
}
