//! Signals that ask for an end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use rustix::process::{Resource, Rlimit, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;

/// A flag that the first signal sets. A second signal ends the program at once; the next run
/// removes what stays.
pub(crate) fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // A run that was started with nohup must continue.
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, stop.clone())?;
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}

/// Prepares a worker or a target helper, whose end is the supervisor's decision.
pub(crate) fn obey_supervisor_only() -> Result<()> {
    // A core file would hold the source's data.
    let no_core = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, no_core)?;
    // A scheduler sends signals that ask for an end to all processes of a job at once.
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    // No worker may continue to write after its supervisor is gone, and the lock of the run's directory must not outlive
    // the run.
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Whether this process was started with that signal ignored: `SigIgn` of proc_pid_status(5).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
