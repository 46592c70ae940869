//! Names in a directory that is held open.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::Result;
use rustix::fs::{Access, AtFlags, Dir, FileType, FlockOperation, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::Named;

/// A file by its device and inode, which all of its names share.
pub(super) type Identity = (u64, u64);

pub(super) fn identity(stat: &Stat) -> Identity {
    (stat.st_dev, stat.st_ino)
}

/// A directory that is held open, so that nobody can put another, or a link, in its place.
pub(super) struct Directory(OwnedFd);

/// Neither reads nor lists: a directory that may only be written to will do.
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Directory {
    /// The directory that the path means now, also where a link leads to it.
    pub(super) fn open(path: &Path) -> rustix::io::Result<Self> {
        rustix::fs::open(path, DIRECTORY, Mode::empty()).map(Self)
    }

    /// Makes a directory in this one, unless there is one, and opens it, but no link.
    pub(super) fn make_inner(&self, name: &OsStr) -> rustix::io::Result<Self> {
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        self.inner(name)
    }

    /// Opens a directory in this one, but no link.
    pub(super) fn inner(&self, name: &OsStr) -> rustix::io::Result<Self> {
        rustix::fs::openat(&self.0, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).map(Self)
    }

    /// The directory's path without links; empty without /proc.
    pub(super) fn real_path(&self) -> PathBuf {
        std::fs::read_link(format!("/proc/self/fd/{}", self.0.as_raw_fd())).unwrap_or_default()
    }

    pub(super) fn identity(&self) -> rustix::io::Result<Identity> {
        rustix::fs::fstat(&self.0).map(|stat| identity(&stat))
    }

    /// Whether a stranger may have put the file here: by the rule of `fs.protected_fifos` in proc_sys_fs(5).
    pub(super) fn may_have_planted(&self, file: &Stat) -> rustix::io::Result<bool> {
        let directory = rustix::fs::fstat(&self.0)?;
        let is_shared = directory.st_mode & 0o1000 != 0 && directory.st_mode & 0o022 != 0;
        let is_known = [rustix::process::geteuid().as_raw(), directory.st_uid].contains(&file.st_uid);
        Ok(is_shared && !is_known)
    }

    /// The file of that name, which may itself be a link; none if the name is free.
    pub(super) fn look(&self, name: &OsStr) -> rustix::io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Whether this process may make names in the directory.
    pub(super) fn check_writable(&self) -> rustix::io::Result<()> {
        rustix::fs::accessat(&self.0, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
    }

    pub(super) fn check_file_writable(&self, name: &OsStr) -> rustix::io::Result<()> {
        rustix::fs::accessat(&self.0, name, Access::WRITE_OK, AtFlags::EACCESS)
    }

    /// Opens the file of that name, unless it is a link, without blocking.
    pub(super) fn open_file(&self, name: &OsStr, how: OFlags) -> rustix::io::Result<OwnedFd> {
        let how = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(&self.0, name, how, Mode::empty())
    }

    /// Removes what killed writers of that name, or of any name, left. Files that cannot be removed
    /// do no harm.
    pub(super) fn sweep(&self, name: Option<&OsStr>) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(listed) = rustix::fs::openat(&self.0, ".", flags, Mode::empty()) else { return };
        let Ok(entries) = Dir::read_from(&listed) else { return };
        for entry in entries.flatten() {
            let entry = OsStr::from_bytes(entry.file_name().to_bytes());
            if is_temporary(entry, name) {
                let _ = self.remove_left_over(entry);
            }
        }
    }

    fn remove_left_over(&self, name: &OsStr) -> rustix::io::Result<()> {
        let file = self.open_file(name, OFlags::RDONLY)?;
        let stat = rustix::fs::fstat(&file)?;
        let is_ours = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && stat.st_uid == rustix::process::geteuid().as_raw();
        if !is_ours {
            return Ok(());
        }
        // A writer at work holds the lock of its file.
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        if self.look(name)?.is_some_and(|now| identity(&now) == identity(&stat)) {
            rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?;
        }
        Ok(())
    }
}

/// Between the name of the file and the random part.
const INFIX: &[u8] = b".writebench-";
const SUFFIX: &[u8] = b".part";
/// A name has 255 bytes at most.
const MOST_OF_NAME: usize = 200;

/// `.NAME.writebench-ID.part`.
fn temporary_name(name: &OsStr, id: &str) -> OsString {
    let name = &name.as_bytes()[..name.len().min(MOST_OF_NAME)];
    OsString::from_vec([b".", name, INFIX, id.as_bytes(), SUFFIX].concat())
}

/// Whether the entry may be one of our temporary files, for that name or for any.
fn is_temporary(entry: &OsStr, name: Option<&OsStr>) -> bool {
    let middle = entry.as_bytes().strip_prefix(b".").and_then(|rest| rest.strip_suffix(SUFFIX));
    let at = middle.and_then(|middle| middle.windows(INFIX.len()).rposition(|part| part == INFIX));
    let (Some(middle), Some(at)) = (middle, at) else { return false };
    let (of, id) = (&middle[..at], &middle[at + INFIX.len()..]);
    let is_of = name.is_none_or(|name| of == &name.as_bytes()[..name.len().min(MOST_OF_NAME)]);
    is_of && id.len() == 8 && id.iter().all(u8::is_ascii_hexdigit)
}

/// A file under a temporary name, beside the file that it is to replace. Removed if dropped before
/// it is published.
pub(super) struct NewFile<'d> {
    named: &'d Named,
    directory: &'d Directory,
    name: OsString,
    temporary: OsString,
    file: File,
}

impl<'d> NewFile<'d> {
    /// A file with that content. Once published, it has the name, and replaces a file that had it.
    pub(super) fn with(
        content: &str,
        named: &'d Named,
        directory: &'d Directory,
        name: &OsStr,
    ) -> Result<Self> {
        let mut new = Self::create(named, directory, name)?;
        named.call("write", new.file.write_all(content.as_bytes()))?;
        named.check_name(directory, name)?;
        Ok(new)
    }

    fn create(named: &'d Named, directory: &'d Directory, name: &OsStr) -> Result<Self> {
        // Another writer may take the file for a leftover in the moment before it is locked.
        const TRIES: usize = 8;
        const CREATE: &str = "create a file beside it";
        let existing = named.call("stat", directory.look(name))?;
        for _ in 0..TRIES {
            let id = uuid::Uuid::new_v4().simple().to_string();
            let temporary = temporary_name(name, &id[..8]);
            // An existing file's mode may be narrower than that of a new one.
            let mode = Mode::from_raw_mode(if existing.is_some() { 0o600 } else { 0o666 });
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = named.call(CREATE, rustix::fs::openat(&directory.0, &temporary, flags, mode))?.into();
            let new = Self { named, directory, name: name.to_os_string(), temporary, file };
            if named.call("flock", new.is_locked())? {
                if let Some(existing) = &existing {
                    named.call("keep its mode", new.become_like(existing))?;
                }
                return Ok(new);
            }
        }
        Err(named.failed(CREATE, &Errno::EXIST.into()))
    }

    /// Whether the file is still ours: another writer may have taken it for a leftover, and removed
    /// it.
    fn is_locked(&self) -> rustix::io::Result<bool> {
        match rustix::fs::flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(rustix::fs::fstat(&self.file)?.st_nlink > 0),
            Err(Errno::WOULDBLOCK) => Ok(false),
            // A filesystem without locks; there nothing is swept either.
            Err(Errno::OPNOTSUPP | Errno::NOLCK | Errno::NOSYS | Errno::INVAL) => Ok(true),
            Err(errno) => Err(errno),
        }
    }

    /// Takes over owner and mode, which a file keeps when it is truncated and written again.
    fn become_like(&self, existing: &Stat) -> rustix::io::Result<()> {
        let ours = rustix::fs::fstat(&self.file)?;
        if (ours.st_uid, ours.st_gid) != (existing.st_uid, existing.st_gid) {
            let (uid, gid) = (Uid::from_raw(existing.st_uid), Gid::from_raw(existing.st_gid));
            match rustix::fs::fchown(&self.file, Some(uid), Some(gid)) {
                // Only root gives files away; others' files become ours, as with every editor that replaces a file.
                Err(Errno::PERM) => {}
                other => other?,
            }
        }
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(existing.st_mode & 0o777))
    }

    /// Gives the file its name in one step, once all data is on the disk.
    pub(super) fn publish(self) -> Result<()> {
        self.named.call("fsync", rustix::fs::fsync(&self.file))?;
        self.rename()
    }

    /// Gives the file its name now; readers see later writes at once.
    pub(super) fn publish_open(self) -> Result<File> {
        let file = self.named.call("dup", self.file.try_clone())?;
        self.rename()?;
        Ok(file)
    }

    fn rename(mut self) -> Result<()> {
        let Self { named, directory: Directory(fd), temporary, name, .. } = &self;
        named.call("rename", rustix::fs::renameat(fd, temporary, fd, name))?;
        // Without it, a loss of power takes the name back.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let synced = rustix::fs::openat(fd, ".", flags, Mode::empty()).and_then(rustix::fs::fsync);
        let synced = match synced {
            // A directory that may not be read, or a filesystem that syncs none.
            Err(Errno::ACCESS | Errno::INVAL) => Ok(()),
            synced => named.call("fsync its directory", synced),
        };
        self.temporary.clear();
        synced
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if !self.temporary.is_empty() {
            let _ = rustix::fs::unlinkat(&self.directory.0, &self.temporary, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_file::Kept;

    fn names(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn named(path: &Path) -> Named {
        let kept = Kept::database(Some(&path.with_file_name("database"))).into();
        Named { option: "--output", path: path.to_path_buf(), kept }
    }

    #[test]
    fn a_file_is_seen_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(folder.path()).unwrap();
        let path = folder.path().join("page");
        std::fs::write(&path, "old").unwrap();
        let named = named(&path);
        let new = NewFile::with("half", &named, &directory, OsStr::new("page")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(new);
        assert_eq!(
            (std::fs::read(&path).unwrap(), names(folder.path())),
            (b"old".to_vec(), vec!["page".to_owned()])
        );
        let new = NewFile::with("whole", &named, &directory, OsStr::new("page")).unwrap();
        new.publish().unwrap();
        assert_eq!(
            (std::fs::read(&path).unwrap(), names(folder.path())),
            (b"whole".to_vec(), vec!["page".to_owned()])
        );
    }

    #[test]
    fn what_a_killed_writer_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(folder.path()).unwrap();
        let page = OsStr::new("page");
        let named = named(&folder.path().join(page));
        let at_work = NewFile::with("", &named, &directory, page).unwrap();
        let left = [".page.writebench-0123abcd.part", ".chart.writebench-0123abcd.part"];
        let others = [".page.writebench-notes.part", "page.writebench-0123abcd.part", ".page.part"];
        for name in left.iter().chain(&others) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("/dev/null", folder.path().join(".page.writebench-99999999.part")).unwrap();
        directory.sweep(Some(page));
        assert!(!folder.path().join(left[0]).exists() && folder.path().join(left[1]).exists());
        directory.sweep(None);
        assert_eq!(names(folder.path()).len(), others.len() + 2, "{:?}", names(folder.path()));
        at_work.publish().unwrap();
    }

    #[test]
    fn a_long_name_has_room_for_ours() {
        let name = "x".repeat(255);
        let temporary = temporary_name(OsStr::new(&name), "0123abcd");
        assert!(temporary.len() < 255 && is_temporary(&temporary, Some(OsStr::new(&name))));
    }
}
