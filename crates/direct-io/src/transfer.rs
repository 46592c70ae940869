use std::io::{self, IoSlice, IoSliceMut};

use crate::direct::explain_slices;
use crate::{AsFile, Error, explain, sys};

/// Writes all of `bytes` at `offset`, in bytes: `pwrite(2)`, `WriteFile`. Continues after short writes and
/// interrupts. On Windows the file's position moves.
///
/// # Errors
/// [`Error::Misaligned`] for a misaligned direct transfer ([`write_tail_at`](crate::write_tail_at) accepts any
/// length). Otherwise the system's error, with the offset reached.
pub fn write_all_at(file: impl AsFile, mut bytes: &[u8], mut offset: u64) -> Result<(), Error> {
    let file = sys::borrow(&file);
    while !bytes.is_empty() {
        let written = sys::write_at(file, bytes, offset)
            .map_err(|error| explain(file, sys::WRITE_AT, bytes, offset, error))?;
        if written == 0 {
            let error = io::Error::new(io::ErrorKind::WriteZero, "wrote 0 bytes without an error");
            return Err(Error::call(sys::WRITE_AT, error).with_offset(offset));
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Reads once from `offset`, in bytes, and returns the number of bytes read: `pread(2)`, `ReadFile`. Only an
/// interrupt repeats the call. On Windows the file's position moves.
///
/// Fewer bytes than requested usually mean that the file ends there, for a direct read even inside a sector. 0
/// means that `offset` is at or beyond the end.
///
/// # Errors
/// As [`write_all_at`].
pub fn read_at(file: impl AsFile, bytes: &mut [u8], offset: u64) -> Result<usize, Error> {
    let file = sys::borrow(&file);
    sys::read_at(file, bytes, offset)
        .map_err(|error| explain(file, sys::READ_AT, bytes, offset, error))
}

/// Reads from `offset`, in bytes, until `bytes` is full: [`read_at`], continued after short reads.
///
/// # Errors
/// As [`write_all_at`]. If the file ends first, the source's kind is
/// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof), the offset is the end, and `bytes` holds the bytes before
/// it.
pub fn read_exact_at(file: impl AsFile, bytes: &mut [u8], offset: u64) -> Result<(), Error> {
    let file = sys::borrow(&file);
    let mut done = 0;
    while done < bytes.len() {
        let at = offset + done as u64;
        match read_at(file, &mut bytes[done..], at) {
            Ok(0) => return Err(ended(at)),
            Ok(read) => done += read,
            // If a direct read ends inside a sector, the next one is misaligned.
            Err(_) if done > 0 && is_at_end(file, at) => return Err(ended(at)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all slices in order at `offset`, in bytes, with one call, and returns the number of bytes written:
/// `pwritev(2)`. Only an interrupt repeats the call.
///
/// In direct I/O the address and length of every slice must be aligned. (Linux 6.18 accepts slices that
/// together make whole sectors.) A call takes at most 1024 slices (`IOV_MAX`) and on Linux 2147479552 bytes
/// (`write(2)`). [`IoSlice::advance_slices`] skips the written bytes.
///
/// # Errors
/// [`Error::Misaligned`] names the first misaligned slice's part, otherwise the system's error.
/// [`Error::Unsupported`] on Windows, whose `WriteFileGather` takes only single pages and asynchronous handles.
/// macOS before version 11 lacks the call (`ENOSYS`).
pub fn write_vectored_at(
    file: impl AsFile,
    slices: &[IoSlice<'_>],
    offset: u64,
) -> Result<usize, Error> {
    let file = sys::borrow(&file);
    sys::write_vectored_at(file, slices, offset)?.map_err(|error| {
        explain_slices(
            file,
            sys::WRITE_VECTORED_AT,
            slices.iter().map(|slice| &**slice),
            offset,
            error,
        )
    })
}

/// Reads from `offset`, in bytes, into the slices in order with one call: `preadv(2)`. Returns the number of
/// bytes read, which is 0 at or beyond the end. Otherwise as [`write_vectored_at`].
///
/// # Errors
/// As [`write_vectored_at`], with `ReadFileScatter` on Windows.
pub fn read_vectored_at(
    file: impl AsFile,
    slices: &mut [IoSliceMut<'_>],
    offset: u64,
) -> Result<usize, Error> {
    let file = sys::borrow(&file);
    sys::read_vectored_at(file, slices, offset)?.map_err(|error| {
        explain_slices(
            file,
            sys::READ_VECTORED_AT,
            slices.iter().map(|slice| &**slice),
            offset,
            error,
        )
    })
}

fn ended(at: u64) -> Error {
    let error = io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends here");
    Error::call(sys::READ_AT, error).with_offset(at)
}

fn is_at_end(file: impl AsFile, offset: u64) -> bool {
    matches!(sys::length_bytes(sys::borrow(&file)), Ok(Some(length)) if length <= offset)
}
