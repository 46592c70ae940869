//! Makes filesystems of many kinds in image files for a run, and removes them however it ends. Linux only.
//!
//! This is an internal part of writebench, without a stability promise.
//!
//! Nothing has a name or an owner outside, so nothing remains after an exit, Ctrl-C or SIGKILL:
//!
//! - The kernel drops the mounts with the last process of the private mount namespace.
//! - Image files have no name, and disappear with the last descriptor.
//! - Loop devices detach themselves with their last user.
//! - The servers of `fuse:` filesystems die with the thread that started them.
//!
//! `mkfs` and `mount` do not die with a killed caller. Until they end, within seconds, they keep the namespace
//! and the loop devices.

mod cleanup;
mod disk;
mod error;
mod filesystems;
mod image;
mod kind;
mod loop_device;
mod namespace;
mod patience;
mod program;
mod recipe;
mod server;

pub use disk::Disk;
pub use error::Error;
pub use filesystems::{FilesystemRequest, Filesystems, MadeFilesystem};
pub use kind::{DiskKind, FilesystemKind, Layer};
pub use namespace::PrivateMounts;
