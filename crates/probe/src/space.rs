//! What a filesystem has left.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::StatVfs;

use crate::ProbeError;
use crate::ROOT;
use crate::device::BlockDevice;
use crate::target::block_device_at;

/// What a filesystem has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Space {
    /// Its size.
    pub total_bytes: u64,
    /// Bytes that can be written without privilege: blocks reserved for root are not among them.
    pub available_bytes: u64,
    /// Files that there can be; none where the filesystem has no such limit.
    pub total_inodes: Option<u64>,
    /// Those that can be created; none where the filesystem has no such limit.
    pub available_inodes: Option<u64>,
}

impl From<&StatVfs> for Space {
    fn from(stat: &StatVfs) -> Self {
        // Filesystems in user space report what they like, so nothing is taken for granted.
        Self {
            total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
            available_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
            total_inodes: (stat.f_files > 0).then_some(stat.f_files),
            available_inodes: (stat.f_files > 0).then_some(stat.f_favail),
        }
    }
}

impl Space {
    /// All of a device can be written.
    pub(crate) fn of_block_device(device: &BlockDevice) -> Result<Self, ProbeError> {
        let size_bytes = device.size_bytes()?;
        Ok(Self {
            total_bytes: size_bytes,
            available_bytes: size_bytes,
            total_inodes: None,
            available_inodes: None,
        })
    }
}

/// What the filesystem of a target has left; for a target that is itself a block device, that device's size.
///
/// # Errors
///
/// When statvfs(3) fails on the target, or sysfs does not tell the device's size.
pub fn space(target: &Path) -> Result<Space, ProbeError> {
    match block_device_at(target) {
        Some(number) => Space::of_block_device(&BlockDevice::of_node(Path::new(ROOT), target, number)?),
        None => statvfs(target).map(|stat| Space::from(&stat)),
    }
}

/// The same for the filesystem of an open directory.
///
/// # Errors
///
/// When fstatvfs(3) fails.
pub fn space_around(directory: impl AsFd) -> Result<Space, ProbeError> {
    rustix::io::retry_on_intr(|| rustix::fs::fstatvfs(directory.as_fd()))
        .map(|stat| Space::from(&stat))
        .map_err(|errno| ProbeError::call("fstatvfs", Path::new("."), errno))
}

pub(crate) fn statvfs(target: &Path) -> Result<StatVfs, ProbeError> {
    rustix::io::retry_on_intr(|| rustix::fs::statvfs(target))
        .map_err(|errno| ProbeError::call("statvfs", target, errno))
}
