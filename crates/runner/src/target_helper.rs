//! A process for all calls on a target outside of samples, so the supervisor never waits for a filesystem
//! without an answer.
//!
//! The target helper inspects the target, holds its directory open, makes and locks the run's workspace,
//! makes the remaining copy, and removes the workspace. Like a worker, it is the same program with a hidden
//! subcommand and lines of JSON.

mod copy;
mod inspection;
mod request;
mod serve;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;
use writebench_model::Outcome;

pub use self::copy::{CopyDestination, CopySource, Existing, open_source};
pub use self::inspection::{Inspection, TargetKind};
use self::request::TargetRequest;
pub use self::serve::serve_target;
use crate::error::RunnerError;
use crate::holders::{children, is_held_by};
use crate::worker::{Deadline, RequestOutcome, Worker, WorkerCommand};
use crate::workspace::{Leftover, workspace_path};

pub const TIMEOUT: Duration = Duration::from_secs(30);
/// How long the removal of a stopped run's workspace may take.
pub(crate) const GRACE: Duration = Duration::from_millis(1500);
/// How long the removal of an earlier run's directory may take.
const LEFTOVER_TIMEOUT: Duration = Duration::from_secs(10);

static NEVER: AtomicBool = AtomicBool::new(false);

impl Deadline<'static> {
    /// A deadline for calls before signals are watched, when each of them ends the program.
    pub fn without_stop(limit: Option<Duration>) -> Self {
        Self::until(limit.unwrap_or(TIMEOUT), &NEVER)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperWorkspace {
    pub path: PathBuf,
    /// Device and inode, by which a worker checks it.
    pub identity: [u64; 2],
}

/// Dropping it removes its workspace and ends its process.
pub struct TargetHelper {
    process: Worker,
    // Starts another process after this one has died.
    command: WorkerCommand,
    path: PathBuf,
    workspace: Option<HelperWorkspace>,
    // Whether the process gave no answer, and may hang in the kernel.
    is_silent: bool,
}

impl TargetHelper {
    pub fn inspect(
        command: &WorkerCommand,
        path: &Path,
        deadline: Deadline<'_>,
    ) -> Result<(Self, Inspection), RunnerError> {
        let mut helper = Self::start(command, path)?;
        let inspection: Inspection =
            helper.ask(&TargetRequest::Inspect(path.into()), "inspection", deadline)?;
        helper.path.clone_from(&inspection.path);
        Ok((helper, inspection))
    }

    /// A separate process for each target: a hanging one blocks no other.
    fn start(command: &WorkerCommand, path: &Path) -> Result<Self, RunnerError> {
        Ok(Self {
            process: Worker::start(command)?,
            command: command.clone(),
            path: path.to_path_buf(),
            workspace: None,
            is_silent: false,
        })
    }

    /// # Errors
    /// The directory may still exist: see [`StaleWorkspaces::remove`].
    pub fn make(
        &mut self,
        id: &str,
        deadline: Deadline<'_>,
    ) -> Result<&HelperWorkspace, RunnerError> {
        // A directory that is made but not known would remain.
        let graceful = Deadline {
            grace: GRACE,
            ..deadline
        };
        let identity = self.ask(
            &TargetRequest::Make(id.to_owned()),
            "making a directory",
            graceful,
        )?;
        let path = workspace_path(&self.path, id);
        Ok(self.workspace.insert(HelperWorkspace { path, identity }))
    }

    pub fn workspace(&self) -> Option<&HelperWorkspace> {
        self.workspace.as_ref()
    }

    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Whether one of these processes, such as a worker in a hanging call, has a file of the workspace
    /// open. Removal would also hang.
    pub fn is_held_by(&self, processes: &[u32]) -> bool {
        self.workspace
            .as_ref()
            .is_some_and(|workspace| is_held_by(processes, &workspace.path))
    }

    pub fn remove(&mut self, deadline: Deadline<'_>) -> Result<Leftover, RunnerError> {
        let Some(workspace) = self.workspace.take() else {
            return Ok(Leftover::NotThere);
        };
        let graceful = Deadline {
            grace: GRACE,
            ..deadline
        };
        match self.ask(
            &TargetRequest::Remove,
            "removing the run's directory",
            graceful,
        ) {
            // The target helper was killed, which released its lock.
            Err(RunnerError::Worker { .. }) => {
                StaleWorkspaces::new(self.command.clone()).remove(&workspace.path, deadline)
            }
            answer => answer,
        }
    }

    pub fn leave(&mut self) {
        self.workspace = None;
    }

    /// Compares byte by byte.
    pub fn copy(
        &mut self,
        source: &CopySource,
        destination: &CopyDestination,
        deadline: Deadline<'_>,
    ) -> Result<(), RunnerError> {
        self.ask(
            &TargetRequest::Copy(source.clone(), destination.clone()),
            "copying a file",
            deadline,
        )
    }

    /// Empties the destination of an interrupted copy.
    pub fn empty(&self, destination: &CopyDestination) -> Result<(), RunnerError> {
        let deadline = Deadline::until(GRACE, &NEVER);
        let request = TargetRequest::Empty(destination.clone());
        Self::start(&self.command, &destination.path)?.ask(&request, "emptying it", deadline)
    }

    fn ask<R: DeserializeOwned>(
        &mut self,
        request: &TargetRequest,
        doing: &'static str,
        deadline: Deadline<'_>,
    ) -> Result<R, RunnerError> {
        let path = || self.path.clone();
        if self.is_silent {
            return Err(RunnerError::Silent {
                path: path(),
                doing,
                after: Duration::ZERO,
            });
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
                    false => RunnerError::Silent {
                        path,
                        doing,
                        after: deadline.limit,
                    },
                })
            }
            RequestOutcome::Stopped => Err(RunnerError::Interrupted {
                path: path(),
                doing,
            }),
        }
    }
}

impl Drop for TargetHelper {
    fn drop(&mut self) {
        let others = || {
            children()
                .into_iter()
                .filter(|&child| child != self.process())
                .collect::<Vec<u32>>()
        };
        if self.workspace.is_some() && !self.is_held_by(&others()) {
            let _ = self.remove(Deadline::until(GRACE, &NEVER));
        }
    }
}

pub fn inspect_source(
    command: &WorkerCommand,
    path: &Path,
    deadline: Deadline<'_>,
) -> Result<CopySource, RunnerError> {
    TargetHelper::start(command, path)?.ask(
        &TargetRequest::InspectSource(path.into()),
        "inspection",
        deadline,
    )
}

pub fn inspect_copy_destination(
    command: &WorkerCommand,
    path: &Path,
    deadline: Deadline<'_>,
) -> Result<CopyDestination, RunnerError> {
    let request = TargetRequest::InspectCopyDestination(path.into());
    TargetHelper::start(command, path)?.ask(&request, "inspection", deadline)
}

/// Finds and removes directories of killed runs. After a hang, the next request uses a new process.
pub struct StaleWorkspaces {
    command: WorkerCommand,
    process: Option<TargetHelper>,
}

impl StaleWorkspaces {
    pub fn new(command: WorkerCommand) -> Self {
        Self {
            command,
            process: None,
        }
    }

    /// Directories with names of writebench, in any database or none.
    pub fn leftovers_in(
        &mut self,
        target: &Path,
        stop: &AtomicBool,
    ) -> Result<Vec<PathBuf>, RunnerError> {
        let deadline = Deadline::until(LEFTOVER_TIMEOUT, stop);
        let request = TargetRequest::ListLeftovers(target.into());
        let names: Vec<OsString> = self
            .process(target)?
            .ask(&request, "listing it", deadline)?;
        Ok(names.into_iter().map(PathBuf::from).collect())
    }

    /// Removes the directory of a dead run, if it has a valid mark and a free lock.
    pub fn remove(&mut self, path: &Path, deadline: Deadline<'_>) -> Result<Leftover, RunnerError> {
        let deadline = Deadline {
            limit: deadline.limit.min(LEFTOVER_TIMEOUT),
            ..deadline
        };
        self.process(path)?.ask(
            &TargetRequest::RemoveLeftover(path.into()),
            "removing leftovers",
            deadline,
        )
    }

    fn process(&mut self, path: &Path) -> Result<&mut TargetHelper, RunnerError> {
        let process = match self.process.take() {
            Some(process) if !process.is_silent => process,
            _ => TargetHelper::start(&self.command, path)?,
        };
        let process = self.process.insert(process);
        process.path = path.to_path_buf();
        Ok(process)
    }
}
