//! The directory in the target that a run works in: made by it, owned by it, removed by it.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};

use crate::error::RunnerError;

/// Held under an exclusive lock for as long as the run lives; the kernel lets go when it dies.
const OWNER: &str = "owner";

/// A directory of our own in the target: mode 0700, with a name that nobody else has.
pub struct Workspace {
    path: PathBuf,
    directory: OwnedFd,
    // Kept open for its lock.
    _owner: OwnedFd,
}

impl Workspace {
    /// The path that [`Workspace::create`] will use.
    #[must_use]
    pub fn path_in(target: &Path, id: &str) -> PathBuf {
        target.join(format!(".writebench-{id}"))
    }

    /// Makes the directory `.writebench-ID` in `target`; `id` must be random.
    ///
    /// # Errors
    /// The target is missing, is no directory, or cannot be written.
    pub fn create(target: &Path, id: &str) -> Result<Self, RunnerError> {
        let path = Self::path_in(target, id);
        let failed = |call, errno: rustix::io::Errno| RunnerError::Target {
            call,
            path: path.clone(),
            error: io::Error::from(errno),
        };
        rustix::fs::mkdir(&path, Mode::RWXU).map_err(|errno| failed("mkdir", errno))?;
        let made = open_directory(&path).map_err(|errno| failed("open", errno)).and_then(|directory| {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let owner = rustix::fs::openat(&directory, OWNER, flags, Mode::RUSR | Mode::WUSR)
                .map_err(|errno| failed("open", errno))?;
            rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive)
                .map_err(|errno| failed("flock", errno))?;
            Ok(Self { path: path.clone(), directory, _owner: owner })
        });
        if made.is_err() {
            let _ = std::fs::remove_file(path.join(OWNER));
            let _ = std::fs::remove_dir(&path);
        }
        made
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Device and inode, as in stat(2): what the worker and a later run know it by.
    ///
    /// # Errors
    /// The filesystem does not answer.
    pub fn identity(&self) -> Result<(u64, u64), RunnerError> {
        identity(&self.directory).map_err(|errno| self.failed("stat", errno))
    }

    /// Removes what a worker left that did not live to remove it.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove_samples(&self) -> Result<(), RunnerError> {
        remove_files(&self.directory, |name| name != OWNER.as_bytes())
            .map_err(|errno| self.failed("unlink", errno))
    }

    /// Removes all of it.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove(self) -> Result<(), RunnerError> {
        remove_files(&self.directory, |_| true).map_err(|errno| self.failed("unlink", errno))?;
        rustix::fs::rmdir(&self.path).map_err(|errno| self.failed("rmdir", errno))
    }

    fn failed(&self, call: &'static str, errno: rustix::io::Errno) -> RunnerError {
        RunnerError::Target { call, path: self.path.clone(), error: io::Error::from(errno) }
    }
}

/// What became of a directory that an earlier run had made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOver {
    /// Removed now.
    Removed,
    /// There is none there any more, or another one: not ours to touch.
    Gone,
    /// Its run is still at work.
    InUse,
}

/// Removes the directory of a run that did not live to do it: if it is the one that was recorded, by
/// device and inode, and nobody holds its lock. Where both are 0 the run died between recording the
/// name and making the directory: then the name, which is random, must do.
///
/// # Errors
/// It is ours and cannot be removed.
pub fn remove_left_over(path: &Path, recorded: (u64, u64)) -> Result<LeftOver, RunnerError> {
    let failed = |call, errno: rustix::io::Errno| RunnerError::Target {
        call,
        path: path.to_path_buf(),
        error: io::Error::from(errno),
    };
    let directory = match open_directory(path) {
        Ok(directory) => directory,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) => {
            return Ok(LeftOver::Gone);
        }
        Err(errno) => return Err(failed("open", errno)),
    };
    let found = identity(&directory).map_err(|errno| failed("stat", errno))?;
    if recorded != (0, 0) && found != recorded {
        return Ok(LeftOver::Gone);
    }
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Without the file its run died right after making the directory, or right before removing it.
    if let Ok(owner) = rustix::fs::openat(&directory, OWNER, flags, Mode::empty())
        && rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive).is_err()
    {
        return Ok(LeftOver::InUse);
    }
    remove_files(&directory, |_| true).map_err(|errno| failed("unlink", errno))?;
    rustix::fs::rmdir(path).map_err(|errno| failed("rmdir", errno))?;
    Ok(LeftOver::Removed)
}

fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

fn identity(directory: &OwnedFd) -> rustix::io::Result<(u64, u64)> {
    let stat = rustix::fs::fstat(directory)?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Removes files, by name in the open directory. A directory in it is not ours and stays: then the
/// caller's rmdir says so.
fn remove_files(directory: &OwnedFd, which: fn(&[u8]) -> bool) -> rustix::io::Result<()> {
    for entry in rustix::fs::Dir::read_from(directory.as_fd())? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        let is_link_to_directory = matches!(name.to_bytes(), b"." | b"..");
        if is_link_to_directory || !which(name.to_bytes()) {
            continue;
        }
        match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT | rustix::io::Errno::ISDIR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn files_in(path: &Path) -> usize {
        std::fs::read_dir(path).unwrap().count()
    }

    #[test]
    fn it_removes_all_that_it_made_and_nothing_beside_it() {
        let target = tempfile::tempdir().unwrap();
        File::create(target.path().join("theirs")).unwrap();
        let workspace = Workspace::create(target.path(), "test").unwrap();
        File::create(workspace.path().join("sample")).unwrap();
        workspace.remove_samples().unwrap();
        assert_eq!(files_in(workspace.path()), 1, "only the owner's file");
        File::create(workspace.path().join("sample")).unwrap();
        workspace.remove().unwrap();
        assert_eq!(files_in(target.path()), 1);
    }

    #[test]
    fn a_left_over_is_removed_once_its_run_is_gone() {
        let target = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(target.path(), "test").unwrap();
        let (path, identity) = (workspace.path().to_path_buf(), workspace.identity().unwrap());
        File::create(path.join("sample")).unwrap();
        assert_eq!(remove_left_over(&path, identity).unwrap(), LeftOver::InUse);
        drop(workspace); // As if killed: nothing is removed, the lock is gone.
        assert_eq!(remove_left_over(&path, identity).unwrap(), LeftOver::Removed);
        assert_eq!(remove_left_over(&path, identity).unwrap(), LeftOver::Gone);
        assert_eq!(files_in(target.path()), 0);
    }

    #[test]
    fn what_took_its_place_is_not_touched() {
        let target = tempfile::tempdir().unwrap();
        let theirs = target.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        File::create(theirs.join("precious")).unwrap();
        let path = target.path().join(".writebench-test");
        std::fs::create_dir(&path).unwrap();
        File::create(path.join("precious")).unwrap();
        assert_eq!(remove_left_over(&path, (1, 2)).unwrap(), LeftOver::Gone);
        assert!(path.join("precious").exists());
        std::fs::remove_dir_all(&path).unwrap();
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        let stat = rustix::fs::stat(&theirs).unwrap();
        assert_eq!(remove_left_over(&path, (stat.st_dev, stat.st_ino)).unwrap(), LeftOver::Gone);
        assert!(theirs.join("precious").exists());
    }
}
