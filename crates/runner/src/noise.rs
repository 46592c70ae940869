//! The variation of the same work, in a separate workspace.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use writebench_model::protocol::NoiseRequest;
use writebench_model::{Noise, Outcome, nanoseconds};

use crate::error::RunnerError;
use crate::worker::{Answer, Patience, Worker, WorkerCommand};

/// Has a worker repeat the same work for that time; none if the run was stopped.
///
/// # Errors
/// No worker can be started, or it hangs or dies.
pub fn measure_noise(
    command: &WorkerCommand,
    time: Duration,
    stop: &AtomicBool,
) -> Result<Option<Noise>, RunnerError> {
    /// The extra wait for a target with slow syncs.
    const PATIENCE: Duration = Duration::from_secs(60);
    let time_ns = nanoseconds(time);
    let mut worker = Worker::start(command)?;
    let cpu_stats = worker.hold_ups.cpu_stats();
    let request = NoiseRequest { time_ns, file_stem: "noise".to_owned(), cpu_stats };
    match worker.ask(request, Patience::until(time + PATIENCE, stop))? {
        Answer::Reply(noise) => Ok(Some(noise)),
        Answer::Stopped => Ok(None),
        Answer::Lost(Outcome::WorkerDied { detail, .. }) => {
            Err(RunnerError::Protocol(format!("ended in the middle{detail}")))
        }
        Answer::Lost(_) => Err(RunnerError::Protocol(format!("no answer after {:?}", time + PATIENCE))),
    }
}
