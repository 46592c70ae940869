use crate::{AsFile, Error, sys};

/// Turns caching for this file off (`true`) or on: `fcntl(F_NOCACHE)`, on macOS only.
///
/// Cached pages remain and serve reads. Call it before any transfer, as
/// [`OpenOptions::direct`](crate::OpenOptions::direct) does.
///
/// # Errors
///
/// The system refuses. Other systems return [`Error::Unsupported`]: open the file for direct I/O there.
pub fn set_no_cache(file: impl AsFile, off: bool) -> Result<(), Error> {
    sys::set_no_cache(sys::borrow(&file), off)
}
