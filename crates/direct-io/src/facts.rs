use crate::Alignment;

/// A block device (for a disk on FreeBSD and macOS, a character device). Facts that the system does not report,
/// or reports as zero, are `None`.
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
    /// The unit of addresses, in bytes. Direct I/O in smaller units is refused. `BLKSSZGET` on Linux,
    /// `DKIOCGETBLOCKSIZE` on macOS, `DIOCGSECTORSIZE` on FreeBSD. `IOCTL_STORAGE_QUERY_PROPERTY` on Windows,
    /// or else `IOCTL_DISK_GET_DRIVE_GEOMETRY_EX`.
    pub logical_sector_bytes: Option<u64>,
    /// The unit of writes, in bytes. For a smaller write the device reads first. `BLKPBSZGET` on Linux,
    /// `DKIOCGETPHYSICALBLOCKSIZE` on macOS, `IOCTL_STORAGE_QUERY_PROPERTY` on Windows, `DIOCGSTRIPESIZE` on
    /// FreeBSD (a RAID's stripe).
    pub physical_sector_bytes: Option<u64>,
    /// The capacity in bytes. `BLKGETSIZE64` on Linux, `DKIOCGETBLOCKCOUNT` on macOS, `DIOCGMEDIASIZE` on
    /// FreeBSD, `IOCTL_DISK_GET_LENGTH_INFO` on Windows, or else the disk's geometry. `None` for a card reader
    /// without a card.
    pub capacity_bytes: Option<u64>,
    /// The trimmed serial number. On Linux from sysfs: NVMe, virtio, memory cards, and page 0x80 of SCSI's
    /// vital product data. `DIOCGIDENT` on FreeBSD, `IOCTL_STORAGE_QUERY_PROPERTY` on Windows, none on macOS.
    pub serial: Option<String>,
}

/// Support for direct I/O on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectIo {
    /// Direct I/O works with this alignment.
    Supported(Alignment),
    /// The system reports none: the file is encrypted, compressed, or on a filesystem without it.
    Unsupported,
    /// The system does not report it. Direct I/O may work: a multiple of the physical sector is a good guess.
    Unknown,
}

impl DirectIo {
    /// The alignment by the sectors, if both are known.
    pub(crate) fn by(memory_bytes: Option<u64>, offset_bytes: Option<u64>) -> Self {
        let memory_bytes = memory_bytes.and_then(|bytes| usize::try_from(bytes).ok());
        match (memory_bytes, offset_bytes) {
            (Some(memory_bytes @ 1..), Some(offset_bytes @ 1..)) => Self::Supported(Alignment {
                memory_bytes,
                offset_bytes,
            }),
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

/// The file behind a Linux loop device, by its numbers. A name may be stale or belong to another mount
/// namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopBacking {
    /// `st_dev` of the file.
    pub filesystem: u64,
    /// `st_ino` of the file.
    pub inode: u64,
    /// `st_rdev` of the file if it is a block device itself.
    pub device: Option<u64>,
    /// The offset in the file at which the loop device begins.
    pub offset_bytes: u64,
}
