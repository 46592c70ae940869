//! The only platform switch. Every platform has these items (`unsupported.rs` has other systems' calls):
//!
//! | item | does |
//! |---|---|
//! | `AsFile`, `borrow` | an open file |
//! | `open`, on Unix `open_at` | opens by consistent options |
//! | `WRITE_AT`, `write_at`, `READ_AT`, `read_at` | one transfer, repeated if interrupted, and the call's name |
//! | `WRITE_VECTORED_AT`, `write_vectored_at`, `READ_VECTORED_AT`, `read_vectored_at` | the same for slices |
//! | `length_bytes`, `SET_LENGTH`, `set_length` | the length of a regular file |
//! | `device`, `device_at`, `device_below`, `direct`, `may_be_direct` | the system's facts |
//! | `loop_backing` | the file behind a loop device |
//! | `flock`, `lock_volume` | take or release a lock |
//! | `fdatasync`, `fsync`, `full_fsync`, `set_no_cache`, `preallocate` | one call each |

#![allow(unsafe_code, reason = "system calls and memory")]

pub(crate) mod memory;

mod unsupported;
pub(crate) use unsupported::*;

/// The outer error means that the system lacks the call.
type Vectored = Result<std::io::Result<usize>, crate::Error>;

#[cfg(unix)]
mod unix;

#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "freebsd")]
pub(crate) use freebsd::*;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;

#[cfg(windows)]
pub use std::os::windows::io::AsHandle as AsFile;

#[cfg(unix)]
pub use std::os::fd::AsFd as AsFile;

#[cfg(not(any(target_os = "freebsd", target_os = "linux", target_os = "macos", windows)))]
compile_error!("direct-io supports only Linux, macOS, Windows and FreeBSD");
