use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::directory_entry::DirectoryEntry;
use crate::error::{RunnerError, failed};
use crate::holders::lasting_holder;
use crate::workspace::{
    ID_DIGITS, Leftover, OWNER, PREFIX, is_empty_but_for, names_in, remove_all,
};

/// The directories in a target with names of writebench, in any database or none.
pub(crate) fn leftovers_in(path: &Path, target: &OwnedFd) -> Result<Vec<OsString>, RunnerError> {
    let names = names_in(target).map_err(failed("readdir", path))?;
    let paths = names
        .iter()
        .map(|name| path.join(OsStr::from_bytes(name.to_bytes())));
    Ok(paths
        .filter(|path| workspace_id(path).is_some())
        .map(OsString::from)
        .collect())
}

/// Removes the directory of a dead run without asking a database, because the directory itself shows its
/// owner. It belongs to this user. Its name has a random id, and it is empty or has a file with that id.
/// Neither is locked, and no process has anything in it open.
pub(crate) fn remove_leftover(path: &Path) -> Result<Leftover, RunnerError> {
    // A database may contain any path.
    if workspace_id(path).is_none() {
        return Ok(Leftover::NotThere);
    }
    let entry = match DirectoryEntry::at(path) {
        Ok(entry) => entry,
        Err(RunnerError::Swapped { .. }) => return Ok(Leftover::NotThere),
        Err(RunnerError::Target { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Leftover::Away);
        }
        Err(error) => return Err(error),
    };
    let directory = match entry.open() {
        Ok(directory) => directory,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Leftover::NotThere),
        Err(errno) => return Err(failed("open", path)(errno)),
    };
    let stat = rustix::fs::fstat(&directory).map_err(failed("stat", path))?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(Leftover::NotThere);
    }
    // A run holds this lock while it makes the directory, until the owner file exists.
    if rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive)
        == Err(Errno::WOULDBLOCK)
    {
        return Ok(Leftover::InUse);
    }
    // Opening a pipe would wait for its other end.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let owner = match rustix::fs::openat(&directory, OWNER, flags, Mode::empty()) {
        Ok(owner) => owner,
        // The run died right after making the directory or right before removing it, so it is empty.
        Err(Errno::NOENT) if entry.leads_to(&directory) => {
            return Ok(entry
                .remove_directory()
                .map_or(Leftover::NotThere, |()| Leftover::Removed));
        }
        Err(Errno::NOENT | Errno::LOOP) => return Ok(Leftover::NotThere),
        Err(errno) => return Err(failed("open", &path.join(OWNER))(errno)),
    };
    if rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(Leftover::InUse);
    }
    let mut id = [0; 64];
    let length = rustix::io::pread(&owner, &mut id, 0).map_err(failed("read", path))?;
    let expected = workspace_id(path).unwrap_or_default();
    // The run died, or the disk was full, before the id was written, so the file is alone.
    let is_new = || is_empty_but_for(&directory, Some(OWNER)).map_err(failed("read", path));
    let is_ours = expected == &id[..length] || (expected.starts_with(&id[..length]) && is_new()?);
    if !is_ours {
        return Ok(Leftover::NotThere);
    }
    if let Some(process) = lasting_holder(path) {
        return Ok(Leftover::Held(process));
    }
    remove_all(&entry, &directory, Some(owner))
}

fn workspace_id(path: &Path) -> Option<&[u8]> {
    let id = path
        .file_name()?
        .as_bytes()
        .strip_prefix(PREFIX.as_bytes())?;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (id.len() == ID_DIGITS && id.iter().all(is_digit)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory_entry::open_without_links;
    use crate::workspace::{Workspace, workspace_path};
    use std::fs::File;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn files_in(path: &Path) -> usize {
        std::fs::read_dir(path).unwrap().count()
    }

    fn created(target: &Path) -> Workspace {
        Workspace::create(&open_without_links(target).unwrap(), target, ID).unwrap()
    }

    fn leftover(target: &Path) -> std::path::PathBuf {
        let path = workspace_path(target, ID);
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(OWNER), ID).unwrap();
        File::create(path.join("sample")).unwrap();
        path
    }

    #[test]
    fn a_leftover_is_removed_once_its_run_is_gone() {
        let target = tempfile::tempdir().unwrap();
        let workspace = created(target.path());
        let path = workspace_path(target.path(), ID);
        assert_eq!(remove_leftover(&path).unwrap(), Leftover::InUse);
        assert_eq!(workspace.remove().unwrap(), Leftover::Removed);
        assert_eq!(remove_leftover(&path).unwrap(), Leftover::NotThere);
        let missing = workspace_path(&target.path().join("not mounted"), ID);
        assert_eq!(remove_leftover(&missing).unwrap(), Leftover::Away);
        drop(created(target.path()));
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::Removed,
            "its agent was killed"
        );
        leftover(target.path());
        assert_eq!(remove_leftover(&path).unwrap(), Leftover::Removed);
        std::fs::create_dir(&path).unwrap();
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::Removed,
            "killed between two steps"
        );
        assert_eq!(files_in(target.path()), 0);
        std::fs::create_dir(&path).unwrap();
        File::create(path.join(OWNER)).unwrap();
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::Removed,
            "killed before it wrote its id"
        );
        assert_eq!(files_in(target.path()), 0);
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(OWNER), &ID[..7]).unwrap();
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::Removed,
            "the disk was full"
        );
        assert_eq!(files_in(target.path()), 0);
    }

    #[test]
    fn a_replacement_is_not_touched() {
        let target = tempfile::tempdir().unwrap();
        let theirs = target.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        std::fs::write(theirs.join(OWNER), ID).unwrap();
        let path = workspace_path(target.path(), ID);
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::NotThere,
            "a link"
        );
        std::fs::remove_file(&path).unwrap();
        File::create(&path).unwrap();
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::NotThere,
            "a file"
        );
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        File::create(path.join("precious")).unwrap();
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::NotThere,
            "no owner"
        );
        std::fs::write(path.join(OWNER), "another").unwrap();
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::NotThere,
            "another owner"
        );
        File::create(path.join(OWNER)).unwrap();
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::NotThere,
            "an empty owner beside something"
        );
        std::fs::write(path.join(OWNER), &ID[..7]).unwrap();
        assert_eq!(
            remove_leftover(&path).unwrap(),
            Leftover::NotThere,
            "a part of the id beside something"
        );
        assert!(path.join("precious").exists() && theirs.join(OWNER).exists());
    }

    #[test]
    fn a_path_that_a_stranger_wrote_removes_nothing() {
        let target = tempfile::tempdir().unwrap();
        let longer = format!(".writebench-{ID}0");
        let names = [
            "empty",
            ".writebench-",
            ".writebench-../x",
            ".writebench-a b",
            ".writebench-x",
            &longer,
        ];
        for name in names
            .into_iter()
            .chain([".writebench-0123456789ABCDEF0123456789ABCDEF"])
        {
            let path = target.path().join(name.replace("../x", "x."));
            std::fs::create_dir_all(&path).unwrap();
            assert_eq!(
                remove_leftover(&path).unwrap(),
                Leftover::NotThere,
                "{name}"
            );
            assert!(path.is_dir(), "{name}");
        }
        assert_eq!(remove_leftover(Path::new("/")).unwrap(), Leftover::NotThere);
    }

    #[test]
    fn a_directory_that_became_a_link_is_not_followed() {
        let target = tempfile::tempdir().unwrap();
        let theirs = tempfile::tempdir().unwrap();
        leftover(theirs.path());
        let link = target.path().join("data");
        std::os::unix::fs::symlink(theirs.path(), &link).unwrap();
        let path = workspace_path(&link, ID);
        assert_eq!(remove_leftover(&path).unwrap(), Leftover::NotThere);
        assert_eq!(files_in(theirs.path()), 1);
        assert_eq!(open_without_links(&link).err(), Some(Errno::LOOP));
    }

    #[test]
    fn a_directory_that_is_being_made_is_left_alone() {
        let target = tempfile::tempdir().unwrap();
        let path = workspace_path(target.path(), ID);
        std::fs::create_dir(&path).unwrap();
        let making = open_without_links(&path).unwrap();
        rustix::fs::flock(&making, FlockOperation::LockExclusive).unwrap();
        assert_eq!(remove_leftover(&path).unwrap(), Leftover::InUse);
        drop(making);
        assert_eq!(remove_leftover(&path).unwrap(), Leftover::Removed);
    }

    #[test]
    fn leftover_names_are_found_in_a_target() {
        let target = tempfile::tempdir().unwrap();
        let ours = leftover(target.path());
        File::create(target.path().join(".writebench-../x".replace('/', ""))).unwrap();
        File::create(target.path().join("writebench.db")).unwrap();
        let directory = open_without_links(target.path()).unwrap();
        assert_eq!(leftovers_in(target.path(), &directory).unwrap(), [ours]);
    }

    #[test]
    fn a_pipe_in_place_of_the_lock_does_not_block_removal() {
        let target = tempfile::tempdir().unwrap();
        let path = workspace_path(target.path(), ID);
        std::fs::create_dir(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path.join(OWNER), Mode::RWXU).unwrap();
        assert!(remove_leftover(&path).is_err());
        assert_eq!(files_in(&path), 1);
    }
}
