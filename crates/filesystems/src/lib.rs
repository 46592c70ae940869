//! Filesystems of many kinds in image files, made for a run and removed however it ends.
//!
//! [`Filesystems::begin`] enters a private mount namespace, in which [`Filesystems::make`] makes the
//! filesystem of a [`FilesystemRequest`]. Whether the process exits, or ends by Ctrl-C or SIGKILL, nothing remains,
//! because nothing has a name or an owner outside:
//!
//! - mounts are in the private namespace, which the kernel drops with its last process;
//! - image files have no name, and disappear with the last descriptor;
//! - loop devices detach themselves with their last user;
//! - the servers of `fuse:` filesystems die with the thread that started them.
//!
//! `mkfs` and `mount` cannot be told to die with their caller. If it is killed they end within seconds; until
//! then they keep the namespace and the loop devices.
//!
//! Linux only.

mod bindfs;
mod cleanup;
mod error;
mod filesystems;
mod image;
mod kind;
mod loop_device;
mod namespace;
mod program;
mod recipe;
mod server;

pub use error::Error;
pub use filesystems::{FilesystemRequest, Filesystems, MadeFilesystem};
pub use kind::{FilesystemKind, Layer};
