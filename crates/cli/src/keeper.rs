//! How this program starts itself, as a keeper or as a worker.

use std::path::PathBuf;

use anyhow::{Context, Result};
use writebench_runner::WorkerCommand;

/// The word that makes this program a keeper.
pub(crate) const COMMAND: &str = "keeper";

/// How a keeper is started.
pub(crate) fn command() -> Result<WorkerCommand> {
    Ok(WorkerCommand { program: this_program()?, arguments: vec![COMMAND.into()], meets: false })
}

/// The file of this program even if it was replaced or removed meanwhile, as by an update.
pub(crate) fn this_program() -> Result<PathBuf> {
    std::env::current_exe().map(|_| PathBuf::from("/proc/self/exe")).context("find this program")
}
