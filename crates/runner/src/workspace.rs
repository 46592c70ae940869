//! The directory in the target that a run works in: made by it, owned by it, removed by it.
//!
//! These are calls on the target, so only a keeper makes them: see [`crate::keeper`].

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::{RunnerError, failed};
use crate::place::Place;

/// The beginning of our names.
pub(crate) const PREFIX: &str = ".writebench-";

/// Hexadecimal digits of an id: 128 random bits, so that a name with one is nobody else's.
pub(crate) const ID_DIGITS: usize = 32;

/// Holds the workspace's id, and an exclusive lock for as long as the run lives; the kernel lets go
/// when its keeper dies.
pub(crate) const OWNER: &str = "owner";

/// Another run that tidies up may take a directory away before it has its owner file.
const TRIES: u32 = 8;

/// How long a filesystem may keep a removed file that was open: FUSE hears of the last close later, and
/// gives the file another name until then.
const LATE_CLOSE: Duration = Duration::from_secs(3);

/// A directory of our own in the target: mode 0700, with a name that nobody else has.
pub(crate) struct Workspace {
    place: Place,
    directory: OwnedFd,
    // Kept open for its lock.
    owner: OwnedFd,
}

/// What became of a directory that a run had made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftOver {
    /// Removed now.
    Removed,
    /// Not there, or what is there is not the run's: nothing was touched.
    NotThere,
    /// The directory above it is not there either: a disk that is not mounted now may come back with it.
    Away,
    /// Its run is still at work.
    InUse,
    /// Its run is gone, but that process has it or something in it open, as a worker that hangs in the kernel: whoever
    /// removes what it waits for, waits with it.
    Held(u32),
    /// The filesystem still keeps files of it that were open when they were removed.
    KeepsFiles,
}

/// The path of the workspace with that id in a target.
#[must_use]
pub fn workspace_path(target: &Path, id: &str) -> PathBuf {
    target.join(format!("{PREFIX}{id}"))
}

impl Workspace {
    /// Makes the directory `.writebench-ID` in the open directory `target`, which `path` leads to; `id` must be [`ID_DIGITS`] random
    /// digits, or no later run would know the directory.
    pub(crate) fn create(target: &OwnedFd, path: &Path, id: &str) -> Result<Self, RunnerError> {
        let path = workspace_path(path, id);
        for _ in 0..TRIES {
            let parent = target.try_clone().map_err(failed("dup", &path))?;
            let place = Place::in_directory(parent, &path)?;
            rustix::fs::mkdirat(&place.parent, &place.name, Mode::RWXU).map_err(failed("mkdir", &path))?;
            let directory = match place.open() {
                Ok(directory) => directory,
                Err(Errno::NOENT) => continue,
                Err(errno) => {
                    let _ = place.remove_empty();
                    return Err(failed("open", &path)(errno));
                }
            };
            // Whoever tidies up takes this lock before it removes a directory without an owner file.
            let _ = rustix::fs::flock(&directory, FlockOperation::LockExclusive);
            if !place.is(&directory) {
                continue;
            }
            // Somebody's that was put in its place meanwhile is not ours to fill or to remove.
            if !is_empty_but_for(&directory, None).map_err(failed("readdir", &path))? {
                return Err(RunnerError::Swapped { path });
            }
            let owner = match make_owner(&directory, &path, id) {
                Ok(owner) => owner,
                Err(error) => {
                    let _ = remove_all(&place, &directory, None);
                    return Err(error);
                }
            };
            let _ = rustix::fs::flock(&directory, FlockOperation::Unlock);
            return Ok(Self { place, directory, owner });
        }
        Err(RunnerError::Swapped { path })
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &OwnedFd {
        &self.directory
    }

    /// Device and inode, as in stat(2): what the worker knows it by.
    pub(crate) fn identity(&self) -> Result<[u64; 2], RunnerError> {
        let stat = rustix::fs::fstat(&self.directory).map_err(failed("stat", &self.place.path))?;
        Ok([stat.st_dev, stat.st_ino])
    }

    /// Removes all of it.
    pub(crate) fn remove(self) -> Result<LeftOver, RunnerError> {
        remove_all(&self.place, &self.directory, Some(self.owner))
    }
}

/// Whether a directory is empty, but for a file of that name.
pub(crate) fn is_empty_but_for(directory: &OwnedFd, allowed: Option<&str>) -> rustix::io::Result<bool> {
    Ok(names_in(directory)?.iter().all(|name| allowed.map(str::as_bytes) == Some(name.to_bytes())))
}

/// The names in an open directory, without those of itself and of the one above.
pub(crate) fn names_in(directory: impl AsFd) -> rustix::io::Result<Vec<CString>> {
    let is_entry = |name: &CString| !matches!(name.to_bytes(), b"." | b"..");
    let names = rustix::fs::Dir::read_from(directory)?.map(|entry| Ok(entry?.file_name().to_owned()));
    names.filter(|name| name.as_ref().map_or(true, is_entry)).collect()
}

fn make_owner(directory: &OwnedFd, path: &Path, id: &str) -> Result<OwnedFd, RunnerError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let owner =
        rustix::fs::openat(directory, OWNER, flags, Mode::RUSR | Mode::WUSR).map_err(failed("open", path))?;
    match rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive) {
        // Where there are no locks, nothing shows that a run is gone, and what it left stays.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK) => {}
        Err(errno) => return Err(failed("flock", path)(errno)),
    }
    rustix::io::write(&owner, id.as_bytes()).map_err(failed("write", path))?;
    Ok(owner)
}

/// Removes the directory and the files in it. `owner` is closed before its name goes: a filesystem that keeps open
/// files under another name would keep the directory, too.
pub(crate) fn remove_all(
    place: &Place,
    directory: &OwnedFd,
    owner: Option<OwnedFd>,
) -> Result<LeftOver, RunnerError> {
    remove_samples(directory).or_else(busy_is_kept).map_err(failed("unlink", &place.path))?;
    drop(owner);
    let start = Instant::now();
    loop {
        match remove_now_empty(place, directory) {
            Err(RunnerError::Target { error, .. }) if is_kept(&error) => {}
            result => return result.map(|()| LeftOver::Removed),
        }
        if start.elapsed() >= LATE_CLOSE {
            return Ok(LeftOver::KeepsFiles);
        }
        sleep(Duration::from_millis(50));
        remove_samples(directory).or_else(busy_is_kept).map_err(failed("unlink", &place.path))?;
    }
}

/// NFS refuses to remove the other name that an open file got.
fn busy_is_kept(errno: Errno) -> rustix::io::Result<()> {
    if errno == Errno::BUSY { Ok(()) } else { Err(errno) }
}

fn is_kept(error: &io::Error) -> bool {
    [Errno::NOTEMPTY, Errno::EXIST, Errno::BUSY]
        .iter()
        .any(|it| error.raw_os_error() == Some(it.raw_os_error()))
}

fn remove_now_empty(place: &Place, directory: &OwnedFd) -> Result<(), RunnerError> {
    // Last, so that a directory without it is empty.
    match rustix::fs::unlinkat(directory, OWNER, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(failed("unlink", &place.path)(errno)),
    }
    if !place.is(directory) {
        // Somebody removed it. Where its filesystem was unmounted instead, it is still there to be removed later.
        return match rustix::fs::fstat(directory) {
            Ok(stat) if stat.st_nlink == 0 => Ok(()),
            _ => Err(RunnerError::Swapped { path: place.path.clone() }),
        };
    }
    place.remove_empty().map_err(failed("rmdir", &place.path))
}

/// Removes files, by name in the open directory of a workspace. A directory in it is not ours and stays.
///
/// # Errors
/// A file cannot be removed.
pub fn remove_samples(directory: impl AsFd) -> rustix::io::Result<()> {
    for name in names_in(directory.as_fd())?.iter().filter(|name| name.to_bytes() != OWNER.as_bytes()) {
        match rustix::fs::unlinkat(directory.as_fd(), name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT | Errno::ISDIR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::open_without_links;
    use std::fs::File;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn files_in(path: &Path) -> usize {
        std::fs::read_dir(path).unwrap().count()
    }

    fn created(target: &Path) -> Workspace {
        Workspace::create(&open_without_links(target).unwrap(), target, ID).unwrap()
    }

    #[test]
    fn it_removes_all_that_it_made_and_nothing_beside_it() {
        let target = tempfile::tempdir().unwrap();
        File::create(target.path().join("theirs")).unwrap();
        let workspace = created(target.path());
        File::create(workspace_path(target.path(), ID).join("sample")).unwrap();
        remove_samples(&workspace.directory).unwrap();
        assert_eq!(files_in(&workspace_path(target.path(), ID)), 1, "only the owner's file");
        File::create(workspace_path(target.path(), ID).join("sample")).unwrap();
        workspace.remove().unwrap();
        assert_eq!(files_in(target.path()), 1);
    }

    #[test]
    fn what_is_gone_needs_no_removal() {
        let target = tempfile::tempdir().unwrap();
        let workspace = created(target.path());
        std::fs::remove_dir_all(target.path()).unwrap();
        remove_samples(&workspace.directory).unwrap();
        workspace.remove().unwrap();
    }

    #[test]
    fn a_directory_in_its_place_is_neither_emptied_nor_removed() {
        let target = tempfile::tempdir().unwrap();
        let workspace = created(target.path());
        let path = workspace_path(target.path(), ID);
        std::fs::rename(&path, target.path().join("moved")).unwrap();
        std::fs::create_dir(&path).unwrap();
        let error = workspace.remove().unwrap_err().to_string();
        assert!(error.contains("is not what it was"), "{error}");
        assert!(path.is_dir(), "theirs stays, although it is empty");
        assert_eq!(files_in(&target.path().join("moved")), 0, "what was ours in it is gone");
    }

    #[test]
    fn a_link_in_it_is_removed_and_not_what_it_leads_to() {
        let (target, theirs) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
        let workspace = created(target.path());
        std::os::unix::fs::symlink(theirs.path(), workspace_path(target.path(), ID).join("sample")).unwrap();
        workspace.remove().unwrap();
        assert!(theirs.path().exists() && files_in(target.path()) == 0);
    }
}
