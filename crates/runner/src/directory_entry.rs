use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::error::{RunnerError, failed};

/// A name in an open directory, which no other process can replace by another directory.
pub(crate) struct DirectoryEntry {
    pub(crate) path: PathBuf,
    pub(crate) parent: OwnedFd,
    pub(crate) name: OsString,
}

impl DirectoryEntry {
    pub(crate) fn in_directory(parent: OwnedFd, path: &Path) -> Result<Self, RunnerError> {
        let name = path
            .file_name()
            .ok_or_else(|| failed("open", path)(Errno::INVAL))?;
        Ok(Self {
            path: path.to_path_buf(),
            parent,
            name: name.to_os_string(),
        })
    }

    /// No component before the name may be a symbolic link. Links were resolved earlier, so a link found
    /// now is new.
    pub(crate) fn at(path: &Path) -> Result<Self, RunnerError> {
        let parent = path
            .parent()
            .ok_or_else(|| failed("open", path)(Errno::INVAL))?;
        Self::in_directory(open_resolved(parent)?, path)
    }

    pub(crate) fn open(&self) -> rustix::io::Result<OwnedFd> {
        rustix::fs::openat(
            &self.parent,
            &self.name,
            DIRECTORY | OFlags::NOFOLLOW,
            Mode::empty(),
        )
    }

    pub(crate) fn leads_to(&self, directory: &OwnedFd) -> bool {
        let named = rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let opened = rustix::fs::fstat(directory);
        matches!((named, opened), (Ok(named), Ok(opened)) if identity(&named) == identity(&opened))
    }

    pub(crate) fn remove_directory(&self) -> rustix::io::Result<()> {
        rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR)
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

pub(crate) fn identity(stat: &Stat) -> [u64; 2] {
    [stat.st_dev, stat.st_ino]
}

pub(crate) fn identity_of_open(file: &OwnedFd, path: &Path) -> Result<[u64; 2], RunnerError> {
    Ok(identity(
        &rustix::fs::fstat(file).map_err(failed("stat", path))?,
    ))
}

pub(crate) fn open_resolved(path: &Path) -> Result<OwnedFd, RunnerError> {
    open_without_links(path).map_err(|errno| match errno {
        Errno::LOOP => RunnerError::Swapped {
            path: path.to_path_buf(),
        },
        errno => failed("open", path)(errno),
    })
}

pub(crate) fn open_without_links(path: &Path) -> rustix::io::Result<OwnedFd> {
    match rustix::fs::openat2(
        CWD,
        path,
        DIRECTORY,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    ) {
        // Before Linux 5.6, or in a sandbox without the call, only the last component is checked.
        Err(Errno::NOSYS | Errno::PERM) => {
            rustix::fs::open(path, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
        }
        opened => opened,
    }
}
