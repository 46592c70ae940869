//! The directory of a run in its target: made, owned and removed by the run.
//!
//! Only an agent makes these calls on the target: see [`crate::target_agent`].

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::directory_entry::DirectoryEntry;
use crate::error::{RunnerError, failed};

pub(crate) const PREFIX: &str = ".writebench-";

/// Hexadecimal: 128 random bits, so the name is unique.
pub(crate) const ID_DIGITS: usize = 32;

/// Holds the workspace's id, and an exclusive lock while the run lives. The kernel releases it when the target's agent
/// dies.
pub(crate) const OWNER: &str = "owner";

/// Another run's cleanup may remove a directory before it has its owner file.
const TRIES: u32 = 8;

/// FUSE learns late of the last close of a removed file, and renames the file until then.
const LATE_CLOSE: Duration = Duration::from_secs(3);

/// Mode 0700, with a unique name.
pub(crate) struct Workspace {
    pub(crate) entry: DirectoryEntry,
    pub(crate) directory: OwnedFd,
    // Kept open for its lock.
    owner: OwnedFd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leftover {
    Removed,
    /// The directory is missing, or not the run's. Nothing was touched.
    NotThere,
    /// The parent is also missing: an unmounted disk may bring the directory back.
    Away,
    /// The run is in progress.
    InUse,
    /// The run is gone, but a process with that number has the directory or a file in it open, like a
    /// worker in a hanging call. Removing such a file would also hang.
    Held(u32),
    /// The filesystem still keeps files that were open when they were removed.
    KeepsFiles,
}

pub fn workspace_path(target: &Path, id: &str) -> PathBuf {
    target.join(format!("{PREFIX}{id}"))
}

impl Workspace {
    /// Makes `.writebench-ID` in the open directory `target`, which `path` leads to. `id` must be
    /// [`ID_DIGITS`] random digits, or later runs would ignore the directory.
    pub(crate) fn create(target: &OwnedFd, path: &Path, id: &str) -> Result<Self, RunnerError> {
        let path = workspace_path(path, id);
        for _ in 0..TRIES {
            let parent = target.try_clone().map_err(failed("dup", &path))?;
            let entry = DirectoryEntry::in_directory(parent, &path)?;
            rustix::fs::mkdirat(&entry.parent, &entry.name, Mode::RWXU)
                .map_err(failed("mkdir", &path))?;
            let directory = match entry.open() {
                Ok(directory) => directory,
                Err(Errno::NOENT) => continue,
                Err(errno) => {
                    let _ = entry.remove_directory();
                    return Err(failed("open", &path)(errno));
                }
            };
            // Cleanup takes this lock before it removes a directory without an owner file.
            let _ = rustix::fs::flock(&directory, FlockOperation::LockExclusive);
            if !entry.leads_to(&directory) {
                continue;
            }
            // If another process replaced the directory, the new one is neither filled nor removed.
            if !is_empty_but_for(&directory, None).map_err(failed("readdir", &path))? {
                return Err(RunnerError::Swapped { path });
            }
            let owner = make_owner(&directory, &path, id)
                .inspect_err(|_| _ = remove_all(&entry, &directory, None))?;
            let _ = rustix::fs::flock(&directory, FlockOperation::Unlock);
            return Ok(Self {
                entry,
                directory,
                owner,
            });
        }
        Err(RunnerError::Swapped { path })
    }

    pub(crate) fn remove(self) -> Result<Leftover, RunnerError> {
        remove_all(&self.entry, &self.directory, Some(self.owner))
    }
}

/// Whether a directory has at most that file.
pub(crate) fn is_empty_but_for(
    directory: &OwnedFd,
    allowed: Option<&str>,
) -> rustix::io::Result<bool> {
    Ok(names_in(directory)?
        .iter()
        .all(|name| allowed.map(str::as_bytes) == Some(name.to_bytes())))
}

/// The names of all entries except `.` and `..`.
pub(crate) fn names_in(directory: impl AsFd) -> rustix::io::Result<Vec<CString>> {
    let is_entry = |name: &CString| !matches!(name.to_bytes(), b"." | b"..");
    let names =
        rustix::fs::Dir::read_from(directory)?.map(|entry| Ok(entry?.file_name().to_owned()));
    names
        .filter(|name| name.as_ref().map_or(true, is_entry))
        .collect()
}

fn make_owner(directory: &OwnedFd, path: &Path, id: &str) -> Result<OwnedFd, RunnerError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let owner = rustix::fs::openat(directory, OWNER, flags, Mode::RUSR | Mode::WUSR)
        .map_err(failed("open", path))?;
    match rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive) {
        // Without locks it is unknown whether a run is gone, so its directory remains.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK) => {}
        Err(errno) => return Err(failed("flock", path)(errno)),
    }
    rustix::io::write(&owner, id.as_bytes()).map_err(failed("write", path))?;
    Ok(owner)
}

/// Closes `owner` before unlinking it. Otherwise a filesystem may rename the open file and keep the
/// directory.
pub(crate) fn remove_all(
    entry: &DirectoryEntry,
    directory: &OwnedFd,
    owner: Option<OwnedFd>,
) -> Result<Leftover, RunnerError> {
    let remove_files = || match remove_samples(directory) {
        // NFS refuses to remove the new name of a removed open file.
        Err(Errno::BUSY) => Ok(()),
        removed => removed.map_err(failed("unlink", &entry.path)),
    };
    remove_files()?;
    drop(owner);
    let start = Instant::now();
    loop {
        match remove_now_empty(entry, directory) {
            Err(RunnerError::Target { error, .. })
                if matches!(
                    Errno::from_io_error(&error),
                    Some(Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY)
                ) => {}
            result => return result.map(|()| Leftover::Removed),
        }
        if start.elapsed() >= LATE_CLOSE {
            return Ok(Leftover::KeepsFiles);
        }
        sleep(Duration::from_millis(50));
        remove_files()?;
    }
}

fn remove_now_empty(entry: &DirectoryEntry, directory: &OwnedFd) -> Result<(), RunnerError> {
    // The owner file is removed last, so a directory without it is empty.
    match rustix::fs::unlinkat(directory, OWNER, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(failed("unlink", &entry.path)(errno)),
    }
    if !entry.leads_to(directory) {
        // If the filesystem was unmounted, the directory still exists and can be removed later.
        return match rustix::fs::fstat(directory) {
            Ok(stat) if stat.st_nlink == 0 => Ok(()),
            _ => Err(RunnerError::Swapped {
                path: entry.path.clone(),
            }),
        };
    }
    entry
        .remove_directory()
        .map_err(failed("rmdir", &entry.path))
}

/// The names of samples begin with it.
pub(crate) const SAMPLE: &str = "sample";

/// Removes files by name in the open directory of a workspace, and the directories of sets. Other directories
/// are not writebench's, and remain. No link is followed.
///
/// # Errors
/// A file cannot be removed.
pub fn remove_samples(directory: impl AsFd) -> rustix::io::Result<()> {
    for name in names_in(directory.as_fd())?
        .iter()
        .filter(|name| name.to_bytes() != OWNER.as_bytes())
    {
        match rustix::fs::unlinkat(directory.as_fd(), name, AtFlags::empty()) {
            Err(Errno::ISDIR) if name.to_bytes().starts_with(SAMPLE.as_bytes()) => {
                remove_set(&directory, name)?;
            }
            Ok(()) | Err(Errno::NOENT | Errno::ISDIR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// The standard library opens each directory without following links.
fn remove_set(workspace: impl AsFd, name: &CString) -> rustix::io::Result<()> {
    let path = format!(
        "/proc/self/fd/{}/{}",
        workspace.as_fd().as_raw_fd(),
        name.to_string_lossy()
    );
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory_entry::open_without_links;
    use std::fs::File;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn files_in(path: &Path) -> usize {
        std::fs::read_dir(path).unwrap().count()
    }

    fn created(target: &Path) -> Workspace {
        Workspace::create(&open_without_links(target).unwrap(), target, ID).unwrap()
    }

    #[test]
    fn a_workspace_removes_its_own_files_only() {
        let target = tempfile::tempdir().unwrap();
        File::create(target.path().join("theirs")).unwrap();
        let workspace = created(target.path());
        File::create(workspace_path(target.path(), ID).join("sample")).unwrap();
        remove_samples(&workspace.directory).unwrap();
        assert_eq!(
            files_in(&workspace_path(target.path(), ID)),
            1,
            "only the owner file"
        );
        File::create(workspace_path(target.path(), ID).join("sample")).unwrap();
        workspace.remove().unwrap();
        assert_eq!(files_in(target.path()), 1);
    }

    #[test]
    fn a_missing_workspace_needs_no_removal() {
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
        assert!(error.contains("was replaced by another"), "{error}");
        assert!(path.is_dir(), "theirs remains, although it is empty");
        assert_eq!(
            files_in(&target.path().join("moved")),
            0,
            "what was ours in it is gone"
        );
    }

    #[test]
    fn a_link_in_it_is_removed_without_its_target() {
        let target = tempfile::tempdir().unwrap();
        let theirs = tempfile::NamedTempFile::new().unwrap();
        let workspace = created(target.path());
        std::os::unix::fs::symlink(
            theirs.path(),
            workspace_path(target.path(), ID).join("sample"),
        )
        .unwrap();
        workspace.remove().unwrap();
        assert!(theirs.path().exists() && files_in(target.path()) == 0);
    }
}
