//! The calls of one system, on all others.

use crate::Error;
#[cfg(not(target_os = "linux"))]
use crate::LoopBacking;

#[cfg(not(target_os = "linux"))]
pub(crate) fn loop_backing<F>(_: F) -> Result<Option<LoopBacking>, Error> {
    Err(Error::Unsupported { call: "ioctl(LOOP_GET_STATUS64)", reason: "loop devices are Linux's own" })
}

#[cfg(not(target_os = "macos"))]
pub(crate) fn full_fsync<F>(_: F) -> Result<(), Error> {
    Err(Error::Unsupported {
        call: "fcntl(F_FULLFSYNC)",
        reason: "it is macOS's own; fsync makes data durable here",
    })
}

#[cfg(not(target_os = "macos"))]
pub(crate) fn set_no_cache<F>(_: F, _: bool) -> Result<(), Error> {
    const REASON: &str = if cfg!(windows) {
        "it is macOS's own; open the file with FILE_FLAG_NO_BUFFERING instead"
    } else {
        "it is macOS's own; open the file with O_DIRECT instead"
    };
    Err(Error::Unsupported { call: "fcntl(F_NOCACHE)", reason: REASON })
}

#[cfg(not(windows))]
pub(crate) fn lock_volume<F>(_: F, _: bool) -> Result<(), Error> {
    Err(Error::Unsupported {
        call: "FSCTL_LOCK_VOLUME",
        reason: "it is Windows' own; open the device exclusively instead",
    })
}
