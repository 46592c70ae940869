//! A target's target helper: a process that makes all calls on a target other than a sample's, so that the
//! supervisor never waits for a filesystem that does not answer.
//!
//! The target helper inspects the target, holds its directory open, makes the run's workspace, keeps it locked,
//! fills the copy that stays, and removes the workspace. It is the same program with a hidden subcommand, as
//! a worker is; each request and response is a line of JSON.

mod copy;
mod inspection;
mod request;
mod serve;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use writebench_model::Outcome;
use writebench_model::protocol::Request;

pub use self::copy::{CopyDestination, CopySource, Existing, open_source};
pub use self::inspection::{Inspection, TargetKind};
use self::request::{
    Copy, Empty, Inspect, InspectCopyDestination, InspectSource, ListLeftovers, Make, Remove, RemoveLeftover,
};
pub use self::serve::serve_target;
use crate::error::RunnerError;
use crate::holders::{children, is_held_by};
use crate::worker::{Deadline, RequestOutcome, Worker, WorkerCommand};
use crate::workspace::{Leftover, workspace_path};

/// The default time for a target's answer.
pub const TIMEOUT: Duration = Duration::from_secs(30);
/// The time for removing the workspace in a stopped run.
pub(crate) const GRACE: Duration = Duration::from_millis(1500);
/// The longest delay of a run by the directory of an earlier one.
const LEFTOVER_TIMEOUT: Duration = Duration::from_secs(10);

static NEVER: AtomicBool = AtomicBool::new(false);

impl Deadline<'static> {
    /// The patience before signals are watched, while each of them ends the program.
    pub fn without_stop(limit: Option<Duration>) -> Self {
        Self::until(limit.unwrap_or(TIMEOUT), &NEVER)
    }
}

/// A workspace that a target helper made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperWorkspace {
    pub path: PathBuf,
    /// Device and inode, by which a worker checks it.
    pub identity: [u64; 2],
}

/// A target's target helper. Dropping it removes its workspace and ends its process.
pub struct TargetHelper {
    process: Worker,
    // For another attempt after this process has died.
    command: WorkerCommand,
    path: PathBuf,
    workspace: Option<HelperWorkspace>,
    // Whether the process gave no answer, and may hang in the kernel.
    is_silent: bool,
}

impl TargetHelper {
    /// Starts a target helper for the target at `path` and inspects the target.
    ///
    /// # Errors
    /// No process can be started, the target does not exist, or it does not answer.
    pub fn inspect(
        command: &WorkerCommand,
        path: &Path,
        deadline: Deadline<'_>,
    ) -> Result<(Self, Inspection), RunnerError> {
        let mut helper = Self::start(command, path)?;
        let inspection = helper.ask(Inspect(path.into()), "looking at it", deadline)?;
        helper.path.clone_from(&inspection.path);
        Ok((helper, inspection))
    }

    /// Each target helper is a separate process: if it hangs, no other waits for it.
    fn start(command: &WorkerCommand, path: &Path) -> Result<Self, RunnerError> {
        Ok(Self {
            process: Worker::start(command)?,
            command: command.clone(),
            path: path.to_path_buf(),
            workspace: None,
            is_silent: false,
        })
    }

    /// Makes the workspace with that id in the target.
    ///
    /// # Errors
    /// The workspace cannot be made. Its directory may exist nevertheless: [`StaleWorkspaces::remove`]
    /// finds out.
    pub fn make(&mut self, id: &str, deadline: Deadline<'_>) -> Result<&HelperWorkspace, RunnerError> {
        let identity = self.ask(Make(id.to_owned()), "making a directory in it", deadline)?;
        let path = workspace_path(&self.path, id);
        Ok(self.workspace.insert(HelperWorkspace { path, identity }))
    }

    /// The workspace, if it has been made.
    pub fn workspace(&self) -> Option<&HelperWorkspace> {
        self.workspace.as_ref()
    }

    /// The number of the target helper's process.
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Whether one of these processes has a file of the workspace open, as a killed worker that hangs in the
    /// kernel does. Removal would hang, too.
    pub fn is_held_by(&self, processes: &[u32]) -> bool {
        self.workspace.as_ref().is_some_and(|workspace| is_held_by(processes, &workspace.path))
    }

    /// Removes the workspace.
    ///
    /// # Errors
    /// A file cannot be removed, or the target does not answer.
    pub fn remove(&mut self, deadline: Deadline<'_>) -> Result<Leftover, RunnerError> {
        let Some(workspace) = self.workspace.take() else { return Ok(Leftover::NotThere) };
        let graceful = Deadline { grace: GRACE, ..deadline };
        match self.ask(Remove(), "removing the run's directory", graceful) {
            // The target helper was killed, which released its lock.
            Err(RunnerError::Worker { .. }) => {
                StaleWorkspaces::new(self.command.clone()).remove(&workspace.path, deadline)
            }
            answer => answer,
        }
    }

    /// Leaves the workspace for a later run to remove.
    pub fn leave(&mut self) {
        self.workspace = None;
    }

    /// Copies the whole source to that destination, and compares byte by byte.
    ///
    /// # Errors
    /// A file cannot be read or written, one of them has changed, or the target does not answer.
    pub fn copy(
        &mut self,
        source: &CopySource,
        destination: &CopyDestination,
        deadline: Deadline<'_>,
    ) -> Result<(), RunnerError> {
        self.ask(Copy(source.clone(), destination.clone()), "copying a file", deadline)
    }

    /// Empties an open file after the copy into it was interrupted.
    ///
    /// # Errors
    /// The file cannot be emptied, or there is no answer.
    pub fn empty(&self, destination: &CopyDestination) -> Result<(), RunnerError> {
        let deadline = Deadline::until(GRACE, &NEVER);
        Self::start(&self.command, &destination.path)?.ask(Empty(destination.clone()), "emptying it", deadline)
    }

    fn ask<R: Request>(
        &mut self,
        request: R,
        doing: &'static str,
        deadline: Deadline<'_>,
    ) -> Result<R::Response, RunnerError> {
        let path = || self.path.clone();
        if self.is_silent {
            return Err(RunnerError::Silent { path: path(), doing, after: Duration::ZERO });
        }
        match self.process.ask(request, deadline, None)? {
            RequestOutcome::Response(answer) => Ok(answer),
            RequestOutcome::Lost(Outcome::WorkerDied { detail, .. }) => {
                let error = std::io::Error::other(format!("its helper ended{detail}"));
                Err(RunnerError::Worker { doing, error })
            }
            RequestOutcome::Lost(_) => {
                let path = path();
                self.is_silent = true;
                Err(match deadline.stop.load(Ordering::Relaxed) {
                    true => RunnerError::Interrupted { path, doing },
                    false => RunnerError::Silent { path, doing, after: deadline.limit },
                })
            }
            RequestOutcome::Stopped => Err(RunnerError::Interrupted { path: path(), doing }),
        }
    }
}

impl Drop for TargetHelper {
    fn drop(&mut self) {
        let others = || children().into_iter().filter(|&child| child != self.process()).collect::<Vec<u32>>();
        if self.workspace.is_some() && !self.is_held_by(&others()) {
            let _ = self.remove(Deadline::until(GRACE, &NEVER));
        }
    }
}

/// Inspects the file that is to be copied, which may be on a filesystem that does not answer.
///
/// # Errors
/// The path cannot be opened or leads to no file, or there is no answer.
pub fn inspect_source(
    command: &WorkerCommand,
    path: &Path,
    deadline: Deadline<'_>,
) -> Result<CopySource, RunnerError> {
    TargetHelper::start(command, path)?.ask(InspectSource(path.into()), "looking at it", deadline)
}

/// Inspects the destination of a copy.
///
/// # Errors
/// No copy can go there, or there is no answer.
pub fn inspect_copy_destination(
    command: &WorkerCommand,
    path: &Path,
    deadline: Deadline<'_>,
) -> Result<CopyDestination, RunnerError> {
    TargetHelper::start(command, path)?.ask(InspectCopyDestination(path.into()), "looking at it", deadline)
}

/// Finds and removes directories of earlier runs, in a separate process: if it hangs, the next request uses
/// another.
pub struct StaleWorkspaces {
    command: WorkerCommand,
    process: Option<TargetHelper>,
}

impl StaleWorkspaces {
    /// Finds and removes directories of killed runs, by target helpers of that command.
    pub fn new(command: WorkerCommand) -> Self {
        Self { command, process: None }
    }

    /// The directories in a target with names of ours, whichever database lists them.
    ///
    /// # Errors
    /// The target cannot be read or does not answer.
    pub fn leftovers_in(&mut self, target: &Path, stop: &AtomicBool) -> Result<Vec<PathBuf>, RunnerError> {
        let deadline = Deadline::until(LEFTOVER_TIMEOUT, stop);
        let names = self.ask(ListLeftovers(target.into()), target, "listing it", deadline)?;
        Ok(names.into_iter().map(PathBuf::from).collect())
    }

    /// Removes the directory of a dead run, if it carries our mark and its lock is free.
    ///
    /// # Errors
    /// The directory is ours and cannot be removed, or its target does not answer.
    pub fn remove(&mut self, path: &Path, deadline: Deadline<'_>) -> Result<Leftover, RunnerError> {
        let deadline = Deadline { limit: deadline.limit.min(LEFTOVER_TIMEOUT), ..deadline };
        self.ask(RemoveLeftover(path.into()), path, "removing what an earlier run left", deadline)
    }

    fn ask<R: Request>(
        &mut self,
        request: R,
        path: &Path,
        doing: &'static str,
        deadline: Deadline<'_>,
    ) -> Result<R::Response, RunnerError> {
        let process = match &mut self.process {
            Some(process) if !process.is_silent => process,
            none => none.insert(TargetHelper::start(&self.command, path)?),
        };
        process.path = path.to_path_buf();
        process.ask(request, doing, deadline)
    }
}
