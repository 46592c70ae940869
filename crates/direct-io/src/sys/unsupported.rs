//! Calls of a single system, on every other one.

use crate::Error;
#[cfg(not(target_os = "linux"))]
use crate::LoopBacking;

#[cfg(not(target_os = "linux"))]
pub(crate) fn loop_backing<F>(_: F) -> Result<Option<LoopBacking>, Error> {
    Err(Error::Unsupported {
        call: "ioctl(LOOP_GET_STATUS64)",
        reason: "only Linux has loop devices",
    })
}

#[cfg(not(target_os = "macos"))]
pub(crate) fn full_fsync<F>(_: F) -> Result<(), Error> {
    Err(Error::Unsupported {
        call: "fcntl(F_FULLFSYNC)",
        reason: "only macOS has it. Use fsync, which makes data durable here",
    })
}

#[cfg(not(target_os = "macos"))]
pub(crate) fn set_no_cache<F>(_: F, _: bool) -> Result<(), Error> {
    const REASON: &str = if cfg!(windows) {
        "only macOS has it. Open the file with FILE_FLAG_NO_BUFFERING instead"
    } else {
        "only macOS has it. Open the file with O_DIRECT instead"
    };
    Err(Error::Unsupported {
        call: "fcntl(F_NOCACHE)",
        reason: REASON,
    })
}

#[cfg(not(windows))]
pub(crate) fn lock_volume<F>(_: F, _: bool) -> Result<(), Error> {
    Err(Error::Unsupported {
        call: "FSCTL_LOCK_VOLUME",
        reason: "only Windows has it. Open the device exclusively instead",
    })
}
