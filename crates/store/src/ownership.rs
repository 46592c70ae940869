//! SQLite obeys a journal next to a database even for reading. Other users must not be able to change the
//! database, the files next to it or their directory.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::geteuid;

use crate::StoreError;

/// The ends of the names of SQLite's own files, and of the locks of runs.
const SUFFIXES: [&str; 5] = ["", "-journal", "-wal", "-shm", RUN_LOCKS];
pub(crate) const RUN_LOCKS: &str = "-runs";

/// The file whose name is that of the database with a suffix.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

/// The paths of the database and of all files that may be next to it.
pub fn files(path: &Path) -> impl Iterator<Item = PathBuf> {
    SUFFIXES.iter().map(|suffix| beside(path, suffix))
}

/// Refuses a database that another user could have made, could write, or could give a journal. Only the
/// directory itself is checked, not its parents. `path` is the user's name for the database, `real` its
/// actual path.
pub(crate) fn check(path: &Path, real: &Path) -> Result<(), StoreError> {
    match risk(path, real)? {
        None => Ok(()),
        Some(what) => Err(StoreError::Unsafe {
            path: path.to_path_buf(),
            what,
        }),
    }
}

/// The reason to refuse the database, and the remedy.
fn risk(path: &Path, real: &Path) -> Result<Option<String>, StoreError> {
    for suffix in SUFFIXES {
        let file = beside(real, suffix);
        let metadata = match file.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(StoreError::Unreadable { path: file, error }),
        };
        if suffix.is_empty() && !metadata.is_file() && !metadata.is_symlink() {
            return Err(StoreError::NoFile {
                path: path.to_path_buf(),
            });
        }
        if let Some(risk) = file_risk(&file, &metadata) {
            return Ok(Some(risk));
        }
    }
    let Some(directory) = real.parent() else {
        return Ok(None);
    };
    // SQLite reports a missing directory.
    let Ok(metadata) = directory.metadata() else {
        return Ok(None);
    };
    Ok(directory_risk(directory, &metadata, real))
}

fn file_risk(file: &Path, metadata: &Metadata) -> Option<String> {
    let name = file.display();
    if metadata.is_symlink() {
        let leads_to = std::fs::read_link(file).unwrap_or_default();
        let leads_to = leads_to.display();
        return Some(format!(
            "{name} is a symbolic link to {leads_to}, which another user may have made: name that file with --db"
        ));
    }
    if !metadata.is_file() {
        return Some(format!(
            "{name} is not a regular file: remove it, or name another database with --db"
        ));
    }
    if metadata.uid() != geteuid().as_raw() {
        let owner = metadata.uid();
        return Some(format!(
            "{name} belongs to another user (uid {owner}): copy it to your own directory, and name the copy with \
             --db"
        ));
    }
    may_be_written_by_others(file, metadata).then(|| {
        format!("{name} can be written by other users: `chmod go-w` it if you trust its content")
    })
}

fn directory_risk(directory: &Path, metadata: &Metadata, real: &Path) -> Option<String> {
    let name = directory.display();
    let owner = metadata.uid();
    if owner != geteuid().as_raw() && owner != 0 {
        return Some(format!(
            "{name} belongs to another user (uid {owner}), and SQLite would obey a journal made there: name a \
             database in your own directory with --db"
        ));
    }
    let file = real.file_name().unwrap_or_default();
    let better = directory.join("mine").join(file);
    may_be_written_by_others(directory, metadata).then(|| {
        format!(
            "other users can make files in {name}, and SQLite would obey a journal made there. Use your own \
             directory, which is made if it is missing: --db {}",
            better.display()
        )
    })
}

/// Whether others may write, not counting the user's own group by `usergroups` of `pam_umask(8)`: the user is not root,
/// and the group has the user's number. An access control list changes the meaning of the group's bits to other users.
fn may_be_written_by_others(path: &Path, metadata: &Metadata) -> bool {
    let mode = metadata.mode();
    let user = geteuid();
    let is_own_group =
        !user.is_root() && metadata.gid() == user.as_raw() && !has_access_control_list(path);
    mode & 0o002 != 0 || (mode & 0o020 != 0 && !is_own_group)
}

fn has_access_control_list(path: &Path) -> bool {
    let mut none: [u8; 0] = [];
    let list = rustix::fs::getxattr(path, c"system.posix_acl_access", &mut none[..]);
    !matches!(list, Err(Errno::NODATA | Errno::OPNOTSUPP))
}
