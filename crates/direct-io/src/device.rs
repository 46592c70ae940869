use std::path::Path;

use crate::{AsFile, BlockDevice, Error, LoopBacking, sys};

impl BlockDevice {
    /// The facts of an open device.
    ///
    /// # Errors
    ///
    /// Other files are [`Error::NotADevice`], or the system refuses.
    pub fn from_file(file: impl AsFile) -> Result<Self, Error> {
        sys::device(sys::borrow(&file)).map(Self::known)
    }

    /// The facts of the device at `path`. Symbolic links are followed.
    ///
    /// On Linux they come from sysfs without opening the device or any privileges. Elsewhere the device is
    /// opened for reading.
    ///
    /// # Errors
    ///
    /// The errors are those of [`from_file`](Self::from_file), or `path` cannot be looked up or opened.
    pub fn at(path: impl AsRef<Path>) -> Result<Self, Error> {
        let device =
            sys::device_at(path.as_ref()).map_err(|error| error.with_path(path.as_ref()))?;
        Ok(device.known())
    }

    /// The device, or partition, below the filesystem of `file`.
    ///
    /// | system | how | needs |
    /// |---|---|---|
    /// | Linux | `fstat`'s device number in `/sys/dev/block` | sysfs, no privileges |
    /// | macOS, FreeBSD | `fstatfs`'s `f_mntfromname`, opened for reading | the right to open the device, usually root |
    /// | Windows | `GetFileInformationByHandleEx(FileStorageInfo)`: sector sizes only | nothing |
    ///
    /// # Errors
    ///
    /// The error is [`Error::NoSingleDevice`] for a filesystem on no device or several (tmpfs, NFS, overlayfs, btrfs,
    /// ZFS), or the system refuses.
    pub fn below(file: impl AsFile) -> Result<Self, Error> {
        sys::device_below(sys::borrow(&file)).map(Self::known)
    }

    /// The same facts, of which those that are zero or empty are unknown.
    fn known(mut self) -> Self {
        for size in [
            &mut self.logical_sector_bytes,
            &mut self.physical_sector_bytes,
            &mut self.capacity_bytes,
        ] {
            *size = size.filter(|&bytes| bytes > 0);
        }
        self.serial = self
            .serial
            .map(|serial| serial.trim_matches(is_blank).to_owned())
            .filter(|serial| !serial.is_empty());
        self
    }
}

/// Whether a driver fills up a serial number with the character.
fn is_blank(character: char) -> bool {
    character == '\0' || character.is_whitespace()
}

impl LoopBacking {
    /// The file behind an open loop device, or `None` if none is attached: `ioctl(LOOP_GET_STATUS64)`. The
    /// device may be open for reading only.
    ///
    /// # Errors
    ///
    /// The device is not a loop device (`ENOTTY`), or the file's filesystem does not answer. Systems other than Linux
    /// return [`Error::Unsupported`].
    pub fn from_device(device: impl AsFile) -> Result<Option<Self>, Error> {
        sys::loop_backing(sys::borrow(&device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_zero_and_blank_serials_are_unknown() {
        let told = BlockDevice {
            logical_sector_bytes: Some(512),
            physical_sector_bytes: Some(0),
            capacity_bytes: Some(0),
            serial: Some("  \0".to_owned()),
        };
        let known = BlockDevice {
            logical_sector_bytes: Some(512),
            ..BlockDevice::default()
        };
        assert_eq!(told.known(), known);
        let told = BlockDevice {
            serial: Some(" WD-WCC4 \0".to_owned()),
            ..BlockDevice::default()
        };
        assert_eq!(told.known().serial.as_deref(), Some("WD-WCC4"));
    }
}
