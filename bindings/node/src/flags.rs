//! Flags for `fs.open`, or 0 without an equivalent. On Windows, these are libuv's bits (uv/win.h).

use napi_derive::napi;

#[cfg(target_os = "linux")]
mod values {
    pub(super) use libc::{O_DIRECT, O_DSYNC, O_EXCL, O_SYNC};
    pub(super) const O_EXLOCK: i32 = 0;
}

#[cfg(target_os = "macos")]
mod values {
    pub(super) use libc::{O_DSYNC, O_EXCL, O_EXLOCK, O_SYNC};
    pub(super) const O_DIRECT: i32 = 0;
}

#[cfg(target_os = "freebsd")]
mod values {
    pub(super) use libc::{O_DIRECT, O_DSYNC, O_EXCL, O_EXLOCK, O_SYNC};
}

#[cfg(windows)]
mod values {
    pub(super) const O_EXCL: i32 = 0x0400;
    pub(super) const O_DIRECT: i32 = 0x0200_0000;
    pub(super) const O_DSYNC: i32 = 0x0400_0000;
    pub(super) const O_SYNC: i32 = 0x0800_0000;
    pub(super) const O_EXLOCK: i32 = 0x1000_0000;
}

/// Reads and writes bypass the page cache.
#[napi]
pub const O_DIRECT: i32 = values::O_DIRECT;

/// Each write returns when its data is durable.
#[napi]
pub const O_DSYNC: i32 = values::O_DSYNC;

/// The file must be new. Without `O_CREAT`, Linux opens a block device exclusively.
#[napi]
pub const O_EXCL: i32 = values::O_EXCL;

/// The file is opened with an exclusive lock.
#[napi]
pub const O_EXLOCK: i32 = values::O_EXLOCK;

/// Each write returns when its data and all metadata are durable.
#[napi]
pub const O_SYNC: i32 = values::O_SYNC;
