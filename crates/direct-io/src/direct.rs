use std::io;

use crate::{Alignment, AsFile, BlockDevice, DirectIo, Error, Misaligned, sys};

impl DirectIo {
    /// The support for direct I/O on `file`, which need not be open for it.
    ///
    /// | system | how |
    /// |---|---|
    /// | Linux | `statx` with `STATX_DIOALIGN`, since 6.1, on ext4, xfs, f2fs and block devices (btrfs since 6.18), otherwise unknown |
    /// | Windows | `GetFileInformationByHandleEx(FileStorageInfo)`: the physical sector for memory, the logical one for offsets. A disk's or volume's sectors. Unknown under Wine |
    /// | macOS | unknown: `F_NOCACHE` accepts everything and caches transfers not aligned to pages |
    /// | FreeBSD | the sector size of a disk, unknown for files |
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn for_file(file: impl AsFile) -> Result<Self, Error> {
        sys::direct(sys::borrow(&file))
    }
}

/// The alignment of `file` if the system reports it, else its device's sectors.
pub(crate) fn needed(file: impl AsFile) -> Option<Alignment> {
    match DirectIo::for_file(&file).ok()? {
        DirectIo::Supported(alignment) => Some(alignment),
        DirectIo::Unsupported => None,
        DirectIo::Unknown => {
            let device = BlockDevice::from_file(&file)
                .or_else(|_| BlockDevice::below(&file))
                .ok()?;
            DirectIo::by(device.logical_sector_bytes, device.logical_sector_bytes).alignment()
        }
    }
}

/// Turns the error of a direct transfer into one that names the violated alignment.
///
/// Systems return `EINVAL` (`ERROR_INVALID_PARAMETER`) for a misaligned transfer and for many other reasons.
/// The result is [`Error::Misaligned`] if `error` is that one and the transfer of `bytes` at `offset` is
/// misaligned. Otherwise it is `error` with the call and the offset.
pub fn explain(
    file: impl AsFile,
    call: &'static str,
    bytes: &[u8],
    offset: u64,
    error: io::Error,
) -> Error {
    explain_slices(file, call, [bytes], offset, error)
}

/// As [`explain`], for several slices, which follow one another in the file.
pub(crate) fn explain_slices<'a>(
    file: impl AsFile,
    call: &'static str,
    slices: impl IntoIterator<Item = &'a [u8]>,
    offset: u64,
    error: io::Error,
) -> Error {
    if error.kind() == io::ErrorKind::InvalidInput
        && sys::may_be_direct(sys::borrow(&file))
        && let Some(alignment) = needed(file)
        && let Err(misaligned) = check_slices(alignment, slices, offset)
    {
        return misaligned.into();
    }
    Error::call(call, error).with_offset(offset)
}

fn check_slices<'a>(
    alignment: Alignment,
    slices: impl IntoIterator<Item = &'a [u8]>,
    mut offset: u64,
) -> Result<(), Misaligned> {
    for bytes in slices {
        alignment.check(bytes, offset)?;
        offset = offset.saturating_add(bytes.len() as u64);
    }
    Ok(())
}
