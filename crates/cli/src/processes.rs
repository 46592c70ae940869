use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use writebench_runner::WorkerCommand;

/// A hidden command.
pub(crate) const TARGET_HELPER: &str = "target-helper";

/// A hidden command.
pub(crate) const WORKER: &str = "worker";

/// Directories have their device and inode.
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

pub(crate) fn target_helper() -> Result<WorkerCommand> {
    Ok(WorkerCommand { program: this_program()?, arguments: vec![TARGET_HELPER.into()], has_barrier: false })
}

/// Runs the same file even if an update has replaced or removed it.
fn this_program() -> Result<PathBuf> {
    std::env::current_exe().map(|_| PathBuf::from("/proc/self/exe")).context("find this program")
}
