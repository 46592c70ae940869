//! The only platform switch: every platform has the same items. `unsupported.rs` has the calls of other
//! systems.

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

#[cfg(not(any(
    target_os = "freebsd",
    target_os = "linux",
    target_os = "macos",
    windows
)))]
compile_error!("direct-io supports only Linux, macOS, Windows and FreeBSD");
