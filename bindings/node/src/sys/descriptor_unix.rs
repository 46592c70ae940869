use std::os::fd::BorrowedFd;

/// Calls `then` with the file of a descriptor. A negative number has none. The system itself reports any other bad
/// number.
pub(crate) fn with_file<T>(descriptor: i32, then: impl FnOnce(BorrowedFd<'_>) -> T) -> Option<T> {
    if descriptor < 0 {
        return None;
    }
    // SAFETY: The number is not -1 and is borrowed for this call only. The JavaScript program must keep it
    // open, as for `fs`. Otherwise the system returns EBADF, and no memory depends on it.
    Some(then(unsafe { BorrowedFd::borrow_raw(descriptor) }))
}
