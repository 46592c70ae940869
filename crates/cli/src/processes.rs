use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use writebench_runner::AgentCommand;

/// The hidden command of an agent.
pub(crate) const AGENT: &str = "agent";

/// What a worker, the agent that takes samples, works on. Files are paths as text, with device and inode to detect a
/// replaced one.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct WorkerFiles {
    /// The run's directories as text, with device and inode, in the order of its targets.
    pub directories: Vec<(String, [u64; 2])>,
    /// An exclusive descriptor of the device.
    pub device: Option<RawFd>,
    pub copy_from: Option<(String, [u64; 2])>,
}

pub(crate) fn worker(files: &WorkerFiles, has_barrier: bool) -> Result<AgentCommand> {
    let arguments = vec!["--samples".into(), serde_json::to_string(files)?.into()];
    agent(arguments, has_barrier)
}

pub(crate) fn target_agent() -> Result<AgentCommand> {
    agent(Vec::new(), false)
}

fn agent(mut arguments: Vec<OsString>, has_barrier: bool) -> Result<AgentCommand> {
    arguments.insert(0, AGENT.into());
    Ok(AgentCommand {
        program: this_program()?,
        arguments,
        has_barrier,
    })
}

/// Runs the same file even if an update has replaced or removed it.
fn this_program() -> Result<PathBuf> {
    std::env::current_exe()
        .map(|_| PathBuf::from("/proc/self/exe"))
        .context("find this program")
}
