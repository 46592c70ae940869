use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use writebench_model::Failure;

use crate::claim_error::ClaimError;

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error("{call} {path}: {}", Failure::io_message(.error), path = path.display())]
    Target {
        call: Cow<'static, str>,
        path: PathBuf,
        /// The error of the call. It is not also the `source`, or it would be printed twice.
        error: io::Error,
    },
    /// Another directory, or a link, has replaced an inspected one.
    #[error("{} was replaced by another user or process, and is left unchanged: check the permissions of its parent directory", path.display())]
    Swapped { path: PathBuf },
    #[error("{path} does not answer: {doing} took more than {after:?}. Check its network connection or FUSE server", path = path.display())]
    Silent {
        /// The target, or a path in it.
        path: PathBuf,
        doing: &'static str,
        after: Duration,
    },
    #[error("interrupted while {path} did not answer ({doing})", path = path.display())]
    Interrupted { path: PathBuf, doing: &'static str },
    /// An error in the words of an agent.
    #[error("{0}")]
    Told(String),
    #[error("agent: {doing}: {}", describe_start(.error))]
    Agent {
        doing: &'static str,
        /// The error of the agent, which is not also the `source`.
        error: io::Error,
    },
    #[error("agent: {0}")]
    Protocol(String),
    /// A case exceeds the target or the machine. The text names a remedy.
    #[error("{0}")]
    TooLarge(String),
    /// A case cannot run on a target of this kind. The text names a remedy.
    #[error("{0}")]
    Unfit(String),
    #[error("{device} {reason}")]
    DeviceRefused {
        /// The user's name for the device, with the partition concerned.
        device: String,
        reason: ClaimError,
    },
    #[error(transparent)]
    Probe(#[from] writebench_probe::ProbeError),
    #[error("{0}")]
    Observer(Box<dyn std::error::Error + Send + Sync>),
}

pub(crate) fn failed<E: Into<io::Error>>(
    call: &'static str,
    path: &Path,
) -> impl Fn(E) -> RunnerError + Copy {
    move |error| RunnerError::Target {
        call: Cow::Borrowed(call),
        path: path.to_path_buf(),
        error: error.into(),
    }
}

/// A limit on processes and threads usually fails here first.
fn describe_start(error: &io::Error) -> String {
    let is_limit = Errno::from_io_error(error) == Some(Errno::AGAIN);
    let limits = if is_limit {
        ". Check pids.max of the control group, and ulimit -u"
    } else {
        ""
    };
    Failure::io_message(error) + limits
}
