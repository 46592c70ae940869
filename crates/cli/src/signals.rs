//! Signals that ask for an end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
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

/// Has a worker or a target helper survive signals that ask for an end: a scheduler sends them to all
/// processes of a job at once, and the supervisor decides.
pub(crate) fn leave_signals_to_the_supervisor() -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    Ok(())
}

/// Whether this process was started with that signal ignored: `SigIgn` of proc_pid_status(5).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
