//! The exit codes of `docs/reference/exit-codes.md`.

use std::io;

use thiserror::Error;
use writebench_model::{CaseError, Failure, SuiteError};
use writebench_runner::RunnerError;
use writebench_store::StoreError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    /// The target, the database or an export failed.
    Runtime = 1,
    /// An invalid command line.
    Usage = 2,
    /// An unsafe command line.
    Refused = 3,
    /// Some cases have no result, or only a part of it, because they failed. All other cases have results.
    CasesFailed = 4,
    /// A case is slower than `--fail-if-slower` allows or misses a limit of `--require`, or a program is not safe from a
    /// power loss.
    Gate = 5,
    /// A search, or a run of goals, ended without an answer.
    NoAnswer = 6,
    /// The samples do not show whether a limit of `--require` is met.
    Undecided = 7,
    Interrupted = 130,
}

/// An error with its exit code.
#[derive(Debug, Error)]
#[error("{1}")]
pub(crate) struct ExitError(pub Exit, pub String);

/// Like [`anyhow::anyhow`], with [`Exit::Usage`].
macro_rules! usage {
    ($($message:tt)+) => { anyhow::Error::from($crate::exit::ExitError($crate::exit::Exit::Usage, format!($($message)+))) };
}

/// Like [`anyhow::anyhow`], with [`Exit::Refused`].
macro_rules! refused {
    ($($message:tt)+) => { anyhow::Error::from($crate::exit::ExitError($crate::exit::Exit::Refused, format!($($message)+))) };
}

pub(crate) use {refused, usage};

/// Names possible limits on threads.
pub(crate) fn thread_error(purpose: &str, error: &io::Error) -> anyhow::Error {
    let why = Failure::io_message(error);
    anyhow::anyhow!(
        "start a thread {purpose}: {why}. See pids.max of the control group, and ulimit -u"
    )
}

pub(crate) fn for_error(error: &anyhow::Error) -> Exit {
    if let Some(error) = error.downcast_ref::<ExitError>() {
        return error.0;
    }
    if error.is::<SuiteError>() || error.is::<CaseError>() {
        return Exit::Usage;
    }
    match error.downcast_ref() {
        Some(StoreError::Unsafe { .. }) => return Exit::Refused,
        Some(
            StoreError::NoFile { .. }
            | StoreError::TooLarge { .. }
            | StoreError::NoRun { .. }
            | StoreError::UnderWay { .. },
        ) => return Exit::Usage,
        _ => {}
    }
    match error.downcast_ref() {
        Some(RunnerError::Unfit(_)) => Exit::Usage,
        Some(RunnerError::Interrupted { .. }) => Exit::Interrupted,
        Some(
            RunnerError::TooLarge(_)
            | RunnerError::Swapped { .. }
            | RunnerError::DeviceRefused { .. },
        ) => Exit::Refused,
        _ => Exit::Runtime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_device_is_refused() {
        let device = "/dev/sdb".to_owned();
        let error = RunnerError::DeviceRefused {
            device,
            reason: writebench_runner::ClaimError::Busy,
        };
        assert_eq!(for_error(&error.into()), Exit::Refused);
    }
}
