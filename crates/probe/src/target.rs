use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::device_number::DeviceNumber;
use crate::error::ProbeError;

/// A directory or a block device that a user chose for the benchmark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) path: &'a Path,
    /// The number of the filesystem that holds the path: its device's number, or an anonymous one.
    pub(crate) filesystem: DeviceNumber,
    /// The number of the device whose node the path is, or `None` if it is no block device.
    pub(crate) node: Option<DeviceNumber>,
}

impl<'a> Target<'a> {
    pub(crate) fn inspect(path: &'a Path) -> Result<Self, ProbeError> {
        let stat = fs::metadata(path).map_err(|error| ProbeError::call("stat", path, error))?;
        let filesystem = DeviceNumber::from_stat(stat.dev());
        Ok(Self {
            path,
            filesystem,
            node: block_device_number(&stat),
        })
    }
}

/// The number of the block device at `path`, or `None` for anything else there.
pub(crate) fn block_device_at(path: &Path) -> Option<DeviceNumber> {
    block_device_number(&fs::metadata(path).ok()?)
}

fn block_device_number(stat: &fs::Metadata) -> Option<DeviceNumber> {
    stat.file_type()
        .is_block_device()
        .then(|| DeviceNumber::from_stat(stat.rdev()))
}
