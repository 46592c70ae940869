//! `writebench keeper`: makes the calls on a target that are no sample's, for the supervisor that started it.

use std::path::PathBuf;

use anyhow::{Context, Result};
use rustix::process::{Rlimit, Signal};
use writebench_runner::WorkerCommand;

use crate::exit::Exit;

/// The word that makes this program a keeper.
pub const COMMAND: &str = "keeper";

/// Answers questions until there are no more.
pub fn keep() -> Result<Exit> {
    // A core file would hold what is copied.
    let no_core = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(rustix::process::Resource::Core, no_core)?;
    // The lock of the run's directory must not outlive the run.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    writebench_runner::keep()?;
    Ok(Exit::Ok)
}

/// How a keeper is started.
pub fn command() -> Result<WorkerCommand> {
    Ok(WorkerCommand { program: this_program()?, arguments: vec![COMMAND.into()] })
}

/// The same file even if it was replaced or removed meanwhile, as an update does.
pub fn this_program() -> Result<PathBuf> {
    std::env::current_exe().map(|_| PathBuf::from("/proc/self/exe")).context("find this program")
}
