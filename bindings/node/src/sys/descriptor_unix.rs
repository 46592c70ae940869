use std::os::fd::BorrowedFd;

/// The number is negative. The system itself reports any other bad number.
#[derive(Debug)]
pub(crate) struct NoSuchFile;

pub(crate) fn with_file<T>(descriptor: i32, then: impl FnOnce(BorrowedFd<'_>) -> T) -> Result<T, NoSuchFile> {
    if descriptor < 0 {
        return Err(NoSuchFile);
    }
    // SAFETY: The number is not -1 and is borrowed for this call only. The JavaScript program must keep it
    // open, as for `fs`. Otherwise the system returns EBADF, and no memory depends on it.
    Ok(then(unsafe { BorrowedFd::borrow_raw(descriptor) }))
}
