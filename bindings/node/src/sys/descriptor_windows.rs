//! Node's descriptors are numbers of its own C library, and only libuv, in the same program, knows their handles.

use std::os::windows::io::BorrowedHandle;

use libloading::os::windows::Library;

/// No open file has that number, or this program has no libuv to ask.
#[derive(Debug)]
pub(crate) struct NoSuchFile;

const INVALID_HANDLE_VALUE: isize = -1;

/// `_get_osfhandle`'s answer for standard streams that a process without a console has not.
const NO_STREAM: isize = -2;

/// Does something with an open file, by its number.
pub(crate) fn with_file<T>(
    descriptor: i32,
    then: impl FnOnce(BorrowedHandle<'_>) -> T,
) -> Result<T, NoSuchFile> {
    let program = Library::this().map_err(|_| NoSuchFile)?;
    // SAFETY: uv.h declares it so: `uv_os_fd_t uv_get_osfhandle(int fd)`.
    let handle_of = unsafe { program.get::<unsafe extern "C" fn(i32) -> isize>(b"uv_get_osfhandle\0") };
    let handle_of = handle_of.map_err(|_| NoSuchFile)?;
    // SAFETY: it takes any number, and says INVALID_HANDLE_VALUE for one that is no open file's.
    let handle = unsafe { handle_of(descriptor) };
    if handle == INVALID_HANDLE_VALUE || handle == NO_STREAM {
        return Err(NoSuchFile);
    }
    // SAFETY: it is a handle, borrowed for this call only. That it stays open until then is for the program in
    // JavaScript to see to, as with every descriptor that it hands to `fs`; where it is not, the system refuses.
    Ok(then(unsafe { BorrowedHandle::borrow_raw(handle as _) }))
}
