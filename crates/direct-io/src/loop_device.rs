//! The file behind a loop device.

use crate::{AsFile, Error, sys};

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

impl LoopBacking {
    /// The file behind an open loop device: `ioctl(LOOP_GET_STATUS64)`, for which a readable descriptor is
    /// enough. `None` if no file is attached.
    ///
    /// # Errors
    /// The device is no loop device (`ENOTTY`), or the filesystem of the file does not answer.
    /// [`Error::Unsupported`] on systems other than Linux.
    pub fn from_device(device: impl AsFile) -> Result<Option<Self>, Error> {
        sys::loop_backing(sys::borrow(&device))
    }
}
