//! Node's descriptors are numbers of its own C library. Only its libuv knows their handles.

use std::os::windows::io::BorrowedHandle;

use libloading::os::windows::Library;

const INVALID_HANDLE_VALUE: isize = -1;

/// `_get_osfhandle` returns this for a missing standard stream without a console.
const NO_STREAM: isize = -2;

/// Calls `then` with the file of a descriptor. There is none without such an open file, or without libuv.
pub(crate) fn with_file<T>(
    descriptor: i32,
    then: impl FnOnce(BorrowedHandle<'_>) -> T,
) -> Option<T> {
    let program = Library::this().ok()?;
    // SAFETY: uv.h has `uv_os_fd_t uv_get_osfhandle(int fd)`.
    let handle_of =
        unsafe { program.get::<unsafe extern "C" fn(i32) -> isize>(b"uv_get_osfhandle\0") }.ok()?;
    // SAFETY: Any number is valid. Without an open file, the result is INVALID_HANDLE_VALUE.
    let handle = unsafe { handle_of(descriptor) };
    if handle == INVALID_HANDLE_VALUE || handle == NO_STREAM {
        return None;
    }
    // SAFETY: The handle is borrowed for this call only. The JavaScript program must keep it open, as for `fs`.
    // Otherwise the system refuses.
    Some(then(unsafe { BorrowedHandle::borrow_raw(handle as _) }))
}
