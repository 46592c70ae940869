//! The end of a file whose length is no multiple of the sector.

use crate::direct::needed;
use crate::{AlignedBuffer, Alignment, AsFile, Error, sys, write_all_at};

/// The alignment of the last part where neither the system nor the device tells one.
const GUESSED: Alignment = Alignment::new(4096, 4096);

/// Writes `bytes` at `offset`, in bytes, as the last of a regular file, whatever their number, and **ends the
/// file after them**: anything beyond is cut off.
///
/// The whole sectors are written from `bytes`, which must begin aligned, as must `offset`. The rest, less
/// than a sector, is copied into an aligned buffer, filled up with zeros and written directly too; then the
/// length of the file is set: `ftruncate(2)`, `SetFileInformationByHandle(FileEndOfFileInfo)`. No byte goes
/// through the page cache, and the flags of the open file, which others may share, stay as they are. (RocksDB
/// ends its files this way: `WritableFileWriter::Close`; `dd oflag=direct` turns `O_DIRECT` off for the last
/// block instead.)
///
/// Between the two calls, and after a crash there, the file ends in zeros, up to the next multiple of the
/// sector. The new length is no write, so that [`WriteThrough`](crate::WriteThrough) does not make it durable:
/// call [`fdatasync`](crate::fdatasync) (on macOS and Windows [`fsync`](crate::fsync)) afterwards, in any
/// case.
///
/// | system | the rest is filled up to |
/// |---|---|
/// | Linux, FreeBSD | the alignment that [`DirectIo`](crate::DirectIo) tells, or else the logical sector of the device, or else 4096 bytes; a file that is not open for direct I/O is written as it is |
/// | macOS, Windows | the same, in any case: a handle does not tell how it was opened |
///
/// # Errors
/// [`Error::Unsupported`] for a device, which has no end to be set, before anything is written;
/// [`Error::Misaligned`] if `bytes` or `offset` do not begin aligned; [`Error::Buffer`] if there is no memory for
/// the rest; otherwise the system refuses. After an error the file may be longer than it was.
pub fn write_tail_at(file: impl AsFile, bytes: &[u8], offset: u64) -> Result<(), Error> {
    let file = sys::borrow(&file);
    if sys::length_bytes(file)?.is_none() {
        return Err(Error::Unsupported {
            call: sys::SET_LENGTH,
            reason: "only a regular file has an end that can be set; write whole sectors to a device",
        });
    }
    let (whole, rest) = if sys::may_be_direct(file) {
        let alignment = needed(file).unwrap_or(GUESSED);
        let unit = usize::try_from(alignment.offset_bytes).unwrap_or(usize::MAX);
        let (whole, rest) = bytes.split_at(bytes.len() - bytes.len() % unit);
        (whole, Some((rest, alignment)).filter(|(rest, _)| !rest.is_empty()))
    } else {
        (bytes, None)
    };
    write_all_at(file, whole, offset)?;
    if let Some((rest, alignment)) = rest {
        let mut last = AlignedBuffer::for_alignment(rest.len(), alignment)?;
        last[..rest.len()].copy_from_slice(rest);
        write_all_at(file, &last, offset + whole.len() as u64)?;
    }
    sys::set_length(file, offset + bytes.len() as u64)
}
