use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::StatVfs;

use crate::device::BlockDevice;
use crate::error::ProbeError;
use crate::kernel_file::ROOT;
use crate::target::block_device_at;

/// The size and the room of a filesystem, or the size of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Space {
    pub total_bytes: u64,
    /// What a user without privileges may still write, without the blocks reserved for root.
    pub available_bytes: u64,
    /// How many files fit, or `None` if the filesystem has no limit.
    pub total_inodes: Option<u64>,
    /// How many more files fit, or `None` if the filesystem has no limit.
    pub available_inodes: Option<u64>,
}

impl From<&StatVfs> for Space {
    fn from(stat: &StatVfs) -> Self {
        // A filesystem in user space may report anything, so the arithmetic saturates.
        Self {
            total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
            available_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
            total_inodes: (stat.f_files > 0).then_some(stat.f_files),
            available_inodes: (stat.f_files > 0).then_some(stat.f_favail),
        }
    }
}

/// The space of the filesystem that holds `target`. The space of a block device is its size.
///
/// # Errors
///
/// It is an error if statvfs(3) fails on the target, or if sysfs lacks the device's size.
pub fn space(target: &Path) -> Result<Space, ProbeError> {
    let Some(number) = block_device_at(target) else {
        return Ok(Space::from(&statvfs(target)?));
    };
    let bytes = BlockDevice::from_node(Path::new(ROOT), target, number)?.size_bytes()?;
    Ok(Space {
        total_bytes: bytes,
        available_bytes: bytes,
        total_inodes: None,
        available_inodes: None,
    })
}

/// The space of the filesystem that holds an open directory.
///
/// # Errors
///
/// It is an error if fstatvfs(3) fails.
pub fn space_around(directory: impl AsFd) -> Result<Space, ProbeError> {
    rustix::io::retry_on_intr(|| rustix::fs::fstatvfs(directory.as_fd()))
        .map(|stat| Space::from(&stat))
        .map_err(|errno| ProbeError::call("fstatvfs", Path::new("."), errno))
}

pub(crate) fn statvfs(target: &Path) -> Result<StatVfs, ProbeError> {
    rustix::io::retry_on_intr(|| rustix::fs::statvfs(target))
        .map_err(|errno| ProbeError::call("statvfs", target, errno))
}
