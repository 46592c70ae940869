use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::device_number::DeviceNumber;
use crate::error::ProbeError;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) path: &'a Path,
    /// Its device's, or an anonymous one.
    pub(crate) filesystem: DeviceNumber,
    /// If the target is a block device.
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

pub(crate) fn block_device_at(path: &Path) -> Option<DeviceNumber> {
    block_device_number(&fs::metadata(path).ok()?)
}

fn block_device_number(stat: &fs::Metadata) -> Option<DeviceNumber> {
    stat.file_type()
        .is_block_device()
        .then(|| DeviceNumber::from_stat(stat.rdev()))
}
