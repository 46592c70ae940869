//! What direct I/O on a file needs, and what to say when it did not get it.

use std::fmt;
use std::io;

use crate::{AsFile, BlockDevice, Error, sys};

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

/// What the parts of a direct transfer must be multiples of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alignment {
    /// The address of the memory, in bytes.
    pub memory_bytes: usize,
    /// The offset in the file and the length, in bytes.
    pub offset_bytes: u64,
}

/// The part of a direct transfer that did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misaligned {
    /// Which part.
    pub part: Part,
    /// Its value: the address, offset or length, in bytes.
    pub value: u64,
    /// What it has to be a multiple of, in bytes.
    pub needed_bytes: u64,
}

/// A part of a direct transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Where the memory begins.
    Address,
    /// Where in the file.
    Offset,
    /// How much.
    Length,
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

    /// What is needed, where that is known.
    #[must_use]
    pub fn alignment(&self) -> Option<Alignment> {
        match self {
            Self::Supported(alignment) => Some(*alignment),
            Self::Unsupported | Self::Unknown => None,
        }
    }
}

impl Alignment {
    /// The first part of a transfer between `bytes` and the file at `offset` that does not fit.
    ///
    /// # Errors
    /// [`Misaligned`], which names the part and what it needs.
    pub fn check(&self, bytes: &[u8], offset: u64) -> Result<(), Misaligned> {
        let address = bytes.as_ptr().addr() as u64;
        let parts = [
            (Part::Address, address, self.memory_bytes as u64),
            (Part::Offset, offset, self.offset_bytes),
            (Part::Length, bytes.len() as u64, self.offset_bytes),
        ];
        let wrong = parts.into_iter().find(|&(_, value, needed)| needed != 0 && value % needed != 0);
        match wrong {
            Some((part, value, needed_bytes)) => Err(Misaligned { part, value, needed_bytes }),
            None => Ok(()),
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
            let sector = device.logical_sector_bytes?;
            Some(Alignment { memory_bytes: usize::try_from(sector).ok()?, offset_bytes: sector })
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

impl std::error::Error for Misaligned {}

impl fmt::Display for Misaligned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, value, needed_bytes } = self;
        match part {
            Part::Address => {
                let beyond = value % needed_bytes;
                write!(f, "direct I/O needs memory that begins at a multiple of {needed_bytes} bytes; ")?;
                write!(f, "this begins {beyond} after one")
            }
            Part::Offset => {
                write!(
                    f,
                    "direct I/O needs an offset that is a multiple of {needed_bytes} bytes; this is {value}"
                )
            }
            Part::Length => {
                write!(
                    f,
                    "direct I/O needs a length that is a multiple of {needed_bytes} bytes; this is {value}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AlignedBuffer;

    #[test]
    fn the_part_that_does_not_fit_is_named() {
        let buffer = AlignedBuffer::new(8192, 4096).unwrap();
        let alignment = Alignment { memory_bytes: 512, offset_bytes: 4096 };
        assert_eq!(alignment.check(&buffer, 4096), Ok(()));
        let wrong = |bytes: &[u8], offset| alignment.check(bytes, offset).unwrap_err().to_string();
        assert_eq!(
            wrong(&buffer[4..4100], 0),
            "direct I/O needs memory that begins at a multiple of 512 bytes; this begins 4 after one"
        );
        assert_eq!(
            wrong(&buffer[..4096], 512),
            "direct I/O needs an offset that is a multiple of 4096 bytes; this is 512"
        );
        assert_eq!(
            wrong(&buffer[..512], 0),
            "direct I/O needs a length that is a multiple of 4096 bytes; this is 512"
        );
    }
}
