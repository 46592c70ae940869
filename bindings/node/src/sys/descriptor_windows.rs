//! Node's descriptors on Windows: numbers of its own C library, whose handles only libuv in the same program
//! knows.

use std::os::windows::io::BorrowedHandle;

use libloading::os::windows::Library;

/// No open file has the number, or this program has no libuv.
#[derive(Debug)]
pub(crate) struct NoSuchFile;

const INVALID_HANDLE_VALUE: isize = -1;

/// The result of `_get_osfhandle` for a missing standard stream of a process without a console.
const NO_STREAM: isize = -2;

/// Runs `then` with an open file, by its number.
pub(crate) fn with_file<T>(
    descriptor: i32,
    then: impl FnOnce(BorrowedHandle<'_>) -> T,
) -> Result<T, NoSuchFile> {
    let program = Library::this().map_err(|_| NoSuchFile)?;
    // SAFETY: uv.h declares it so: `uv_os_fd_t uv_get_osfhandle(int fd)`.
    let handle_of = unsafe { program.get::<unsafe extern "C" fn(i32) -> isize>(b"uv_get_osfhandle\0") };
    let handle_of = handle_of.map_err(|_| NoSuchFile)?;
    // SAFETY: the function accepts any number, and returns INVALID_HANDLE_VALUE if no file is open.
    let handle = unsafe { handle_of(descriptor) };
    if handle == INVALID_HANDLE_VALUE || handle == NO_STREAM {
        return Err(NoSuchFile);
    }
    // SAFETY: the handle is borrowed for this call only. The JavaScript program must keep it open until then,
    // as with every descriptor for `fs`; otherwise the system refuses.
    Ok(then(unsafe { BorrowedHandle::borrow_raw(handle as _) }))
}
