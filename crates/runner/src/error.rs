//! What can end a run.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use writebench_model::Failure;

use crate::refusal::DeviceRefusal;

/// What can end a run, or keep it from beginning.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A call on the target's directory failed.
    #[error("{call} {path}: {}", Failure::io_message(.error), path = path.display())]
    Target {
        /// The call.
        call: Cow<'static, str>,
        /// The path.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// Another directory, or a link, is where one was that is ours or that was looked at.
    #[error("{} is not what it was: somebody put something else there, which is left as it is; see who may write to the directory above it", path.display())]
    Swapped {
        /// The path.
        path: PathBuf,
    },
    /// A target gives no answer to the process that asks it.
    #[error("{path} does not answer: {doing} had no end after {after:?}; see what holds it up, such as a network that is down or a FUSE server that has stopped", path = path.display())]
    Silent {
        /// The target, or what is in it.
        path: PathBuf,
        /// The question.
        doing: &'static str,
        /// The time that it was given.
        after: Duration,
    },
    /// The run was told to stop while a target was asked.
    #[error("interrupted while {path} gave no answer ({doing})", path = path.display())]
    Interrupted {
        /// The target, or what is in it.
        path: PathBuf,
        /// The question.
        doing: &'static str,
    },
    /// An error of a target that its keeper has put into words.
    #[error("{0}")]
    Told(String),
    /// The worker process could not be started or spoken to.
    #[error("worker: {doing}: {}", describe_start(.error))]
    Worker {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// The worker said something that is no reply.
    #[error("worker: {0}")]
    Protocol(String),
    /// A case takes more of the target or of the machine than there is; in words, with what would do.
    #[error("{0}")]
    TooLarge(String),
    /// A case cannot be run on a target of this kind; in words, with what would do.
    #[error("{0}")]
    Unfit(String),
    /// A block device must not be written to.
    #[error("{device} {refusal}")]
    DeviceRefused {
        /// What the user named, with the partition that it is about, if it is about one.
        device: String,
        /// Why.
        refusal: DeviceRefusal,
    },
    /// Facts about the machine could not be learnt.
    #[error(transparent)]
    Probe(#[from] writebench_probe::ProbeError),
    /// Whoever listens to the run could not go on.
    #[error("{0}")]
    Observer(Box<dyn std::error::Error + Send + Sync>),
}

/// For `map_err`: what becomes of the error of that call on that path.
pub(crate) fn failed<E: Into<io::Error>>(call: &'static str, path: &Path) -> impl Fn(E) -> RunnerError + Copy {
    move |error| RunnerError::Target {
        call: Cow::Borrowed(call),
        path: path.to_path_buf(),
        error: error.into(),
    }
}

/// A limit on processes and threads is met here before anywhere else.
fn describe_start(error: &io::Error) -> String {
    let is_limit = Errno::from_io_error(error) == Some(Errno::AGAIN);
    let limits = if is_limit { "; see pids.max of the control group, and ulimit -u" } else { "" };
    Failure::io_message(error) + limits
}
