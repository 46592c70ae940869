//! Making durable what was written.
//!
//! Nothing here stands in for anything else: where a system has not the call, the answer is
//! [`Error::Unsupported`].

use crate::{AsFile, Error, sys};

/// Makes the data durable and what it takes to read it back: `fdatasync(2)` on Linux and FreeBSD.
///
/// After an error the data may be lost although the next call succeeds: the system may have marked its pages
/// clean (Rebello et al., *Can Applications Recover from fsync Failures?*, USENIX ATC 2020). Do not ask again.
///
/// # Errors
/// The system refuses, or a device failed to write. [`Error::Unsupported`] on macOS and Windows, where [`fsync`] is
/// the least there is.
#[inline]
pub fn fdatasync(file: impl AsFile) -> Result<(), Error> {
    sys::fdatasync(sys::borrow(&file))
}

/// Makes the data and all that is known of the file durable: `fsync(2)`; `FlushFileBuffers` on Windows.
///
/// On macOS this hands the data to the device, which may keep it in its cache: [`full_fsync`] is what makes it
/// durable there. (Rust's `File::sync_all` calls that one on macOS.)
///
/// # Errors
/// As [`fdatasync`]; on Windows also if the file is not open for writing.
#[inline]
pub fn fsync(file: impl AsFile) -> Result<(), Error> {
    sys::fsync(sys::borrow(&file))
}

/// As [`fsync`], and has the device empty its cache: `fcntl(F_FULLFSYNC)`, on macOS only.
///
/// # Errors
/// As [`fdatasync`]; filesystems that cannot do it refuse with `ENOTSUP`. [`Error::Unsupported`] on Linux, FreeBSD
/// and Windows, where [`fsync`] does this.
pub fn full_fsync(file: impl AsFile) -> Result<(), Error> {
    sys::full_fsync(sys::borrow(&file))
}
