use crate::direct::needed;
use crate::{AlignedBuffer, Alignment, AsFile, Error, sys, write_all_at};

/// The alignment for devices and systems that report none.
const GUESSED: Alignment = Alignment::new(4096, 4096);
/// The alignment without direct I/O.
const ANY: Alignment = Alignment::new(1, 1);

/// Writes the last `bytes` of a regular file at `offset`, in bytes, and **ends the file after them**: anything
/// beyond is cut off.
///
/// `bytes` and `offset` must begin aligned. The whole sectors are written from `bytes`. The rest, less than a
/// sector, is copied into an aligned buffer, padded with zeros and written directly. Then the length is set:
/// `ftruncate(2)`, `SetFileInformationByHandle(FileEndOfFileInfo)`. No byte passes the page cache, and the
/// flags of the open file, which may be shared, do not change. (RocksDB does the same:
/// `WritableFileWriter::Close`. `dd oflag=direct` instead turns `O_DIRECT` off for the last block.)
///
/// Between the two calls, and after a crash there, zeros pad the file up to a multiple of the sector.
/// [`WriteThrough`](crate::WriteThrough) does not make the new length durable: always call
/// [`fdatasync`](crate::fdatasync) afterwards (on macOS and Windows [`fsync`](crate::fsync)).
///
/// | system | the rest is padded to |
/// |---|---|
/// | Linux, FreeBSD | the alignment of [`DirectIo`](crate::DirectIo), or else the device's logical sector, or else 4096 bytes. Without direct I/O the bytes are written unpadded |
/// | macOS, Windows | the same, even without direct I/O, which a handle does not report |
///
/// # Errors
///
/// The error is [`Error::Unsupported`] for a device, whose end cannot be set, before anything is written. It is
/// [`Error::Misaligned`] if `bytes` or `offset` begin misaligned, and [`Error::Buffer`] if there is no memory for the
/// rest. Otherwise the system refuses. The file may be longer after an error.
pub fn write_tail_at(file: impl AsFile, bytes: &[u8], offset: u64) -> Result<(), Error> {
    let file = sys::borrow(&file);
    if sys::length_bytes(file)?.is_none() {
        return Err(Error::Unsupported {
            call: sys::SET_LENGTH,
            reason: "only a regular file's end can be set. Write whole sectors to a device",
        });
    }
    let alignment = if sys::may_be_direct(file) {
        needed(file).unwrap_or(GUESSED)
    } else {
        ANY
    };
    let unit = usize::try_from(alignment.offset_bytes).unwrap_or(usize::MAX);
    let (whole, rest) = bytes.split_at(bytes.len() - bytes.len() % unit);
    write_all_at(file, whole, offset)?;
    if !rest.is_empty() {
        let mut last = AlignedBuffer::for_alignment(rest.len(), alignment)?;
        last[..rest.len()].copy_from_slice(rest);
        write_all_at(file, &last, offset + whole.len() as u64)?;
    }
    sys::set_length(file, offset + bytes.len() as u64)
}
