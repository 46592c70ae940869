//! What the system tells of files and devices, as plain data.

use crate::Alignment;

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

/// Support for direct I/O on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectIo {
    /// Direct I/O works with this alignment.
    Supported(Alignment),
    /// The system reports no direct I/O: the file is encrypted, compressed, or on a filesystem without it.
    Unsupported,
    /// The system does not tell. Direct I/O may work; a multiple of the device's physical sector is a good
    /// guess.
    Unknown,
}

impl DirectIo {
    /// The alignment by the sectors, if the device tells both sizes.
    pub(crate) fn by(memory_bytes: Option<u64>, offset_bytes: Option<u64>) -> Self {
        match (memory_bytes.and_then(|bytes| usize::try_from(bytes).ok()), offset_bytes) {
            (Some(memory_bytes @ 1..), Some(offset_bytes @ 1..)) => {
                Self::Supported(Alignment { memory_bytes, offset_bytes })
            }
            _ => Self::Unknown,
        }
    }

    /// The alignment, if it is known.
    #[must_use]
    pub fn alignment(&self) -> Option<Alignment> {
        match self {
            Self::Supported(alignment) => Some(*alignment),
            Self::Unsupported | Self::Unknown => None,
        }
    }
}

/// The file that a Linux loop device shows as a disk, by its numbers: a name may be stale, or belong to
/// another mount namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopBacking {
    /// `st_dev` of the file: the filesystem that holds it.
    pub filesystem: u64,
    /// `st_ino` of the file.
    pub inode: u64,
    /// `st_rdev` of the file if it is a block device itself.
    pub device: Option<u64>,
    /// The offset in the file at which the loop device begins.
    pub offset_bytes: u64,
}
