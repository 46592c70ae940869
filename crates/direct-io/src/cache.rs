//! The page cache, for a file that is open already.

use crate::{AsFile, Error, sys};

/// Turns caching of what goes through this file off (`true`) or on: `fcntl(F_NOCACHE)`, on macOS only.
///
/// Pages that are cached already stay, and reads are served from them: set it before anything else.
/// [`OpenOptions::direct`](crate::OpenOptions::direct) does so.
///
/// # Errors
/// The system refuses. [`Error::Unsupported`] elsewhere: open the file for direct I/O.
pub fn set_no_cache(file: impl AsFile, off: bool) -> Result<(), Error> {
    sys::set_no_cache(sys::borrow(&file), off)
}
