//! Which runs are under way: each holds a lock on the byte of its number, in a file beside the database. The kernel
//! releases it however the program ends, and any number of readers can ask without taking it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use crate::ownership::beside;

const SUFFIX: &str = "-runs";

/// The file, made if it is missing, to hold locks in.
pub(crate) fn open(database: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options.open(beside(database, SUFFIX))
}

/// Takes the lock of a run; false if somebody else has it. It lasts until the file is closed.
pub(crate) fn take(file: &File, run: i64) -> io::Result<bool> {
    match fcntl(file, FcntlArg::F_OFD_SETLK(&lock_of(run))) {
        Ok(_) => Ok(true),
        Err(nix::Error::EAGAIN | nix::Error::EACCES) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// The file, to ask for locks in; none if no run was ever under way.
pub(crate) fn open_to_ask(database: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(beside(database, SUFFIX)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether anybody has the lock of a run, but through this very file: its own locks are in nobody's way.
pub(crate) fn is_taken(file: &File, run: i64) -> io::Result<bool> {
    if run < 0 {
        // Only a stranger's database has such a number, which is no place in a file.
        return Ok(false);
    }
    let mut lock = lock_of(run);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock))?;
    Ok(i32::from(lock.l_type) != libc::F_UNLCK)
}

#[expect(clippy::cast_possible_truncation, reason = "constants of fcntl(2), each of them below 8")]
fn lock_of(run: i64) -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: run,
        l_len: 1,
        l_pid: 0,
    }
}
