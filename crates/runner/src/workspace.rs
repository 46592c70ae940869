//! The directory in the target that a run works in: made by it, owned by it, removed by it.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::error::RunnerError;
use crate::holders::{lasting_child, lasting_holder};
use crate::place::Place;

/// What our names begin with.
const PREFIX: &str = ".writebench-";

/// Holds the workspace's id, and an exclusive lock for as long as the run lives; the kernel lets go
/// when it dies.
const OWNER: &str = "owner";

/// A directory of our own in the target: mode 0700, with a name that nobody else has. Removed with all
/// that is in it when dropped.
pub struct Workspace {
    place: Place,
    directory: OwnedFd,
    // Kept open for its lock.
    _owner: OwnedFd,
    removed: bool,
    // A worker hangs in the kernel with a file of it open.
    hung: AtomicBool,
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
        let place = Place::of(&Self::path_in(target, id))?;
        let path = &place.path;
        let failed = |call| move |errno: Errno| error(call, path, errno);
        rustix::fs::mkdirat(&place.parent, &place.name, Mode::RWXU).map_err(failed("mkdir"))?;
        let directory = place.open().map_err(failed("open"))?;
        // What somebody put in its place meanwhile, and not the new one: it is not ours to fill or to remove.
        if !is_empty(&directory).map_err(failed("readdir"))? {
            return Err(RunnerError::Swapped { path: path.clone() });
        }
        match make_owner(&directory, id) {
            Ok(owner) => {
                Ok(Self { place, directory, _owner: owner, removed: false, hung: AtomicBool::new(false) })
            }
            Err((call, errno)) => {
                let _ = remove_all(&place, &directory);
                Err(error(call, &place.path, errno))
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Device and inode, as in stat(2): what the worker knows it by.
    ///
    /// # Errors
    /// The filesystem does not answer.
    pub fn identity(&self) -> Result<(u64, u64), RunnerError> {
        let stat =
            rustix::fs::fstat(&self.directory).map_err(|errno| error("stat", &self.place.path, errno))?;
        Ok((stat.st_dev, stat.st_ino))
    }

    /// Brings its filesystem to rest.
    ///
    /// # Errors
    /// The filesystem cannot write.
    pub fn sync(&self) -> Result<(), RunnerError> {
        rustix::fs::syncfs(&self.directory).map_err(|errno| error("syncfs", &self.place.path, errno))
    }

    /// Whether a worker that was killed hangs in the kernel and has something of it open. Whoever removed that now
    /// would hang, too.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.is_hung() || lasting_child(&self.place.path).is_some()
    }

    /// As far as samples have shown it.
    fn is_hung(&self) -> bool {
        self.hung.load(Ordering::Relaxed)
    }

    pub(crate) fn set_hung(&self, hung: bool) {
        self.hung.store(hung, Ordering::Relaxed);
    }

    /// Removes what a worker left that did not live to remove it; nothing while one hangs.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove_samples(&self) -> Result<(), RunnerError> {
        if self.is_hung() {
            return Ok(());
        }
        remove_samples(&self.directory).map_err(|errno| error("unlink", &self.place.path, errno))
    }

    /// Removes all of it.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove(mut self) -> Result<(), RunnerError> {
        self.removed = true;
        remove_all(&self.place, &self.directory)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if !self.removed && !self.is_held() {
            let _ = remove_all(&self.place, &self.directory);
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
    /// Its run is gone, but that process has it or something in it open, as a worker that hangs in the kernel: whoever
    /// removes what it waits for, waits with it.
    Held(u32),
}

/// Removes the directory of a run that did not live to do it: if it is a directory, ours, holds the
/// file with the random id of its name, nobody holds that file's lock, and nobody has anything in it open.
///
/// # Errors
/// It is ours and cannot be removed.
pub fn remove_left_over(path: &Path) -> Result<LeftOver, RunnerError> {
    // A database is only a file: it may say anything.
    if id_of(path).is_none() {
        return Ok(LeftOver::NotThere);
    }
    let place = match Place::of(path) {
        Ok(place) => place,
        Err(RunnerError::Swapped { .. }) => return Ok(LeftOver::NotThere),
        Err(RunnerError::Target { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(LeftOver::NotThere);
        }
        Err(error) => return Err(error),
    };
    let directory = match place.open() {
        Ok(directory) => directory,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(LeftOver::NotThere),
        Err(errno) => return Err(error("open", path, errno)),
    };
    let stat = rustix::fs::fstat(&directory).map_err(|errno| error("stat", path, errno))?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(LeftOver::NotThere);
    }
    // A pipe would wait for its other end.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(owner) = rustix::fs::openat(&directory, OWNER, flags, Mode::empty()) else {
        // Its run died right after making it or right before removing it: then it is empty.
        return Ok(if place.is(&directory) && place.remove_empty().is_ok() {
            LeftOver::Removed
        } else {
            LeftOver::NotThere
        });
    };
    if rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(LeftOver::InUse);
    }
    let mut id = [0; 64];
    let length = rustix::io::pread(&owner, &mut id, 0).map_err(|errno| error("read", path, errno))?;
    // Its run died before it had written the id: then there is nothing beside that empty file.
    let is_new = length == 0 && is_alone(&directory).map_err(|errno| error("read", path, errno))?;
    if !is_new && id_of(path) != Some(&id[..length]) {
        return Ok(LeftOver::NotThere);
    }
    if let Some(process) = lasting_holder(path) {
        return Ok(LeftOver::Held(process));
    }
    remove_all(&place, &directory)?;
    Ok(LeftOver::Removed)
}

/// The id in a name that [`Workspace::path_in`] may have made.
fn id_of(path: &Path) -> Option<&[u8]> {
    let id = path.file_name()?.as_bytes().strip_prefix(PREFIX.as_bytes())?;
    (!id.is_empty() && id.iter().all(u8::is_ascii_alphanumeric)).then_some(id)
}

/// Whether a run is at work there.
#[must_use]
pub fn is_in_use(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path.join(OWNER), flags, Mode::empty()).is_ok_and(|owner| {
        rustix::fs::flock(&owner, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
    })
}

pub(crate) fn error(call: &'static str, path: &Path, errno: Errno) -> RunnerError {
    RunnerError::Target { call, path: path.to_path_buf(), error: io::Error::from(errno) }
}

fn is_empty(directory: &OwnedFd) -> rustix::io::Result<bool> {
    for entry in rustix::fs::Dir::read_from(directory.as_fd())? {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
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

fn remove_all(place: &Place, directory: &OwnedFd) -> Result<(), RunnerError> {
    let path = &place.path;
    let failed = |call| move |errno: Errno| error(call, path, errno);
    remove_samples(directory).map_err(failed("unlink"))?;
    // Last, so that a directory without it is empty.
    match rustix::fs::unlinkat(directory, OWNER, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(error("unlink", &place.path, errno)),
    }
    if !place.is(directory) {
        // Somebody removed it. Where its filesystem was unmounted instead, it is still there to be removed later.
        return match rustix::fs::fstat(directory) {
            Ok(stat) if stat.st_nlink == 0 => Ok(()),
            _ => Err(RunnerError::Swapped { path: place.path.clone() }),
        };
    }
    place.remove_empty().map_err(failed("rmdir"))
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

    #[test]
    fn a_path_that_a_stranger_wrote_into_the_database_removes_nothing() {
        let target = tempfile::tempdir().unwrap();
        for name in ["empty", ".writebench-", ".writebench-../x", ".writebench-a b"] {
            let path = target.path().join(name.replace("../x", "x."));
            std::fs::create_dir_all(&path).unwrap();
            assert_eq!(remove_left_over(&path).unwrap(), LeftOver::NotThere, "{name}");
            assert!(path.is_dir(), "{name}");
        }
        assert_eq!(remove_left_over(Path::new("/")).unwrap(), LeftOver::NotThere);
    }

    #[test]
    fn a_directory_that_became_a_link_since_is_not_gone_through() {
        let (target, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        left_over(theirs.path());
        let link = target.path().join("data");
        std::os::unix::fs::symlink(theirs.path(), &link).unwrap();
        let path = Workspace::path_in(&link, ID);
        assert_eq!(remove_left_over(&path).unwrap(), LeftOver::NotThere);
        assert_eq!(files_in(theirs.path()), 1);
        let error = Workspace::create(&link, "another").err().unwrap().to_string();
        assert!(error.contains("is not what it was"), "{error}");
        assert_eq!(files_in(theirs.path()), 1, "nothing was made");
    }

    #[test]
    fn a_directory_in_its_place_is_neither_emptied_nor_removed() {
        let target = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(target.path(), ID).unwrap();
        let path = workspace.path().to_path_buf();
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
        let workspace = Workspace::create(target.path(), ID).unwrap();
        std::os::unix::fs::symlink(theirs.path(), workspace.path().join("sample")).unwrap();
        workspace.remove().unwrap();
        assert!(theirs.path().exists() && files_in(target.path()) == 0);
    }

    #[test]
    fn a_pipe_in_place_of_the_lock_does_not_hold_it_up() {
        let target = tempfile::tempdir().unwrap();
        let path = Workspace::path_in(target.path(), ID);
        std::fs::create_dir(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path.join(OWNER), Mode::RWXU).unwrap();
        assert!(!is_in_use(&path));
        assert!(remove_left_over(&path).is_err());
        assert_eq!(files_in(&path), 1);
    }
}
