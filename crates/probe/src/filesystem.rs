use std::fs;
use std::path::Path;

use writebench_model::Filesystem;

use crate::device::BlockDevice;
use crate::error::ProbeError;
use crate::file_layout;
use crate::mountinfo::Mount;
use crate::space::{Space, statvfs};

/// For a mount that was not found.
const UNKNOWN: &str = "unknown";

/// For a device without a filesystem.
const NONE: &str = "none";

/// The node's own filesystem, usually devtmpfs, is irrelevant.
pub(crate) fn for_block_device(
    target: &Path,
    device: &BlockDevice,
) -> Result<Filesystem, ProbeError> {
    let path =
        fs::canonicalize(target).map_err(|error| ProbeError::call("realpath", target, error))?;
    let size_bytes = device.size_bytes()?;
    Ok(Filesystem {
        kind: Filesystem::BLOCK_DEVICE.to_owned(),
        source: path.to_string_lossy().into_owned(),
        mount_point: NONE.to_owned(),
        mount_options: NONE.to_owned(),
        total_bytes: size_bytes,
        available_bytes: size_bytes,
        block_size_bytes: device.logical_sector_bytes()?,
        file_layout: None,
    })
}

pub(crate) fn facts(target: &Path, mount: Option<&Mount>) -> Result<Filesystem, ProbeError> {
    let stat = statvfs(target)?;
    let space = Space::from(&stat);
    let told = |fact: fn(&Mount) -> String| mount.map_or_else(|| UNKNOWN.to_owned(), fact);
    Ok(Filesystem {
        kind: told(|mount| mount.kind.clone()),
        source: told(|mount| mount.source.clone()),
        mount_point: told(|mount| mount.mount_point.clone()),
        mount_options: told(Mount::all_options),
        total_bytes: space.total_bytes,
        available_bytes: space.available_bytes,
        block_size_bytes: stat.f_frsize,
        file_layout: mount
            .and_then(|mount| file_layout::for_new_files(&mount.kind, &mount.source, target)),
    })
}
