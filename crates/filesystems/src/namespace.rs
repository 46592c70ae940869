//! The private mount namespace, in which the filesystems are mounted.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, unshare};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount,
};

use crate::error::Error;

/// Nearly every Linux has these, and they rarely hold programs or their files.
const CANDIDATES: [&str; 3] = ["/mnt", "/media", "/srv"];

const DOING: &str = "enter a mount namespace";

/// A private mount namespace, with an empty directory for mount points. A drop unmounts the directory, and the kernel
/// drops the namespace with its last process.
#[derive(Debug)]
pub struct PrivateMounts {
    path: PathBuf,
}

impl PrivateMounts {
    /// Enters a private mount namespace, and covers one of `/mnt`, `/media` and `/srv` without `needed_paths`:
    /// all paths that are opened later.
    ///
    /// Only the calling thread enters, with the threads and processes that it starts later: call this in a
    /// process of one thread.
    ///
    /// # Errors
    ///
    /// The process lacks `CAP_SYS_ADMIN`, or all three directories are needed.
    pub fn enter(needed_paths: &[&Path]) -> Result<Self, Error> {
        enter()?;
        let path = cover(needed_paths)?;
        Ok(Self { path })
    }

    /// A directory to mount something at, which is made unless it is there.
    ///
    /// # Errors
    ///
    /// The directory cannot be made.
    pub fn point(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        if path.is_dir() {
            return Ok(path);
        }
        make_directory(&path)
    }
}

impl Drop for PrivateMounts {
    fn drop(&mut self) {
        let _ = unmount(&self.path, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH);
    }
}

/// Moves the calling thread into a new mount namespace. Later mounts outside appear inside, but not the reverse.
fn enter() -> Result<(), Error> {
    const CALL: &str = "unshare(CLONE_NEWNS)";
    unshare(CloneFlags::CLONE_NEWNS)
        .map_err(|errno| failed(CALL, Path::new("/proc/self/ns/mnt"), errno.into()))?;
    let slave = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    let root = Path::new("/");
    mount_change(root, slave).map_err(|errno| failed("mount(MS_SLAVE)", root, errno.into()))
}

/// A container may refuse one call and allow another.
fn failed(call: &'static str, path: &Path, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::PermissionDenied {
        Error::NotPermitted { call, error }
    } else {
        Error::call(DOING, call, path, error)
    }
}

/// It is an error if the process is in a user namespace, where the kernel mounts no disks.
pub(crate) fn require_initial_user() -> Result<(), Error> {
    const ALL: [&str; 3] = ["0", "0", "4294967295"];
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    // Without /proc, a mount tells.
    if map.is_empty() || map.split_whitespace().eq(ALL) {
        Ok(())
    } else {
        Err(Error::InUserNamespace)
    }
}

/// Mounts an empty filesystem in memory over a directory that holds none of the needed paths, and returns it.
fn cover(needed: &[&Path]) -> Result<PathBuf, Error> {
    let directory = choose(&CANDIDATES.map(PathBuf::from), needed)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount(
        "writebench",
        &directory,
        "tmpfs",
        flags,
        c"mode=0700,size=1m",
    )
    .map_err(|errno| failed("mount(tmpfs)", &directory, errno.into()))?;
    Ok(directory)
}

pub(crate) fn make_directory(path: &Path) -> Result<PathBuf, Error> {
    DirBuilder::new()
        .mode(0o700)
        .create(path)
        .map_err(|error| Error::call("make a directory", "mkdir", path, error))?;
    Ok(path.to_owned())
}

fn choose(candidates: &[PathBuf], needed: &[&Path]) -> Result<PathBuf, Error> {
    let needed: Vec<_> = needed.iter().map(|path| real(path)).collect();
    for candidate in candidates {
        let is_needed = needed.iter().any(|path| path.starts_with(candidate));
        if is_directory(candidate) && !is_needed {
            return Ok(candidate.clone());
        }
    }
    let names: Vec<_> = candidates
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Err(Error::NoMountPoint {
        tried: names.join(" or "),
    })
}

/// A link is none: covering it would cover its target, which the list of needed paths does not check.
fn is_directory(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|metadata| metadata.is_dir())
}

/// The path without symbolic links. Its last components may not exist yet.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_: io::Error| path.to_owned());
    let mut missing = Vec::new();
    for parent in absolute.ancestors() {
        if let Ok(real) = parent.canonicalize() {
            return missing
                .iter()
                .rev()
                .fold(real, |path, name| path.join(name));
        }
        missing.extend(parent.file_name());
    }
    absolute
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_directory_without_needed_paths_is_covered() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir_all(at("a/deep")).unwrap();
        std::fs::create_dir(at("b")).unwrap();
        std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
        let candidates = [at("absent"), at("link"), at("a"), at("b")];
        let chosen = |needed: &[PathBuf]| {
            choose(
                &candidates,
                &needed.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
            )
        };
        assert_eq!(chosen(&[]).unwrap(), at("a"));
        assert_eq!(chosen(&[at("a/deep/er/file")]).unwrap(), at("b"));
        assert_eq!(chosen(&[at("link/deep")]).unwrap(), at("b"));
        assert_eq!(chosen(&[at("a")]).unwrap(), at("b"));
        assert_eq!(chosen(&[at("ab")]).unwrap(), at("a"));
        assert!(matches!(
            chosen(&[at("a"), at("b")]),
            Err(Error::NoMountPoint { .. })
        ));
    }
}
