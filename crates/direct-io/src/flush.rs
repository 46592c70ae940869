//! Calls that make written data durable.
//!
//! There are no substitutes: a system that lacks a call returns [`Error::Unsupported`].

use crate::{AsFile, Error, sys};

/// Makes the data durable, with the metadata needed to read it back: `fdatasync(2)` on Linux and FreeBSD.
///
/// After an error the data may be lost even if the next call succeeds: the system may have marked its pages
/// clean (Rebello et al., *Can Applications Recover from fsync Failures?*, USENIX ATC 2020). Do not retry.
///
/// # Errors
/// The system refuses, or a device failed to write. [`Error::Unsupported`] on macOS and Windows; use
/// [`fsync`] there.
#[inline]
pub fn fdatasync(file: impl AsFile) -> Result<(), Error> {
    sys::fdatasync(sys::borrow(&file))
}

/// Makes the data and all metadata of the file durable: `fsync(2)`; `FlushFileBuffers` on Windows.
///
/// On macOS this hands the data to the device, which may keep it in its cache; [`full_fsync`] makes it
/// durable. (Rust's `File::sync_all` calls `F_FULLFSYNC` on macOS.)
///
/// # Errors
/// As [`fdatasync`]; on Windows also if the file is not open for writing.
#[inline]
pub fn fsync(file: impl AsFile) -> Result<(), Error> {
    sys::fsync(sys::borrow(&file))
}

/// Does [`fsync`] and makes the device empty its cache: `fcntl(F_FULLFSYNC)`, on macOS only.
///
/// # Errors
/// The same as for [`fdatasync`]; filesystems without support refuse with `ENOTSUP`. [`Error::Unsupported`]
/// on Linux, FreeBSD and Windows, where [`fsync`] does this.
pub fn full_fsync(file: impl AsFile) -> Result<(), Error> {
    sys::full_fsync(sys::borrow(&file))
}
