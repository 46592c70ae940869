//! How this program starts itself, as a target helper or as a worker.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::{Context, Result};
use writebench_runner::WorkerCommand;

/// The word that makes this program a target helper.
pub(crate) const TARGET_HELPER: &str = "target-helper";

/// The word that makes this program a worker.
pub(crate) const WORKER: &str = "worker";

/// The words that tell a worker of a directory, with its device and inode.
pub(crate) fn directory_arguments(directory: &OsStr, identity: [u64; 2]) -> impl Iterator<Item = OsString> {
    let numbers = identity.map(|number| number.to_string().into());
    ["--directory".into(), directory.to_os_string(), "--identity".into()].into_iter().chain(numbers)
}

/// How a target helper is started.
pub(crate) fn target_helper() -> Result<WorkerCommand> {
    Ok(WorkerCommand { program: this_program()?, arguments: vec![TARGET_HELPER.into()], has_barrier: false })
}

/// The file of this program even if it was replaced or removed meanwhile, as by an update.
pub(crate) fn this_program() -> Result<PathBuf> {
    std::env::current_exe().map(|_| PathBuf::from("/proc/self/exe")).context("find this program")
}
