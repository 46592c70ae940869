//! The options that all commands share.

use std::path::PathBuf;

use crate::output::Output;

pub(crate) struct Global {
    /// The database that was named.
    pub db: Option<PathBuf>,
    pub output: Output,
    /// The whole command line, for those that describe it.
    pub interface: fn() -> clap::Command,
}
