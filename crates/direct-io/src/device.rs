//! Facts about the device that holds the data.

use std::path::Path;

use crate::{AsFile, Error, sys};

/// A block device, or a character device for a disk on FreeBSD and macOS. A value that the system does not
/// tell, or reports as zero, is `None`.
///
/// ```no_run
/// use direct_io::{BlockDevice, OpenOptions};
///
/// let disk = OpenOptions::new().read(true).open("/dev/sda")?;
/// let device = BlockDevice::from_file(&disk)?;
/// println!("{:?} bytes in sectors of {:?}", device.capacity_bytes, device.physical_sector_bytes);
/// # Ok::<(), direct_io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BlockDevice {
    /// The unit of its addresses, in bytes: smaller direct I/O is refused. `BLKSSZGET` on Linux,
    /// `DKIOCGETBLOCKSIZE` on macOS, `DIOCGSECTORSIZE` on FreeBSD, `IOCTL_STORAGE_QUERY_PROPERTY` on Windows,
    /// or `IOCTL_DISK_GET_DRIVE_GEOMETRY_EX` if the driver does not answer that.
    pub logical_sector_bytes: Option<u64>,
    /// The unit of its writes, in bytes: for a smaller write the device reads first. `BLKPBSZGET` on Linux,
    /// `DKIOCGETPHYSICALBLOCKSIZE` on macOS, `IOCTL_STORAGE_QUERY_PROPERTY` on Windows. On FreeBSD
    /// `DIOCGSTRIPESIZE`, which for RAID is the size of a stripe.
    pub physical_sector_bytes: Option<u64>,
    /// The capacity in bytes. `BLKGETSIZE64` on Linux, `DKIOCGETBLOCKCOUNT` on macOS, `DIOCGMEDIASIZE` on
    /// FreeBSD, `IOCTL_DISK_GET_LENGTH_INFO` on Windows, or the disk's geometry. `None` for a card reader
    /// without a card.
    pub capacity_bytes: Option<u64>,
    /// The serial number, trimmed. From sysfs on Linux (NVMe, virtio, memory cards, and page 0x80 of SCSI's
    /// vital product data), `DIOCGIDENT` on FreeBSD, `IOCTL_STORAGE_QUERY_PROPERTY` on Windows; macOS tells
    /// none.
    pub serial: Option<String>,
}

impl BlockDevice {
    /// The device that `file` is.
    ///
    /// # Errors
    /// [`Error::NotADevice`] for a file that is no device; or the system refuses.
    pub fn from_file(file: impl AsFile) -> Result<Self, Error> {
        sys::device(sys::borrow(&file)).map(Self::known)
    }

    /// The device that `path` names, directly or through symbolic links.
    ///
    /// On Linux the device is not opened: the facts come from sysfs, without privileges. Elsewhere it is
    /// opened for reading.
    ///
    /// # Errors
    /// The same as for [`from_file`](Self::from_file); or `path` cannot be looked up or opened.
    pub fn at(path: impl AsRef<Path>) -> Result<Self, Error> {
        let device = sys::device_at(path.as_ref()).map_err(|error| error.with_path(path.as_ref()))?;
        Ok(device.known())
    }

    /// The device, or partition, below the filesystem that `file` is on.
    ///
    /// | system | how | needs |
    /// |---|---|---|
    /// | Linux | `fstat`'s device number, looked up in `/sys/dev/block` | sysfs, no privileges |
    /// | macOS, FreeBSD | `fstatfs`'s `f_mntfromname`, opened for reading | the right to open the device, usually root |
    /// | Windows | `GetFileInformationByHandleEx(FileStorageInfo)`: sector sizes only | nothing |
    ///
    /// # Errors
    /// [`Error::NoSingleDevice`] for a filesystem on no device or on several (tmpfs, NFS, overlayfs, btrfs,
    /// ZFS); or the system refuses.
    pub fn below(file: impl AsFile) -> Result<Self, Error> {
        sys::device_below(sys::borrow(&file)).map(Self::known)
    }

    fn known(mut self) -> Self {
        for size in [&mut self.logical_sector_bytes, &mut self.physical_sector_bytes, &mut self.capacity_bytes]
        {
            *size = size.filter(|&bytes| bytes > 0);
        }
        let blank = |character: char| character == '\0' || character.is_whitespace();
        self.serial =
            self.serial.map(|serial| serial.trim_matches(blank).to_owned()).filter(|serial| !serial.is_empty());
        self
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
        let known = BlockDevice { logical_sector_bytes: Some(512), ..BlockDevice::default() };
        assert_eq!(told.known(), known);
        let told = BlockDevice { serial: Some(" WD-WCC4 \0".to_owned()), ..BlockDevice::default() };
        assert_eq!(told.known().serial.as_deref(), Some("WD-WCC4"));
    }
}
