//! Signals that end a run, and processes that ignore them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::Result;
use rustix::process::{Resource, Rlimit, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;

static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Set by SIGINT, SIGTERM or SIGHUP.
pub(crate) fn stop() -> &'static AtomicBool {
    &STOP
}

pub(crate) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// The first signal sets [`stop`]. A second one ends the program at once, and the next run removes the leftovers.
pub(crate) fn stop_on_signals() -> Result<()> {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    // With two handlers, one signal would count as two.
    if IS_REGISTERED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // nohup.
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, STOP.clone())?;
        signal_hook::flag::register(signal, STOP.clone())?;
    }
    Ok(())
}

/// For a worker or a target helper, which only its supervisor ends.
pub(crate) fn obey_supervisor_only() -> Result<()> {
    // A core file of a crash (SIGBUS is an outcome) would hold the source's data.
    let no_core = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, no_core)?;
    // A scheduler sends these signals to all processes of a job.
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    // Without a supervisor, no worker may write, or hold the lock of the run's directory.
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// `SigIgn` of proc_pid_status(5).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
