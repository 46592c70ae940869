//! A part of the setup, installed by rustup or pip.

use std::process::Command;

pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) size: &'static str,
    /// A failure skips the rest.
    pub(crate) commands: Vec<Command>,
}
