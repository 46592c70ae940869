//! A part of the set-up that rustup or pip installs.

use std::process::Command;

/// The part, with the commands that install it.
pub(crate) struct Part {
    pub(crate) name: String,
    /// On the disk.
    pub(crate) size: &'static str,
    /// Run in order, up to the first that fails.
    pub(crate) commands: Vec<Command>,
}
