//! Node's descriptors on Unix, which are the system's.

use std::os::fd::BorrowedFd;

/// The descriptor is negative. The system reports any other invalid number at the call.
#[derive(Debug)]
pub(crate) struct NoSuchFile;

/// Runs `then` with an open file, by its number.
pub(crate) fn with_file<T>(descriptor: i32, then: impl FnOnce(BorrowedFd<'_>) -> T) -> Result<T, NoSuchFile> {
    if descriptor < 0 {
        return Err(NoSuchFile);
    }
    // SAFETY: the number is not -1, and is borrowed for this call only. The JavaScript program must keep it
    // open until then, as with every descriptor for `fs`; otherwise the system returns EBADF, and no memory
    // depends on it.
    Ok(then(unsafe { BorrowedFd::borrow_raw(descriptor) }))
}
