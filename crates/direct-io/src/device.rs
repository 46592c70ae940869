//! Facts about the device that data ends up on.

use std::path::Path;

use crate::{AsFile, Error, sys};

/// A block device (or FreeBSD's and macOS's character devices for disks). What the system does not tell, or tells
/// to be zero, is `None`.
///
/// ```no_run
/// use direct_io::{BlockDevice, OpenOptions};
///
/// let disk = OpenOptions::new().read(true).open("/dev/sda")?;
/// let device = BlockDevice::of(&disk)?;
/// println!("{:?} bytes in sectors of {:?}", device.capacity_bytes, device.physical_sector_bytes);
/// # Ok::<(), direct_io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BlockDevice {
    /// The unit of its addresses, in bytes: direct I/O smaller than this is refused. `BLKSSZGET` on Linux,
    /// `DKIOCGETBLOCKSIZE` on macOS, `DIOCGSECTORSIZE` on FreeBSD, `IOCTL_STORAGE_QUERY_PROPERTY` on Windows, or
    /// `IOCTL_DISK_GET_DRIVE_GEOMETRY_EX` where the driver does not answer that.
    pub logical_sector_bytes: Option<u64>,
    /// What it writes at once, in bytes: anything smaller makes it read first. `BLKPBSZGET` on Linux,
    /// `DKIOCGETPHYSICALBLOCKSIZE` on macOS, `IOCTL_STORAGE_QUERY_PROPERTY` on Windows. On FreeBSD
    /// `DIOCGSTRIPESIZE`, which for RAID is the size of a stripe.
    pub physical_sector_bytes: Option<u64>,
    /// All of it, in bytes. `BLKGETSIZE64` on Linux, `DKIOCGETBLOCKCOUNT` on macOS, `DIOCGMEDIASIZE` on FreeBSD,
    /// `IOCTL_DISK_GET_LENGTH_INFO` on Windows, or the disk's geometry. `None` for a reader without a card, too.
    pub capacity_bytes: Option<u64>,
    /// What tells it from others of its model, without blanks around it. From sysfs on Linux (NVMe, virtio, memory
    /// cards, and page 0x80 of SCSI's vital product data), `DIOCGIDENT` on FreeBSD, `IOCTL_STORAGE_QUERY_PROPERTY`
    /// on Windows; macOS tells none.
    pub serial: Option<String>,
}

impl BlockDevice {
    /// The device that `file` is.
    ///
    /// # Errors
    /// [`Error::NotADevice`] for anything else than a device; the system refuses to tell.
    pub fn of(file: impl AsFile) -> Result<Self, Error> {
        sys::device(sys::borrow(&file)).map(Self::known)
    }

    /// The device that `path` names, directly or through symbolic links.
    ///
    /// On Linux it is not opened: sysfs tells, and no privileges are needed. Elsewhere it is opened for reading.
    ///
    /// # Errors
    /// As [`of`](Self::of), and if `path` cannot be looked at or opened.
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
    /// [`Error::NoSingleDevice`] where the filesystem stands on none or on several (tmpfs, NFS, overlayfs, btrfs,
    /// ZFS); the system refuses to tell.
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
            self.serial.map(|serial| serial.trim_matches(blank).to_owned()).filter(|it| !it.is_empty());
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
