//! `writebench target helper`: makes the calls on a target that are no sample's, for the supervisor that started it.

use std::ffi::OsString;

use anyhow::Result;
use rustix::process::{Rlimit, Signal};

use crate::exit::Exit;
use crate::signals::leave_signals_to_the_supervisor;

/// Answers questions until there are no more.
pub(super) fn serve(_: &mut dyn Iterator<Item = OsString>) -> Result<Exit> {
    // A core file would hold what is copied.
    let no_core = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(rustix::process::Resource::Core, no_core)?;
    leave_signals_to_the_supervisor()?;
    // The lock of the run's directory must not outlive the run.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    writebench_runner::serve_target()?;
    Ok(Exit::Ok)
}
