//! What direct I/O on a file needs, and what to say when it did not get it.

use std::io;

use crate::{Alignment, AsFile, BlockDevice, Error, sys};

/// What is known of direct I/O on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectIo {
    /// It works where everything is aligned so.
    Supported(Alignment),
    /// The system says that this file has none: it is encrypted, compressed, or on a filesystem that cannot.
    Unsupported,
    /// The system does not tell. It may work; a multiple of the device's physical sector is a good guess.
    Unknown,
}

impl DirectIo {
    /// What direct I/O on `file` needs, whether or not it was opened for it.
    ///
    /// | system | how |
    /// |---|---|
    /// | Linux | `statx` with `STATX_DIOALIGN`, since 6.1, where the filesystem tells (ext4, xfs, f2fs, block devices; btrfs since 6.18); otherwise unknown |
    /// | Windows | `GetFileInformationByHandleEx(FileStorageInfo)`, the physical sector for memory and the logical one for offsets; for a disk or volume its sectors; unknown where there is no such call (Wine) |
    /// | macOS | unknown: `F_NOCACHE` takes everything, and sends what is not aligned to pages through the cache |
    /// | FreeBSD | the sector size of a disk; unknown for files |
    ///
    /// # Errors
    /// The system refuses to tell.
    pub fn of(file: impl AsFile) -> Result<Self, Error> {
        sys::direct(sys::borrow(&file))
    }

    /// The alignment that the sectors need, where the device tells both sizes.
    pub(crate) fn by(memory_bytes: Option<u64>, offset_bytes: Option<u64>) -> Self {
        match (memory_bytes.and_then(|bytes| usize::try_from(bytes).ok()), offset_bytes) {
            (Some(memory_bytes @ 1..), Some(offset_bytes @ 1..)) => {
                Self::Supported(Alignment { memory_bytes, offset_bytes })
            }
            _ => Self::Unknown,
        }
    }

    /// What is needed, where that is known.
    #[must_use]
    pub fn alignment(&self) -> Option<Alignment> {
        match self {
            Self::Supported(alignment) => Some(*alignment),
            Self::Unsupported | Self::Unknown => None,
        }
    }
}

/// The needs of `file` as far as they can be found out: what the system tells, or else the device's sector for
/// everything.
fn needed(file: impl AsFile) -> Option<Alignment> {
    match DirectIo::of(&file).ok()? {
        DirectIo::Supported(alignment) => Some(alignment),
        DirectIo::Unsupported => None,
        DirectIo::Unknown => {
            let device = BlockDevice::of(&file).or_else(|_| BlockDevice::below(&file)).ok()?;
            DirectIo::by(device.logical_sector_bytes, device.logical_sector_bytes).alignment()
        }
    }
}

/// Makes of the error of a direct read or write one that names the alignment that was missing.
///
/// Systems say `EINVAL` (`ERROR_INVALID_PARAMETER`) for a misaligned transfer, and for much else. If `error` is
/// that, and the transfer of `bytes` at `offset` does not fit what `file` needs, the answer is
/// [`Error::Misaligned`]; otherwise the error stays as it is, with the call and the offset.
pub fn explain(file: impl AsFile, call: &'static str, bytes: &[u8], offset: u64, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::InvalidInput && sys::may_be_direct(sys::borrow(&file)) {
        let misaligned = needed(file).and_then(|alignment| alignment.check(bytes, offset).err());
        if let Some(misaligned) = misaligned {
            return misaligned.into();
        }
    }
    Error::call(call, error).with_offset(offset)
}
