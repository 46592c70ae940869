use std::fs;
use std::path::Path;

use writebench_model::Filesystem;

use crate::device::BlockDevice;
use crate::direct;
use crate::error::ProbeError;
use crate::file_layout;
use crate::mountinfo::Mount;
use crate::space::{Space, statvfs};

/// Stands for each fact of a mount that was not found.
const UNKNOWN: &str = "unknown";

/// Stands for the mount of a device that is used without a filesystem.
const NONE: &str = "none";

/// Describes a device as if it were a filesystem. The filesystem of its node, usually devtmpfs, is irrelevant.
pub(crate) fn for_block_device(
    target: &Path,
    device: &BlockDevice,
) -> Result<Filesystem, ProbeError> {
    let path =
        fs::canonicalize(target).map_err(|error| ProbeError::call("realpath", target, error))?;
    let size_bytes = device.size_bytes()?;
    let direct = direct::of_new_file(&path);
    Ok(Filesystem {
        kind: Filesystem::BLOCK_DEVICE.to_owned(),
        source: path.to_string_lossy().into_owned(),
        mount_point: NONE.to_owned(),
        mount_options: NONE.to_owned(),
        total_bytes: size_bytes,
        available_bytes: size_bytes,
        block_size_bytes: device.logical_sector_bytes()?,
        file_layout: None,
        direct_io: direct.alignment,
        atomic_writes: direct.atomic,
    })
}

pub(crate) fn facts(target: &Path, mount: Option<&Mount>) -> Result<Filesystem, ProbeError> {
    let stat = statvfs(target)?;
    let space = Space::from(&stat);
    let file_layout =
        mount.and_then(|mount| file_layout::for_new_files(&mount.kind, &mount.source, target));
    let direct = direct::of_new_file(target);
    Ok(Filesystem {
        kind: or_unknown(mount.map(|mount| mount.kind.clone())),
        source: or_unknown(mount.map(|mount| mount.source.clone())),
        mount_point: or_unknown(mount.map(|mount| mount.mount_point.clone())),
        mount_options: or_unknown(mount.map(Mount::all_options)),
        total_bytes: space.total_bytes,
        available_bytes: space.available_bytes,
        block_size_bytes: stat.f_frsize,
        file_layout,
        direct_io: direct.alignment,
        atomic_writes: direct.atomic,
    })
}

fn or_unknown(fact: Option<String>) -> String {
    fact.unwrap_or_else(|| UNKNOWN.to_owned())
}
