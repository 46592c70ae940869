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

/// Device and inode.
pub(super) type Identity = (u64, u64);

pub(super) fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

pub(super) fn identity_at(path: &Path) -> Option<Identity> {
    path.metadata().ok().as_ref().map(identity)
}

pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Held open, and so safe from replacement.
pub(super) struct Directory(File);

impl Directory {
    /// Follows links. The directory need not be readable.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        open(path, OFlags::PATH | OFlags::DIRECTORY).map(Self)
    }

    /// Refuses a link.
    pub(super) fn inner(&self, name: &OsStr) -> io::Result<Self> {
        open(
            &self.at(name),
            OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW,
        )
        .map(Self)
    }

    /// A path for system calls, valid even if the directory is moved.
    fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }

    pub(super) fn at(&self, name: &OsStr) -> PathBuf {
        self.path().join(name)
    }

    pub(super) fn real_path(&self) -> PathBuf {
        self.path().read_link().unwrap_or_default()
    }

    pub(super) fn identity(&self) -> Option<Identity> {
        identity_at(&self.path())
    }

    /// The rule of `fs.protected_fifos` in proc_sys_fs(5).
    pub(super) fn may_have_planted(&self, file: &Metadata) -> io::Result<bool> {
        let directory = self.path().metadata()?;
        let is_shared = directory.mode() & 0o1000 != 0 && directory.mode() & 0o022 != 0;
        let is_known = [rustix::process::geteuid().as_raw(), directory.uid()].contains(&file.uid());
        Ok(is_shared && !is_known)
    }

    /// Does not follow a link. None if the name is free.
    pub(super) fn inspect(&self, name: &OsStr) -> io::Result<Option<Metadata>> {
        match self.at(name).symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    /// `.` is the directory.
    pub(super) fn check_access(&self, name: &OsStr, access: Access) -> io::Result<()> {
        Ok(rustix::fs::accessat(
            &self.0,
            name,
            access,
            AtFlags::EACCESS,
        )?)
    }

    /// Refuses a link, and does not wait for a pipe.
    pub(super) fn open_file(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        open(&self.at(name), flags | OFlags::NOFOLLOW | OFlags::NONBLOCK)
    }

    /// Removes leftovers of killed writers of that name, or of any. Remaining leftovers are harmless.
    pub(super) fn sweep(&self, name: Option<&OsStr>) {
        let entries = self.path().read_dir().into_iter().flatten().flatten();
        for entry in entries.filter(|entry| is_temporary(&entry.file_name(), name)) {
            let _ = self.remove_leftover(&entry.file_name());
        }
    }

    fn remove_leftover(&self, name: &OsStr) -> io::Result<()> {
        let file = self.open_file(name, OFlags::empty())?;
        let found = file.metadata()?;
        // A live writer holds the lock.
        let is_left = found.is_file()
            && found.uid() == rustix::process::geteuid().as_raw()
            && file.try_lock().is_ok()
            && self
                .inspect(name)?
                .is_some_and(|now| identity(&now) == identity(&found));
        if is_left {
            std::fs::remove_file(self.at(name))
        } else {
            Ok(())
        }
    }
}

const INFIX: &[u8] = b".writebench-";
const SUFFIX: &str = ".part";
/// How many random letters and digits are between [`INFIX`] and [`SUFFIX`].
const ID_LENGTH: usize = 8;

/// `.NAME.writebench-`. A name has 255 bytes at most.
fn prefix(name: &OsStr) -> OsString {
    let name = name.as_bytes();
    OsString::from_vec([b".", &name[..name.len().min(200)], INFIX].concat())
}

/// Whether the entry may be a temporary file for that name, or for any.
fn is_temporary(entry: &OsStr, name: Option<&OsStr>) -> bool {
    let entry = entry.as_bytes().strip_suffix(SUFFIX.as_bytes());
    let Some((begins, id)) = entry.and_then(<[u8]>::split_last_chunk::<ID_LENGTH>) else {
        return false;
    };
    let is_of_name = match name {
        Some(name) => begins == prefix(name).as_bytes(),
        None => begins.starts_with(b".") && begins.ends_with(INFIX),
    };
    is_of_name && id.iter().all(u8::is_ascii_alphanumeric)
}

impl OutputPath {
    /// Writes a temporary file for that name. It is removed if dropped before it is published.
    pub(super) fn begin(
        &self,
        directory: &Directory,
        name: &OsStr,
        content: &str,
    ) -> Result<NamedTempFile> {
        let existing = self.call("stat", directory.inspect(name))?;
        // The existing file may have a stricter mode.
        let mode = if existing.is_some() { 0o600 } else { 0o666 };
        let prefix = prefix(name);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(ID_LENGTH);
        let made = builder.make_in(directory.path(), |path| create_locked(path, mode));
        let file = self.call("create a temporary file", made)?;
        if let Some(existing) = &existing {
            self.call("keep its mode", become_like(file.as_file(), existing))?;
        }
        self.call("write", file.as_file().write_all(content.as_bytes()))?;
        self.check_name(directory, name)?;
        Ok(file)
    }

    /// Renames the file once all data is on the disk.
    pub(super) fn finish(
        &self,
        directory: &Directory,
        name: &OsStr,
        file: NamedTempFile,
    ) -> Result<()> {
        self.call("fsync", file.as_file().sync_all())?;
        self.publish(directory, name, file).map(drop)
    }

    /// Renames the file now. Readers see later writes at once.
    pub(super) fn publish(
        &self,
        directory: &Directory,
        name: &OsStr,
        file: NamedTempFile,
    ) -> Result<File> {
        let file = self.call("rename", file.persist(directory.at(name)))?;
        // Without it, the name is lost at power loss.
        match File::open(directory.path()).and_then(|directory| directory.sync_all()) {
            // An unreadable directory, or a filesystem without fsync(2) of directories.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::InvalidInput
                ) =>
            {
                Ok(file)
            }
            synced => self.call("fsync its directory", synced.map(|()| file)),
        }
    }
}

/// A sweep may remove the file before it is locked. Then the caller tries another name.
fn create_locked(path: &Path, mode: u32) -> io::Result<File> {
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    // A filesystem without locks returns another error. Nothing is swept there.
    let is_taken =
        matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || file.metadata()?.nlink() == 0;
    if is_taken {
        Err(ErrorKind::AlreadyExists.into())
    } else {
        Ok(file)
    }
}

/// Keeps owner and mode, as truncating and rewriting would.
fn become_like(file: &File, existing: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (existing.uid(), existing.gid()) {
        match fchown(file, Some(existing.uid()), Some(existing.gid())) {
            // Only root can keep another owner. Editors that replace a file have the same limit.
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
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn named(path: &Path) -> OutputPath {
        let protected = ProtectedPaths::database(Some(&path.with_file_name("database"))).into();
        OutputPath {
            option: "--output",
            path: path.to_path_buf(),
            protected,
        }
    }

    #[test]
    fn readers_see_the_old_file_or_the_complete_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(folder.path()).unwrap();
        let path = folder.path().join("page");
        std::fs::write(&path, "old").unwrap();
        let named = named(&path);
        let page = OsStr::new("page");
        let new = named.begin(&directory, page, "half").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(new);
        assert_eq!(
            (std::fs::read(&path).unwrap(), names(folder.path())),
            (b"old".to_vec(), vec!["page".to_owned()])
        );
        let new = named.begin(&directory, page, "whole").unwrap();
        named.finish(&directory, page, new).unwrap();
        assert_eq!(
            (std::fs::read(&path).unwrap(), names(folder.path())),
            (b"whole".to_vec(), vec!["page".to_owned()])
        );
    }

    #[test]
    fn sweeping_removes_leftovers_of_killed_writers_only() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(folder.path()).unwrap();
        let page = OsStr::new("page");
        let named = named(&folder.path().join(page));
        let at_work = named.begin(&directory, page, "").unwrap();
        let left = [
            ".page.writebench-0123abcd.part",
            ".chart.writebench-0123abcd.part",
        ];
        let others = [
            ".page.writebench-notes.part",
            "page.writebench-0123abcd.part",
            ".page.part",
        ];
        for name in left.iter().chain(&others) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::os::unix::fs::symlink(
            "/dev/null",
            folder.path().join(".page.writebench-99999999.part"),
        )
        .unwrap();
        directory.sweep(Some(page));
        assert!(!folder.path().join(left[0]).exists() && folder.path().join(left[1]).exists());
        directory.sweep(None);
        assert_eq!(
            names(folder.path()).len(),
            others.len() + 2,
            "{:?}",
            names(folder.path())
        );
        named.finish(&directory, page, at_work).unwrap();
    }

    #[test]
    fn a_name_of_255_bytes_gets_a_temporary_name() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(folder.path()).unwrap();
        let name = OsString::from("x".repeat(255));
        let named = named(&folder.path().join(&name));
        let new = named.begin(&directory, &name, "").unwrap();
        let temporary = new.path().file_name().unwrap();
        assert!(
            is_temporary(temporary, Some(&name)) && is_temporary(temporary, None),
            "{temporary:?}"
        );
    }
}
