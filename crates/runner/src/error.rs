//! What can end a run.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use writebench_model::protocol::{Room, Shortage};
use writebench_model::{Axis, Bytes, Case, Failure};

use crate::refusal::DeviceRefusal;

/// What can end a run, or keep it from beginning.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A call on the target's directory failed.
    #[error("{call} {path}: {}", describe(.error), path = path.display())]
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
    /// A case does not fit onto the target.
    #[error("{}", no_room(path, case, *.shortage))]
    NoRoom {
        /// The target.
        path: PathBuf,
        /// The case that needs most.
        case: String,
        /// What it lacks.
        shortage: Shortage,
    },
    /// A case does not fit into memory.
    #[error(
        "not enough memory: {case} needs {}, {} are available and a tenth of them is left alone, so {} are missing; use {}",
        Bytes(*.needed_bytes).approximate(), Bytes(*.available_bytes).approximate(),
        Bytes(.needed_bytes.saturating_sub(available_bytes / 10 * 9)).approximate(), .instead
    )]
    NoMemory {
        /// The largest case.
        case: String,
        /// What it needs, for its source and for a target in memory.
        needed_bytes: u64,
        /// What there is.
        available_bytes: u64,
        /// What would need less.
        instead: &'static str,
    },
    /// A case pins more memory than this user may.
    #[error(
        "{case} pins {} of memory, and the limit on locked memory is {}: raise it (ulimit -l), be root, or use --set registered=none",
        Bytes(*.needed_bytes).approximate(), Bytes(*.limit_bytes).approximate()
    )]
    LockedMemory {
        /// The case.
        case: String,
        /// What it pins.
        needed_bytes: u64,
        /// What may be pinned.
        limit_bytes: u64,
    },
    /// A case of direct I/O does not fit the device's sectors.
    #[error(
        "{case}: direct I/O takes multiples of the device's sectors of {sector_bytes} bytes, and {axis}={value} is none"
    )]
    Sector {
        /// The case.
        case: String,
        /// What does not fit.
        axis: Axis,
        /// Its value.
        value: String,
        /// The device's logical sector.
        sector_bytes: u64,
    },
    /// A case cannot be run on a block device.
    #[error("{case} cannot be run on {path}: {why}", path = path.display())]
    Device {
        /// The device.
        path: PathBuf,
        /// The case.
        case: String,
        /// Why not, and what would do.
        why: String,
    },
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

impl RunnerError {
    pub(crate) fn no_room(target: &Path, case: &Case, shortage: Shortage) -> Self {
        Self::NoRoom { path: target.to_path_buf(), case: case.to_string(), shortage }
    }
}

/// For `map_err`: what becomes of the error of that call on that path.
pub(crate) fn failed<E: Into<io::Error>>(call: &'static str, path: &Path) -> impl Fn(E) -> RunnerError + Copy {
    move |error| RunnerError::Target {
        call: Cow::Borrowed(call),
        path: path.to_path_buf(),
        error: error.into(),
    }
}

fn no_room(path: &Path, case: &str, shortage: Shortage) -> String {
    let Shortage { of, needed, available, reserve } = shortage;
    let missing = needed.saturating_add(reserve).saturating_sub(available);
    let path = path.display();
    match of {
        Room::Bytes => {
            let [needed, available, reserve, missing] =
                [needed, available, reserve, missing].map(|bytes| Bytes(bytes).approximate());
            format!(
                "not enough free space in {path}: {case} needs {needed}, {available} are free and {reserve} of them \
                 stay in reserve, so {missing} are missing; use a smaller --size, or a smaller --reserve"
            )
        }
        Room::Inodes => {
            let are = if missing == 1 { "is" } else { "are" };
            format!(
                "not enough free inodes in {path}: {case} needs {needed}, {available} are free and {reserve} of them \
                 stay in reserve, so {missing} more {are} needed; use fewer threads, or a smaller --reserve"
            )
        }
    }
}

fn describe(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(errno) => format!("{} ({errno})", Failure::errno_message(errno)),
        None => error.to_string(),
    }
}

/// A limit on processes and threads is met here before anywhere else.
fn describe_start(error: &io::Error) -> String {
    let is_limit = Errno::from_io_error(error) == Some(Errno::AGAIN);
    let limits = if is_limit { "; see pids.max of the control group, and ulimit -u" } else { "" };
    describe(error) + limits
}
