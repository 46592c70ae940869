//! What the filesystem does with files, learnt in a workspace of its own.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use writebench_model::protocol::{PropertiesRequest, Reply, Request};
use writebench_model::{Outcome, Properties, nanoseconds};

use crate::casualties::Casualties;
use crate::error::RunnerError;
use crate::worker::{Answer, Wait, Worker, WorkerCommand};

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LearntProperties {
    /// They are known.
    Known(Box<Properties>),
    /// The worker that made the files came to no end, or to its own. Its files are among the casualties.
    Unknown(Outcome),
    /// It was told to stop.
    Stopped,
}

/// Has a worker make files and look at them, for at most `limit`.
///
/// # Errors
/// No worker can be started or understood, or its target is no directory. A worker that hangs or ends is no error.
pub fn learn_properties(
    command: &WorkerCommand,
    request: PropertiesRequest,
    limit: Duration,
    (casualties, stop): (&mut Casualties, &AtomicBool),
) -> Result<LearntProperties, RunnerError> {
    let limit_ns = nanoseconds(limit);
    let target = request.target;
    let mut worker = Worker::start(command)?;
    let outcome = match worker.ask(&Request::Properties(request), &Wait::until(limit, stop))? {
        Answer::Reply(Reply::Properties(properties)) => return Ok(LearntProperties::Known(properties)),
        Answer::Reply(Reply::Refused { why }) => return Err(RunnerError::Protocol(why)),
        Answer::Reply(_) => return Err(RunnerError::Protocol("answered something else".to_owned())),
        Answer::Stopped => None,
        Answer::TimedOut(phase) => Some(Outcome::TimedOut { phase, limit_ns }),
        Answer::Died { phase, signal, detail } => Some(Outcome::WorkerDied { phase, signal, detail }),
    };
    casualties.add(target, worker);
    Ok(outcome.map_or(LearntProperties::Stopped, LearntProperties::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker that is a shell's line; the progress record's number becomes its `$0`.
    fn learn(line: &str, limit: Duration, stop: bool) -> Result<LearntProperties, RunnerError> {
        let command = WorkerCommand { program: "sh".into(), arguments: vec!["-c".into(), line.into()] };
        let request = PropertiesRequest {
            target: 0,
            file_stem: "properties".to_owned(),
            file_size_bytes: 1 << 20,
            data_seed: 1,
            device_number: None,
        };
        learn_properties(&command, request, limit, (&mut Casualties::default(), &AtomicBool::new(stop)))
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_worker_that_hangs_or_dies_is_an_outcome_with_a_reason() {
        let LearntProperties::Unknown(hung) = learn("sleep 60", Duration::from_millis(200), false).unwrap()
        else {
            panic!("it hung")
        };
        assert!(hung.reason().unwrap().starts_with("no end after 200ms"), "{hung:?}");
        let LearntProperties::Unknown(dead) = learn("read it; kill -9 $$", LONG, false).unwrap() else {
            panic!("it died")
        };
        assert!(matches!(dead, Outcome::WorkerDied { signal: Some(9), .. }), "{dead:?}");
    }

    #[test]
    fn being_told_to_stop_is_no_error_and_a_refusal_is_one() {
        assert_eq!(learn("sleep 60", LONG, true).unwrap(), LearntProperties::Stopped);
        let refused = learn(r#"read it; echo '{"refused":{"why":"a device"}}'"#, LONG, false);
        assert_eq!(refused.unwrap_err().to_string(), "worker: a device");
    }
}
