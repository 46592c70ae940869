//! Errors that end a run.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use writebench_model::Failure;

use crate::claim_error::ClaimError;

/// An error that ends a run, or prevents it.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A call on the target's directory failed.
    #[error("{call} {path}: {}", Failure::io_message(.error), path = path.display())]
    Target {
        call: Cow<'static, str>,
        path: PathBuf,
        /// In the message, so not the `source` as well, which would print it twice.
        error: io::Error,
    },
    /// Another directory, or a link, has replaced one that is ours or was inspected.
    #[error("{} is not what it was: somebody put something else there, which is left as it is; see who may write to the directory above it", path.display())]
    Swapped {
        /// The path of the directory or file that was replaced.
        path: PathBuf,
    },
    /// A target does not answer.
    #[error("{path} does not answer: {doing} had no end after {after:?}; see what holds it up, such as a network that is down or a FUSE server that has stopped", path = path.display())]
    Silent {
        /// The target, or a path in it.
        path: PathBuf,
        doing: &'static str,
        /// The time limit of the answer.
        after: Duration,
    },
    /// The run was stopped while a target was asked.
    #[error("interrupted while {path} gave no answer ({doing})", path = path.display())]
    Interrupted {
        /// The target, or a path in it.
        path: PathBuf,
        doing: &'static str,
    },
    /// An error of a target, as its target helper describes it.
    #[error("{0}")]
    Told(String),
    /// The worker process could not be started or written to.
    #[error("worker: {doing}: {}", describe_start(.error))]
    Worker {
        doing: &'static str,
        /// In the message, too.
        error: io::Error,
    },
    /// The worker's reply was invalid.
    #[error("worker: {0}")]
    Protocol(String),
    /// A case needs more of the target or the machine than there is; the text names a remedy.
    #[error("{0}")]
    TooLarge(String),
    /// A case cannot run on a target of this kind; the text names a remedy.
    #[error("{0}")]
    Unfit(String),
    /// A block device must not be written to.
    #[error("{device} {reason}")]
    DeviceRefused {
        /// The name that the user gave, with the partition concerned, if any.
        device: String,
        reason: ClaimError,
    },
    /// Facts about the machine are unknown.
    #[error(transparent)]
    Probe(#[from] writebench_probe::ProbeError),
    /// The observer of the run failed.
    #[error("{0}")]
    Observer(Box<dyn std::error::Error + Send + Sync>),
}

/// For `map_err`: turns the error of that call on that path into a [`RunnerError`].
pub(crate) fn failed<E: Into<io::Error>>(call: &'static str, path: &Path) -> impl Fn(E) -> RunnerError + Copy {
    move |error| RunnerError::Target {
        call: Cow::Borrowed(call),
        path: path.to_path_buf(),
        error: error.into(),
    }
}

/// A limit on processes and threads usually fails here first.
fn describe_start(error: &io::Error) -> String {
    let is_limit = Errno::from_io_error(error) == Some(Errno::AGAIN);
    let limits = if is_limit { "; see pids.max of the control group, and ulimit -u" } else { "" };
    Failure::io_message(error) + limits
}
