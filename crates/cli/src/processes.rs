use std::os::fd::RawFd;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use writebench_runner::WorkerCommand;

/// A hidden command.
pub(crate) const TARGET_HELPER: &str = "target-helper";

/// A hidden command.
pub(crate) const WORKER: &str = "worker";

/// The argument of a worker, as JSON. Files are paths as text, with device and inode to detect a replaced one.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct WorkerPlan {
    /// The run's directories as text, with device and inode, in the order of its targets.
    pub directories: Vec<(String, [u64; 2])>,
    /// An exclusive descriptor of the device.
    pub device: Option<RawFd>,
    pub copy_from: Option<(String, [u64; 2])>,
}

pub(crate) fn worker(plan: &WorkerPlan, has_barrier: bool) -> Result<WorkerCommand> {
    let arguments = vec![WORKER.into(), serde_json::to_string(plan)?.into()];
    Ok(WorkerCommand {
        program: this_program()?,
        arguments,
        has_barrier,
    })
}

pub(crate) fn target_helper() -> Result<WorkerCommand> {
    Ok(WorkerCommand {
        program: this_program()?,
        arguments: vec![TARGET_HELPER.into()],
        has_barrier: false,
    })
}

/// Runs the same file even if an update has replaced or removed it.
fn this_program() -> Result<PathBuf> {
    std::env::current_exe()
        .map(|_| PathBuf::from("/proc/self/exe"))
        .context("find this program")
}
