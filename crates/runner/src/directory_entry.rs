//! A name of ours in the target's directory.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::error::{RunnerError, failed};

/// A name in an open directory, which nobody can replace by another directory.
pub(crate) struct DirectoryEntry {
    pub(crate) path: PathBuf,
    pub(crate) parent: OwnedFd,
    pub(crate) name: OsString,
}

impl DirectoryEntry {
    /// The last part of `path` in the open directory `parent`.
    pub(crate) fn in_directory(parent: OwnedFd, path: &Path) -> Result<Self, RunnerError> {
        let name = path.file_name().ok_or_else(|| failed("open", path)(Errno::INVAL))?;
        Ok(Self { path: path.to_path_buf(), parent, name: name.to_os_string() })
    }

    /// No component before the name may be a symbolic link: links were resolved earlier, so a link found now
    /// is new.
    pub(crate) fn at(path: &Path) -> Result<Self, RunnerError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(failed("open", path)(Errno::INVAL));
        };
        match open_without_links(parent) {
            Ok(opened) => Ok(Self { path: path.to_path_buf(), parent: opened, name: name.to_os_string() }),
            Err(Errno::LOOP) => Err(RunnerError::Swapped { path: parent.to_path_buf() }),
            Err(errno) => Err(failed("open", parent)(errno)),
        }
    }

    pub(crate) fn open(&self) -> rustix::io::Result<OwnedFd> {
        rustix::fs::openat(&self.parent, &self.name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
    }

    /// Whether the name still belongs to that directory.
    pub(crate) fn leads_to(&self, directory: &OwnedFd) -> bool {
        let stat = rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let identity = |stat: Stat| (stat.st_dev, stat.st_ino);
        matches!((stat, rustix::fs::fstat(directory)), (Ok(a), Ok(b)) if identity(a) == identity(b))
    }

    pub(crate) fn remove_directory(&self) -> rustix::io::Result<()> {
        rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR)
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a directory if no part of its path is a symbolic link.
pub(crate) fn open_without_links(path: &Path) -> rustix::io::Result<OwnedFd> {
    match rustix::fs::openat2(CWD, path, DIRECTORY, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Before Linux 5.6, or in a sandbox without the call: only the last component is checked.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::open(path, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()),
        opened => opened,
    }
}
