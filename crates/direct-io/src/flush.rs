//! Flushes to the device. A system without a call gets no substitute.

use crate::{AsFile, Error, sys};

/// Makes the data durable, with the metadata needed to read it back: `fdatasync(2)` on Linux and FreeBSD.
///
/// Do not retry after an error. The system may have marked the pages clean, so the next call can succeed though
/// the data is lost (Rebello et al., *Can Applications Recover from fsync Failures?*, USENIX ATC 2020).
///
/// # Errors
///
/// The system refuses, or a device failed to write. macOS and Windows return [`Error::Unsupported`]: use [`fsync`]
/// there.
#[inline]
pub fn fdatasync(file: impl AsFile) -> Result<(), Error> {
    sys::fdatasync(sys::borrow(&file))
}

/// Makes the data and all metadata of the file durable: `fsync(2)` or `FlushFileBuffers`.
///
/// On macOS the device may keep the data in its cache. [`full_fsync`] makes it durable (Rust's `File::sync_all`
/// calls `F_FULLFSYNC` there).
///
/// # Errors
///
/// The system refuses, or a device failed to write. On Windows the file must be open for writing.
#[inline]
pub fn fsync(file: impl AsFile) -> Result<(), Error> {
    sys::fsync(sys::borrow(&file))
}

/// Calls [`fsync`] and empties the device's cache: `fcntl(F_FULLFSYNC)`, on macOS only.
///
/// # Errors
///
/// The system refuses, or a device failed to write. Some filesystems refuse with `ENOTSUP`. Other systems return
/// [`Error::Unsupported`], and [`fsync`] does the same there.
pub fn full_fsync(file: impl AsFile) -> Result<(), Error> {
    sys::full_fsync(sys::borrow(&file))
}
