//! The target's filesystem.

use std::path::Path;

use model::Filesystem;

use crate::ProbeError;
use crate::mountinfo::Mount;
use crate::space::{Space, statvfs};

/// For what only a mount can tell when the mount was not found.
const UNKNOWN: &str = "unknown";

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
    })
}
