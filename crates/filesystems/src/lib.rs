//! Filesystems of many kinds in image files, made for a run and unmade whatever ends it.
//!
//! [`Filesystems::begin`] enters a private mount namespace, where [`Filesystems::make`] makes what a [`Wish`] names.
//! Whether the process ends by itself, by Ctrl-C or by SIGKILL, nothing stays, because nothing that is made has a
//! name or an owner outside:
//!
//! - mounts are in the private namespace, which the kernel drops with its last process;
//! - image files have no name, so that they go with the last descriptor;
//! - loop devices detach themselves with their last user;
//! - the bindfs of a `fuse:` filesystem dies with the thread that started it.
//!
//! `mkfs` and `mount` cannot be told to die with their caller. When it is killed they end by themselves, within
//! seconds; until then they keep namespace and loop devices.
//!
//! Linux only.

mod bindfs;
mod error;
mod filesystems;
mod image;
mod kind;
mod loop_device;
mod namespace;
mod program;
mod recipe;
mod undo;

pub use error::Error;
pub use filesystems::{Filesystems, Made, Wish};
pub use kind::Kind;
