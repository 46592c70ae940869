//! Inspection of a target before anything is done with it.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use writebench_model::Environment;
use writebench_probe::Space;

use crate::directory_entry::open_without_links;
use crate::error::{RunnerError, failed};
use crate::pipe::path_bytes;

/// A target as its target helper found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// The absolute path, without links.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    pub kind: TargetKind,
    /// The number of the filesystem: targets with the same number share their space.
    pub filesystem_number: u64,
    /// The facts about the target and the machine, if the file can be a target.
    pub environment: Option<Environment>,
    /// The free space of the filesystem; none if the file cannot be a target.
    pub space: Option<Space>,
    /// Why no file can be made in the directory, as an errno; none if unknown.
    pub not_writable: Option<i32>,
}

/// The kind of file that a target's path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    Directory,
    BlockDevice,
    /// A file that cannot be a target.
    Other,
}

/// Inspects a target, and opens it if it is a directory.
pub(super) fn inspect(named: &Path) -> Result<(Inspection, Option<OwnedFd>), RunnerError> {
    let path = named.canonicalize().map_err(failed("realpath", named))?;
    let metadata = fs::metadata(&path).map_err(failed("stat", named))?;
    let kind = match metadata.file_type() {
        file_type if file_type.is_dir() => TargetKind::Directory,
        file_type if file_type.is_block_device() => TargetKind::BlockDevice,
        _ => TargetKind::Other,
    };
    let (environment, space) = match kind {
        TargetKind::Other => (writebench_probe::environment(&path).ok(), None),
        _ => (Some(writebench_probe::environment(&path)?), Some(writebench_probe::space(&path)?)),
    };
    let directory = (kind == TargetKind::Directory).then(|| open_without_links(&path));
    let directory = directory.transpose().map_err(failed("open", &path))?;
    let not_writable = directory.as_ref().and_then(not_writable);
    let look = Inspection { kind, filesystem_number: metadata.dev(), environment, space, not_writable, path };
    Ok((look, directory))
}

/// The answer of access(2), if there is one: some filesystems cannot tell.
fn not_writable(directory: &OwnedFd) -> Option<i32> {
    let access = Access::WRITE_OK | Access::EXEC_OK;
    match rustix::fs::accessat(directory, c".", access, AtFlags::EACCESS) {
        Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Some(errno.raw_os_error()),
        _ => None,
    }
}
