//! How the program ends, as `docs/reference/exit-codes.md` lists it.

use std::io;
use std::process::ExitCode;

use thiserror::Error;
use writebench_model::{CaseError, Failure, SuiteError};
use writebench_runner::RunnerError;
use writebench_store::StoreError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Ok = 0,
    /// Something failed that is not a case: the target, the database, an export.
    Runtime = 1,
    /// The command line cannot be followed.
    Usage = 2,
    /// To follow the command line would not be safe.
    Refused = 3,
    /// Some cases failed; the others have figures.
    CasesFailed = 4,
    /// A case is slower than was allowed.
    Slower = 5,
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that says how the program ends.
#[derive(Debug, Error)]
#[error("{message}")]
pub(crate) struct ExitError {
    pub exit: Exit,
    pub message: String,
}

/// Like [`anyhow::anyhow`], for a mistake on the command line: ends with [`Exit::Usage`].
macro_rules! usage {
    ($($message:tt)+) => { $crate::exit::exit_error($crate::exit::Exit::Usage, format!($($message)+)) };
}

/// Like [`anyhow::anyhow`], for what would not be safe: ends with [`Exit::Refused`].
macro_rules! refused {
    ($($message:tt)+) => { $crate::exit::exit_error($crate::exit::Exit::Refused, format!($($message)+)) };
}

pub(crate) use {refused, usage};

pub(crate) fn exit_error(exit: Exit, message: String) -> anyhow::Error {
    ExitError { exit, message }.into()
}

/// An error of a thread that could not be started, with the limits that it may have met.
pub(crate) fn thread_error(purpose: &str, error: &io::Error) -> anyhow::Error {
    let why = Failure::io_message(error);
    anyhow::anyhow!("start a thread {purpose}: {why}; see pids.max of the control group, and ulimit -u")
}

/// The exit that an error asks for.
pub(crate) fn for_error(error: &anyhow::Error) -> Exit {
    if let Some(error) = error.downcast_ref::<ExitError>() {
        return error.exit;
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
        Some(RunnerError::TooLarge(_) | RunnerError::Swapped { .. } | RunnerError::DeviceRefused { .. }) => {
            Exit::Refused
        }
        _ => Exit::Runtime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_must_not_be_written_is_refused() {
        let device = "/dev/sdb".to_owned();
        let error = RunnerError::DeviceRefused { device, reason: writebench_runner::ClaimError::Busy };
        assert_eq!(for_error(&error.into()), Exit::Refused);
    }
}
