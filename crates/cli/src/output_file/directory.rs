//! Names in a directory that is held open.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::Result;
use rustix::fs::{Access, AtFlags, OFlags};
use tempfile::NamedTempFile;

use super::OutputPath;

/// A file by its device and inode, which all of its names share.
pub(super) type Identity = (u64, u64);

pub(super) fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

pub(super) fn identity_at(path: &Path) -> Option<Identity> {
    path.metadata().ok().as_ref().map(identity)
}

/// Opens a file to read it, or with `O_PATH` only to hold it.
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// A directory that is held open, so that nobody can put another, or a link, in its place.
pub(super) struct Directory(File);

impl Directory {
    /// The directory that the path means now, also where a link leads to it. It need not be readable.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        open(path, OFlags::PATH | OFlags::DIRECTORY).map(Self)
    }

    /// Opens a directory in this one, but no link.
    pub(super) fn inner(&self, name: &OsStr) -> io::Result<Self> {
        open(&self.at(name), OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW).map(Self)
    }

    /// The directory's path for system calls, wherever it is moved to.
    fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }

    /// The path of a name in this directory.
    pub(super) fn at(&self, name: &OsStr) -> PathBuf {
        self.path().join(name)
    }

    /// The directory's path without links.
    pub(super) fn real_path(&self) -> PathBuf {
        self.path().read_link().unwrap_or_default()
    }

    pub(super) fn identity(&self) -> Option<Identity> {
        identity_at(&self.path())
    }

    /// Whether a stranger may have put the file here: by the rule of `fs.protected_fifos` in proc_sys_fs(5).
    pub(super) fn may_have_planted(&self, file: &Metadata) -> io::Result<bool> {
        let directory = self.path().metadata()?;
        let is_shared = directory.mode() & 0o1000 != 0 && directory.mode() & 0o022 != 0;
        let is_known = [rustix::process::geteuid().as_raw(), directory.uid()].contains(&file.uid());
        Ok(is_shared && !is_known)
    }

    /// The file of that name, which may itself be a link; none if the name is free.
    pub(super) fn inspect(&self, name: &OsStr) -> io::Result<Option<Metadata>> {
        match self.at(name).symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    /// Whether this process may make names in the directory.
    pub(super) fn check_writable(&self) -> io::Result<()> {
        Ok(rustix::fs::accessat(&self.0, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?)
    }

    pub(super) fn check_file_writable(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::accessat(&self.0, name, Access::WRITE_OK, AtFlags::EACCESS)?)
    }

    /// Opens the file of that name, unless it is a link, without blocking.
    pub(super) fn open_file(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        open(&self.at(name), flags | OFlags::NOFOLLOW | OFlags::NONBLOCK)
    }

    /// Removes what killed writers of that name, or of any name, left. Files that cannot be removed
    /// do no harm.
    pub(super) fn sweep(&self, name: Option<&OsStr>) {
        let entries = self.path().read_dir().into_iter().flatten().flatten();
        for entry in entries.filter(|entry| is_temporary(&entry.file_name(), name)) {
            let _ = self.remove_leftover(&entry.file_name());
        }
    }

    fn remove_leftover(&self, name: &OsStr) -> io::Result<()> {
        let file = self.open_file(name, OFlags::empty())?;
        let found = file.metadata()?;
        // A writer at work holds the lock of its file.
        let is_left = found.is_file()
            && found.uid() == rustix::process::geteuid().as_raw()
            && file.try_lock().is_ok()
            && self.inspect(name)?.is_some_and(|now| identity(&now) == identity(&found));
        if is_left { std::fs::remove_file(self.at(name)) } else { Ok(()) }
    }
}

const INFIX: &[u8] = b".writebench-";
const SUFFIX: &str = ".part";
/// Random letters and digits between [`INFIX`] and [`SUFFIX`].
const ID_LENGTH: usize = 8;

/// `.NAME.writebench-`, the beginning of a temporary name. A name has 255 bytes at most.
fn prefix(name: &OsStr) -> OsString {
    let name = name.as_bytes();
    OsString::from_vec([b".", &name[..name.len().min(200)], INFIX].concat())
}

/// Whether the entry may be one of our temporary files, for that name or for any.
fn is_temporary(entry: &OsStr, name: Option<&OsStr>) -> bool {
    let entry = entry.as_bytes().strip_suffix(SUFFIX.as_bytes());
    let Some((begins, id)) =
        entry.and_then(|entry| entry.split_at_checked(entry.len().checked_sub(ID_LENGTH)?))
    else {
        return false;
    };
    let is_of_name = name.map_or_else(
        || begins.starts_with(b".") && begins.ends_with(INFIX),
        |name| begins == prefix(name).as_bytes(),
    );
    is_of_name && id.iter().all(u8::is_ascii_alphanumeric)
}

/// A file under a temporary name, beside the file that it is to replace. Removed if dropped before
/// it is published.
pub(super) struct TemporaryFile<'d> {
    named: &'d OutputPath,
    directory: &'d Directory,
    name: OsString,
    file: NamedTempFile,
}

impl<'d> TemporaryFile<'d> {
    /// A file with that content. Once published, it has the name, and replaces a file that had it.
    pub(super) fn with(
        content: &str,
        named: &'d OutputPath,
        directory: &'d Directory,
        name: &OsStr,
    ) -> Result<Self> {
        let existing = named.call("stat", directory.inspect(name))?;
        // An existing file's mode may be narrower than that of a new one.
        let mode = if existing.is_some() { 0o600 } else { 0o666 };
        let prefix = prefix(name);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(ID_LENGTH);
        let made = builder.make_in(directory.path(), |path| create_locked(path, mode));
        let file = named.call("create a file beside it", made)?;
        if let Some(existing) = &existing {
            named.call("keep its mode", become_like(file.as_file(), existing))?;
        }
        named.call("write", file.as_file().write_all(content.as_bytes()))?;
        named.check_name(directory, name)?;
        Ok(Self { named, directory, name: name.to_os_string(), file })
    }

    /// Gives the file its name in one step, once all data is on the disk.
    pub(super) fn publish(self) -> Result<()> {
        self.named.call("fsync", self.file.as_file().sync_all())?;
        self.publish_open().map(drop)
    }

    /// Gives the file its name now; readers see later writes at once.
    pub(super) fn publish_open(self) -> Result<File> {
        let file = self.named.call("rename", self.file.persist(self.directory.at(&self.name)))?;
        // Without it, a loss of power takes the name back.
        match File::open(self.directory.path()).and_then(|directory| directory.sync_all()) {
            // A directory that may not be read, or a filesystem that syncs none.
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput) => {
                Ok(file)
            }
            synced => self.named.call("fsync its directory", synced.map(|()| file)),
        }
    }
}

/// A file that no writer takes for a leftover. One may have done so before it was locked, and removed it: then another
/// name is tried.
fn create_locked(path: &Path, mode: u32) -> io::Result<File> {
    let file = File::options().write(true).create_new(true).mode(mode).open(path)?;
    // A filesystem without locks gives another error; there nothing is swept either.
    let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || file.metadata()?.nlink() == 0;
    if is_taken { Err(ErrorKind::AlreadyExists.into()) } else { Ok(file) }
}

/// Takes over owner and mode, which a file keeps when it is truncated and written again.
fn become_like(file: &File, existing: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (existing.uid(), existing.gid()) {
        match fchown(file, Some(existing.uid()), Some(existing.gid())) {
            // Only root gives files away; others' files become ours, as with every editor that replaces a file.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            changed => changed?,
        }
    }
    file.set_permissions(Permissions::from_mode(existing.mode() & 0o777))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_file::ProtectedPaths;

    fn names(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn named(path: &Path) -> OutputPath {
        let protected = ProtectedPaths::database(Some(&path.with_file_name("database"))).into();
        OutputPath { option: "--output", path: path.to_path_buf(), protected }
    }

    #[test]
    fn a_file_is_seen_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(folder.path()).unwrap();
        let path = folder.path().join("page");
        std::fs::write(&path, "old").unwrap();
        let named = named(&path);
        let new = TemporaryFile::with("half", &named, &directory, OsStr::new("page")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(new);
        assert_eq!(
            (std::fs::read(&path).unwrap(), names(folder.path())),
            (b"old".to_vec(), vec!["page".to_owned()])
        );
        let new = TemporaryFile::with("whole", &named, &directory, OsStr::new("page")).unwrap();
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
        let at_work = TemporaryFile::with("", &named, &directory, page).unwrap();
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
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(folder.path()).unwrap();
        let name = OsString::from("x".repeat(255));
        let named = named(&folder.path().join(&name));
        let new = TemporaryFile::with("", &named, &directory, &name).unwrap();
        let temporary = new.file.path().file_name().unwrap();
        assert!(is_temporary(temporary, Some(&name)) && is_temporary(temporary, None), "{temporary:?}");
    }
}
