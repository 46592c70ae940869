//! What a filesystem has left.

use std::path::Path;

use rustix::fs::StatVfs;

use crate::ProbeError;

/// What a filesystem has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Its size.
    pub total_bytes: u64,
    /// Bytes that can be written without privilege: blocks reserved for root are not among them.
    pub available_bytes: u64,
    /// Files that can be created; none where the filesystem has no such limit.
    pub available_inodes: Option<u64>,
}

impl From<&StatVfs> for Space {
    fn from(stat: &StatVfs) -> Self {
        // Filesystems in user space report what they like, so nothing is taken for granted.
        Self {
            total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
            available_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
            available_inodes: (stat.f_files > 0).then_some(stat.f_favail),
        }
    }
}

/// What the filesystem of a target has left.
///
/// # Errors
///
/// When statvfs(3) fails on the target.
pub fn space(target: &Path) -> Result<Space, ProbeError> {
    statvfs(target).map(|stat| Space::from(&stat))
}

pub(crate) fn statvfs(target: &Path) -> Result<StatVfs, ProbeError> {
    rustix::io::retry_on_intr(|| rustix::fs::statvfs(target))
        .map_err(|errno| ProbeError::call("statvfs", target, errno))
}
