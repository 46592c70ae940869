use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use writebench_model::Environment;
use writebench_model::protocol::path_bytes;
use writebench_probe::Space;

use crate::directory_entry::open_without_links;
use crate::error::{RunnerError, failed};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// The absolute path, with all links resolved.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    pub kind: TargetKind,
    /// Targets of the same filesystem share its space.
    pub filesystem_number: u64,
    /// The machine and the filesystem. They may be unknown if the file cannot be a target.
    pub environment: Option<Environment>,
    /// The space of the filesystem or device, or None if the file cannot be a target.
    pub space: Option<Space>,
    /// The errno of making a file in the directory. None if unknown.
    pub not_writable: Option<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    Directory,
    BlockDevice,
    Other,
}

/// Opens the target if it is a directory.
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
        _ => (
            Some(writebench_probe::environment(&path)?),
            Some(writebench_probe::space(&path)?),
        ),
    };
    let directory = (kind == TargetKind::Directory).then(|| open_without_links(&path));
    let directory = directory.transpose().map_err(failed("open", &path))?;
    let not_writable = directory.as_ref().and_then(not_writable);
    let look = Inspection {
        kind,
        filesystem_number: metadata.dev(),
        environment,
        space,
        not_writable,
        path,
    };
    Ok((look, directory))
}

/// The error of access(2). Some filesystems do not support it.
fn not_writable(directory: &OwnedFd) -> Option<i32> {
    let access = Access::WRITE_OK | Access::EXEC_OK;
    match rustix::fs::accessat(directory, c".", access, AtFlags::EACCESS) {
        Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Some(errno.raw_os_error()),
        _ => None,
    }
}
