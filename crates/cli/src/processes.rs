//! How this program starts itself, as a target helper or as a worker.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use writebench_runner::WorkerCommand;

/// The word that makes this program a target helper.
pub(crate) const TARGET_HELPER: &str = "target-helper";

/// The word that makes this program a worker.
pub(crate) const WORKER: &str = "worker";

/// How a worker is started in directories, each of which has its device and inode.
pub(crate) fn worker<'d>(
    directories: impl Iterator<Item = (&'d OsStr, [u64; 2])>,
    has_barrier: bool,
) -> Result<WorkerCommand> {
    let mut arguments = vec![WORKER.into()];
    for (directory, identity) in directories {
        arguments.extend(["--directory".into(), directory.to_os_string(), "--identity".into()]);
        arguments.extend(identity.map(|number| number.to_string().into()));
    }
    Ok(WorkerCommand { program: this_program()?, arguments, has_barrier })
}

/// How a target helper is started.
pub(crate) fn target_helper() -> Result<WorkerCommand> {
    Ok(WorkerCommand { program: this_program()?, arguments: vec![TARGET_HELPER.into()], has_barrier: false })
}

/// The file of this program even if it was replaced or removed meanwhile, as by an update.
fn this_program() -> Result<PathBuf> {
    std::env::current_exe().map(|_| PathBuf::from("/proc/self/exe")).context("find this program")
}
