//! The directory in the target that a run works in: made by it, owned by it, removed by it.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::error::RunnerError;

/// What our names begin with.
const PREFIX: &str = ".writebench-";

/// Holds the workspace's id, and an exclusive lock for as long as the run lives; the kernel lets go
/// when it dies.
const OWNER: &str = "owner";

/// A directory of our own in the target: mode 0700, with a name that nobody else has. Removed with all
/// that is in it when dropped.
pub struct Workspace {
    path: PathBuf,
    directory: OwnedFd,
    // Kept open for its lock.
    _owner: OwnedFd,
    removed: bool,
}

impl Workspace {
    /// The path that [`Workspace::create`] will use.
    #[must_use]
    pub fn path_in(target: &Path, id: &str) -> PathBuf {
        target.join(format!("{PREFIX}{id}"))
    }

    /// Makes the directory `.writebench-ID` in `target`; `id` must be random.
    ///
    /// # Errors
    /// The target is missing, is no directory, or cannot be written.
    pub fn create(target: &Path, id: &str) -> Result<Self, RunnerError> {
        let path = Self::path_in(target, id);
        let failed = |call, errno: Errno| error(call, &path, errno);
        rustix::fs::mkdir(&path, Mode::RWXU).map_err(|errno| failed("mkdir", errno))?;
        let made = open_directory(&path).map_err(|errno| failed("open", errno)).and_then(|directory| {
            let owner = make_owner(&directory, id).map_err(|(call, errno)| failed(call, errno))?;
            Ok(Self { path: path.clone(), directory, _owner: owner, removed: false })
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

    /// Device and inode, as in stat(2): what the worker knows it by.
    ///
    /// # Errors
    /// The filesystem does not answer.
    pub fn identity(&self) -> Result<(u64, u64), RunnerError> {
        let stat = rustix::fs::fstat(&self.directory).map_err(|errno| error("stat", &self.path, errno))?;
        Ok((stat.st_dev, stat.st_ino))
    }

    /// Removes what a worker left that did not live to remove it.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove_samples(&self) -> Result<(), RunnerError> {
        remove_samples(&self.directory).map_err(|errno| error("unlink", &self.path, errno))
    }

    /// Removes all of it.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove(mut self) -> Result<(), RunnerError> {
        self.removed = true;
        remove_all(&self.path, &self.directory)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if !self.removed {
            let _ = remove_all(&self.path, &self.directory);
        }
    }
}

/// What became of a directory that an earlier run had made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOver {
    /// Removed now.
    Removed,
    /// Not there, or what is there is not the run's: nothing was touched.
    NotThere,
    /// Its run is still at work.
    InUse,
}

/// Removes the directory of a run that did not live to do it: if it is a directory, ours, holds the
/// file with the random id of its name, and nobody holds that file's lock.
///
/// # Errors
/// It is ours and cannot be removed.
pub fn remove_left_over(path: &Path) -> Result<LeftOver, RunnerError> {
    let directory = match open_directory(path) {
        Ok(directory) => directory,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(LeftOver::NotThere),
        Err(errno) => return Err(error("open", path, errno)),
    };
    let stat = rustix::fs::fstat(&directory).map_err(|errno| error("stat", path, errno))?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(LeftOver::NotThere);
    }
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(owner) = rustix::fs::openat(&directory, OWNER, flags, Mode::empty()) else {
        // Its run died right after making it or right before removing it: then it is empty.
        return Ok(if rustix::fs::rmdir(path).is_ok() { LeftOver::Removed } else { LeftOver::NotThere });
    };
    if rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(LeftOver::InUse);
    }
    let mut id = [0; 64];
    let length = rustix::io::pread(&owner, &mut id, 0).map_err(|errno| error("read", path, errno))?;
    let name = path.file_name().map(OsStrExt::as_bytes).and_then(|name| name.strip_prefix(PREFIX.as_bytes()));
    // Its run died before it had written the id: then there is nothing beside that empty file.
    let is_new = length == 0 && is_alone(&directory).map_err(|errno| error("read", path, errno))?;
    if !is_new && name != Some(&id[..length]) {
        return Ok(LeftOver::NotThere);
    }
    remove_all(path, &directory)?;
    Ok(LeftOver::Removed)
}

/// Whether a run is at work there.
#[must_use]
pub fn is_in_use(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path.join(OWNER), flags, Mode::empty()).is_ok_and(|owner| {
        rustix::fs::flock(&owner, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
    })
}

fn error(call: &'static str, path: &Path, errno: Errno) -> RunnerError {
    RunnerError::Target { call, path: path.to_path_buf(), error: io::Error::from(errno) }
}

fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

fn make_owner(directory: &OwnedFd, id: &str) -> Result<OwnedFd, (&'static str, Errno)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let owner = rustix::fs::openat(directory, OWNER, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|errno| ("open", errno))?;
    match rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive) {
        // Where there are no locks, nothing shows that a run is gone, and what it left stays.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK) => {}
        Err(errno) => return Err(("flock", errno)),
    }
    rustix::io::write(&owner, id.as_bytes()).map_err(|errno| ("write", errno))?;
    Ok(owner)
}

fn remove_all(path: &Path, directory: &OwnedFd) -> Result<(), RunnerError> {
    remove_samples(directory).map_err(|errno| error("unlink", path, errno))?;
    // Last, so that a directory without it is empty.
    match rustix::fs::unlinkat(directory, OWNER, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(error("unlink", path, errno)),
    }
    match rustix::fs::rmdir(path) {
        // Somebody removed it. Where its filesystem was unmounted instead, it is still there to be removed later.
        Err(Errno::NOENT) if rustix::fs::fstat(directory).is_ok_and(|stat| stat.st_nlink == 0) => Ok(()),
        removed => removed.map_err(|errno| error("rmdir", path, errno)),
    }
}

/// Whether there is nothing but the owner's file.
fn is_alone(directory: &OwnedFd) -> rustix::io::Result<bool> {
    for entry in rustix::fs::Dir::read_from(directory.as_fd())? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") && name != OWNER.as_bytes() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes files, by name in the open directory. A directory in it is not ours and stays: then the
/// rmdir says so.
fn remove_samples(directory: &OwnedFd) -> rustix::io::Result<()> {
    for entry in rustix::fs::Dir::read_from(directory.as_fd())? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") || name.to_bytes() == OWNER.as_bytes() {
            continue;
        }
        match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT | Errno::ISDIR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    const ID: &str = "0123456789abcdef";

    fn files_in(path: &Path) -> usize {
        std::fs::read_dir(path).unwrap().count()
    }

    /// As a run that was killed leaves it.
    fn left_over(target: &Path) -> PathBuf {
        let path = Workspace::path_in(target, ID);
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(OWNER), ID).unwrap();
        File::create(path.join("sample")).unwrap();
        path
    }

    #[test]
    fn it_removes_all_that_it_made_and_nothing_beside_it() {
        let target = tempfile::tempdir().unwrap();
        File::create(target.path().join("theirs")).unwrap();
        let workspace = Workspace::create(target.path(), ID).unwrap();
        File::create(workspace.path().join("sample")).unwrap();
        workspace.remove_samples().unwrap();
        assert_eq!(files_in(workspace.path()), 1, "only the owner's file");
        File::create(workspace.path().join("sample")).unwrap();
        workspace.remove().unwrap();
        assert_eq!(files_in(target.path()), 1);
        drop(Workspace::create(target.path(), ID).unwrap());
        assert_eq!(files_in(target.path()), 1, "also when something else ends the run");
    }

    #[test]
    fn a_left_over_is_removed_once_its_run_is_gone() {
        let target = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(target.path(), ID).unwrap();
        let path = workspace.path().to_path_buf();
        assert!(is_in_use(&path));
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::InUse);
        drop(workspace);
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::NotThere);
        left_over(target.path());
        assert!(!is_in_use(&path));
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::Removed);
        std::fs::create_dir(&path).unwrap();
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::Removed, "killed between two steps");
        assert_eq!(files_in(target.path()), 0);
        std::fs::create_dir(&path).unwrap();
        File::create(path.join(OWNER)).unwrap();
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::Removed, "killed before it wrote its id");
        assert_eq!(files_in(target.path()), 0);
    }

    #[test]
    fn what_is_gone_needs_no_removal() {
        let target = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(target.path(), ID).unwrap();
        std::fs::remove_dir_all(target.path()).unwrap();
        workspace.remove_samples().unwrap();
        workspace.remove().unwrap();
    }

    #[test]
    fn what_took_its_place_is_not_touched() {
        let target = tempfile::tempdir().unwrap();
        let theirs = target.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        std::fs::write(theirs.join(OWNER), ID).unwrap();
        let path = Workspace::path_in(target.path(), ID);
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::NotThere, "a link");
        std::fs::remove_file(&path).unwrap();
        File::create(&path).unwrap();
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::NotThere, "a file");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        File::create(path.join("precious")).unwrap();
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::NotThere, "no owner");
        std::fs::write(path.join(OWNER), "another").unwrap();
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::NotThere, "another owner");
        File::create(path.join(OWNER)).unwrap();
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::NotThere, "an empty owner beside something");
        assert!(path.join("precious").exists() && theirs.join(OWNER).exists());
    }
}
