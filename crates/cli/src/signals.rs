//! Signals that ask for an end, and the processes that leave them to their supervisor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::Result;
use rustix::process::{Resource, Rlimit, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;

static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Set once a signal has asked for an end.
pub(crate) fn stop() -> &'static AtomicBool {
    &STOP
}

pub(crate) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Has the first signal set [`stop`]. A second signal ends the program at once; the next run removes what stays.
pub(crate) fn stop_on_signals() -> Result<()> {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    // A signal that was handled twice would seem to be the second.
    if IS_REGISTERED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // A run that was started with nohup must continue.
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, STOP.clone())?;
        signal_hook::flag::register(signal, STOP.clone())?;
    }
    Ok(())
}

/// Prepares a worker or a target helper, whose end is the supervisor's decision.
pub(crate) fn obey_supervisor_only() -> Result<()> {
    // A crash such as SIGBUS is an outcome, and a core file would hold the source's data.
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
