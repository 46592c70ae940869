//! Signals that end a run, and processes that ignore them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use rustix::process::{Resource, Rlimit, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use writebench_model::Failure;

use crate::exit::{self, Exit};

static STOP: AtomicBool = AtomicBool::new(false);

/// npm passes on a signal that the terminal has also sent.
const REPETITION: Duration = Duration::from_millis(500);

/// Set by SIGINT, SIGTERM or SIGHUP.
pub(crate) fn stop() -> &'static AtomicBool {
    &STOP
}

pub(crate) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// The first signal sets [`stop`]. A later one ends the program at once, and the next run removes the leftovers.
pub(crate) fn stop_on_signals() -> Result<()> {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    // With two handlers, one signal would count as two.
    if IS_REGISTERED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    // nohup ignores SIGHUP.
    let obeyed = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|&signal| signal != SIGHUP || !is_ignored(signal));
    let signals = Signals::new(obeyed);
    let mut signals =
        signals.map_err(|error| anyhow!("watch signals: {}", Failure::io_message(&error)))?;
    let thread = thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut first = None;
            for _ in signals.forever() {
                STOP.store(true, Ordering::Relaxed);
                if first.get_or_insert_with(Instant::now).elapsed() > REPETITION {
                    signal_hook::low_level::exit(Exit::Interrupted as i32);
                }
            }
        });
    thread.map_err(|error| exit::thread_error("that waits for signals", &error))?;
    Ok(())
}

/// Ignores signals from the terminal in an agent, which only its supervisor ends.
pub(crate) fn obey_supervisor_only() -> Result<()> {
    // A core file of a crash (SIGBUS is an outcome) would hold the source's data.
    let no_core = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, no_core)?;
    // A scheduler sends these signals to all processes of a job.
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    // Without a supervisor, no agent may write, or hold the lock of the run's directory.
    Ok(rustix::process::set_parent_process_death_signal(Some(
        Signal::KILL,
    ))?)
}

/// `SigIgn` of proc_pid_status(5).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
