//! Node's descriptors are the system's.

use std::os::fd::BorrowedFd;

/// No open file has a negative number. Of any other the system says so itself, at the call.
#[derive(Debug)]
pub(crate) struct NoSuchFile;

/// Does something with an open file, by its number.
pub(crate) fn with_file<T>(descriptor: i32, then: impl FnOnce(BorrowedFd<'_>) -> T) -> Result<T, NoSuchFile> {
    if descriptor < 0 {
        return Err(NoSuchFile);
    }
    // SAFETY: it is not -1, and is borrowed for this call only. That it is open, and stays so until then, is for
    // the program in JavaScript to see to, as with every descriptor that it hands to `fs`; where it is not, the
    // system answers EBADF: no memory depends on it.
    Ok(then(unsafe { BorrowedFd::borrow_raw(descriptor) }))
}
