//! Reads and writes at an offset, with errors that name the alignment that direct I/O needs.

use std::io::{self, IoSlice, IoSliceMut};

use crate::direct::explain_slices;
use crate::{AsFile, Error, explain, sys};

/// Writes all of `bytes` at `offset`, in bytes: `pwrite(2)`, `WriteFile`. Continues after short writes and
/// interrupts. On Windows the file's own position moves.
///
/// # Errors
/// [`Error::Misaligned`] if the file is open for direct I/O and the transfer is misaligned
/// ([`write_tail_at`](crate::write_tail_at) takes a length that is); otherwise the system's error, with the
/// offset that was reached.
pub fn write_all_at(file: impl AsFile, mut bytes: &[u8], mut offset: u64) -> Result<(), Error> {
    let file = sys::borrow(&file);
    while !bytes.is_empty() {
        let written = sys::write_at(file, bytes, offset)
            .map_err(|error| explain(file, sys::WRITE_AT, bytes, offset, error))?;
        if written == 0 {
            let error = io::Error::new(io::ErrorKind::WriteZero, "wrote 0 bytes and gave no error");
            return Err(Error::call(sys::WRITE_AT, error).with_offset(offset));
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Reads once from `offset`, in bytes, and returns the number of bytes read: `pread(2)`, `ReadFile`. Repeats
/// the call only if it was interrupted. On Windows the file's own position moves.
///
/// Fewer bytes than asked for usually mean that the file ends there, which a direct read may do in
/// mid-sector; 0 means that `offset` is at its end or beyond.
///
/// # Errors
/// The same as for [`write_all_at`].
pub fn read_at(file: impl AsFile, bytes: &mut [u8], offset: u64) -> Result<usize, Error> {
    let file = sys::borrow(&file);
    sys::read_at(file, bytes, offset).map_err(|error| explain(file, sys::READ_AT, bytes, offset, error))
}

/// Reads from `offset`, in bytes, until `bytes` is full: [`read_at`], continued after short reads.
///
/// # Errors
/// The same as for [`write_all_at`]. If the file ends first, the kind of the error's source is
/// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) and its offset is the end; `bytes` holds what was read.
pub fn read_exact_at(file: impl AsFile, bytes: &mut [u8], offset: u64) -> Result<(), Error> {
    let file = sys::borrow(&file);
    let mut done = 0;
    while done < bytes.len() {
        let at = offset + done as u64;
        match read_at(file, &mut bytes[done..], at) {
            Ok(0) => return Err(ended(at)),
            Ok(read) => done += read,
            // Behind a direct read that stopped in mid-sector, the next one is misaligned.
            Err(_) if done > 0 && is_at_end(file, at) => return Err(ended(at)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes the bytes of all slices, one after another, at `offset`, in bytes, with one call, and returns the
/// number of bytes written: `pwritev(2)`. Repeats the call only if it was interrupted.
///
/// For direct I/O the address and the length of every slice must be aligned. (Linux 6.18 takes slices that
/// make whole sectors together.) A call takes 1024 slices at most (`IOV_MAX`; more are left for the next one)
/// and on Linux 2147479552 bytes (`write(2)`); it may write less, and [`IoSlice::advance_slices`] then gives
/// what remains.
///
/// # Errors
/// [`Error::Misaligned`] names the first slice's part that direct I/O refuses; otherwise the system's error.
/// [`Error::Unsupported`] on Windows, whose `WriteFileGather` takes single pages and asynchronous handles only.
/// macOS has the call since version 11 (`ENOSYS` before).
pub fn write_vectored_at(file: impl AsFile, slices: &[IoSlice<'_>], offset: u64) -> Result<usize, Error> {
    let file = sys::borrow(&file);
    sys::write_vectored_at(file, slices, offset)?.map_err(|error| {
        explain_slices(file, sys::WRITE_VECTORED_AT, slices.iter().map(|slice| &**slice), offset, error)
    })
}

/// Reads from `offset`, in bytes, into the slices, one after another, with one call, and returns the number
/// of bytes read, which is 0 at the end of the file and beyond: `preadv(2)`. Repeats the call only if it was
/// interrupted. The rest is as for [`write_vectored_at`].
///
/// # Errors
/// The same as for [`write_vectored_at`], with `ReadFileScatter` on Windows.
pub fn read_vectored_at(file: impl AsFile, slices: &mut [IoSliceMut<'_>], offset: u64) -> Result<usize, Error> {
    let file = sys::borrow(&file);
    sys::read_vectored_at(file, slices, offset)?.map_err(|error| {
        explain_slices(file, sys::READ_VECTORED_AT, slices.iter().map(|slice| &**slice), offset, error)
    })
}

fn ended(at: u64) -> Error {
    let error = io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends here");
    Error::call(sys::READ_AT, error).with_offset(at)
}

fn is_at_end(file: impl AsFile, offset: u64) -> bool {
    matches!(sys::length_bytes(sys::borrow(&file)), Ok(Some(length)) if length <= offset)
}
