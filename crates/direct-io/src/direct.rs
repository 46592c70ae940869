//! The alignment that direct I/O on a file needs, and errors that name it.

use std::io;

use crate::{Alignment, AsFile, BlockDevice, DirectIo, Error, sys};

impl DirectIo {
    /// The support for direct I/O on `file`, whether or not it was opened for it.
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
    pub fn for_file(file: impl AsFile) -> Result<Self, Error> {
        sys::direct(sys::borrow(&file))
    }
}

/// The alignment of `file`, as far as it can be found out: the system's answer, or else the device's sector
/// for each part.
pub(crate) fn needed(file: impl AsFile) -> Option<Alignment> {
    match DirectIo::for_file(&file).ok()? {
        DirectIo::Supported(alignment) => Some(alignment),
        DirectIo::Unsupported => None,
        DirectIo::Unknown => {
            let device = BlockDevice::from_file(&file).or_else(|_| BlockDevice::below(&file)).ok()?;
            DirectIo::by(device.logical_sector_bytes, device.logical_sector_bytes).alignment()
        }
    }
}

/// Turns the error of a direct read or write into one that names the violated alignment.
///
/// Systems return `EINVAL` (`ERROR_INVALID_PARAMETER`) for a misaligned transfer, among many other reasons.
/// If `error` is that, and the transfer of `bytes` at `offset` does not fit the alignment of `file`, the
/// result is [`Error::Misaligned`]; otherwise it is `error` with the call and the offset.
pub fn explain(file: impl AsFile, call: &'static str, bytes: &[u8], offset: u64, error: io::Error) -> Error {
    explain_slices(file, call, [bytes], offset, error)
}

/// [`explain`] for a transfer of several slices, one after another in the file.
pub(crate) fn explain_slices<'a>(
    file: impl AsFile,
    call: &'static str,
    slices: impl IntoIterator<Item = &'a [u8]>,
    offset: u64,
    error: io::Error,
) -> Error {
    if error.kind() == io::ErrorKind::InvalidInput && sys::may_be_direct(sys::borrow(&file)) {
        let mut at = offset;
        let misaligned = needed(file).and_then(|alignment| {
            slices.into_iter().find_map(|bytes| {
                let misaligned = alignment.check(bytes, at).err();
                at = at.saturating_add(bytes.len() as u64);
                misaligned
            })
        });
        if let Some(misaligned) = misaligned {
            return misaligned.into();
        }
    }
    Error::call(call, error).with_offset(offset)
}
