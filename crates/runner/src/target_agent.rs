//! The agent of a target: it makes all calls there outside of samples, so the supervisor never waits for a filesystem
//! that does not answer.
//!
//! It inspects the target, holds its directory open, makes and locks the run's directory, makes the remaining copy, and
//! removes the run's directory. It takes no samples, because it must outlive each hang and crash of one to keep the lock.

mod copy;
mod inspection;
mod serve;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;
use writebench_model::protocol::{AgentRequest, CopyDestination, CopySource, TargetRequest};
use writebench_model::{Holes, Outcome};

pub use self::copy::open_source;
pub use self::inspection::{Inspection, TargetKind};
pub use self::serve::TargetState;
use crate::agent::{Agent, AgentCommand, Deadline, RequestOutcome};
use crate::error::RunnerError;
use crate::holders::{children, is_held_by};
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
pub struct RunDirectory {
    pub path: PathBuf,
    /// Device and inode, by which a worker checks it.
    pub identity: [u64; 2],
}

/// Dropping it removes its workspace and ends its process.
pub struct TargetAgent {
    process: Agent,
    // Starts another process after this one has died.
    command: AgentCommand,
    path: PathBuf,
    workspace: Option<RunDirectory>,
    // Whether the process gave no answer, and may hang in the kernel.
    is_silent: bool,
}

impl TargetAgent {
    pub fn inspect(
        command: &AgentCommand,
        path: &Path,
        deadline: Deadline<'_>,
    ) -> Result<(Self, Inspection), RunnerError> {
        let mut agent = Self::start(command, path)?;
        let inspection: Inspection =
            agent.ask(TargetRequest::Inspect(path.into()), "inspection", deadline)?;
        agent.path.clone_from(&inspection.path);
        Ok((agent, inspection))
    }

    /// A separate process for each target: a hanging one blocks no other.
    fn start(command: &AgentCommand, path: &Path) -> Result<Self, RunnerError> {
        Ok(Self {
            process: Agent::start(command)?,
            command: command.clone(),
            path: path.to_path_buf(),
            workspace: None,
            is_silent: false,
        })
    }

    /// The directories in it with names of writebench, in any database or none.
    pub fn leftovers(&mut self, deadline: Deadline<'_>) -> Result<Vec<PathBuf>, RunnerError> {
        let paths: Vec<OsString> =
            self.ask(TargetRequest::ListLeftovers, "listing it", deadline)?;
        Ok(paths.into_iter().map(PathBuf::from).collect())
    }

    /// # Errors
    /// The directory may still exist: see [`StaleWorkspaces::remove`].
    pub fn make(&mut self, id: &str, deadline: Deadline<'_>) -> Result<&RunDirectory, RunnerError> {
        // A directory that is made but not known would remain.
        let graceful = Deadline {
            grace: GRACE,
            ..deadline
        };
        let identity = self.ask(
            TargetRequest::Make(id.to_owned()),
            "making a directory",
            graceful,
        )?;
        let path = workspace_path(&self.path, id);
        Ok(self.workspace.insert(RunDirectory { path, identity }))
    }

    pub fn workspace(&self) -> Option<&RunDirectory> {
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
            TargetRequest::Remove,
            "removing the run's directory",
            graceful,
        ) {
            // The agent was killed, which released its lock.
            Err(RunnerError::Agent { .. }) => {
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
        holes: Holes,
        deadline: Deadline<'_>,
    ) -> Result<(), RunnerError> {
        self.ask(
            TargetRequest::Copy(source.clone(), destination.clone(), holes),
            "copying a file",
            deadline,
        )
    }

    /// Empties the destination of an interrupted copy.
    pub fn empty(&self, destination: &CopyDestination) -> Result<(), RunnerError> {
        let deadline = Deadline::until(GRACE, &NEVER);
        let request = TargetRequest::Empty(destination.clone());
        Self::start(&self.command, &destination.path)?.ask(request, "emptying it", deadline)
    }

    fn ask<R: DeserializeOwned>(
        &mut self,
        request: TargetRequest,
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
        let request = AgentRequest::Target(request);
        match self.process.ask(&request, deadline, None)? {
            RequestOutcome::Response(answer) => Ok(answer),
            RequestOutcome::Lost(Outcome::WorkerDied { detail, .. }) => {
                let error = std::io::Error::other(format!("it ended{detail}"));
                Err(RunnerError::Agent { doing, error })
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

impl Drop for TargetAgent {
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
    command: &AgentCommand,
    path: &Path,
    deadline: Deadline<'_>,
) -> Result<CopySource, RunnerError> {
    TargetAgent::start(command, path)?.ask(
        TargetRequest::InspectSource(path.into()),
        "inspection",
        deadline,
    )
}

pub fn inspect_copy_destination(
    command: &AgentCommand,
    path: &Path,
    deadline: Deadline<'_>,
) -> Result<CopyDestination, RunnerError> {
    let request = TargetRequest::InspectCopyDestination(path.into());
    TargetAgent::start(command, path)?.ask(request, "inspection", deadline)
}

/// Removes directories of killed runs. After a hang, the next request uses a new process.
pub struct StaleWorkspaces {
    command: AgentCommand,
    process: Option<TargetAgent>,
}

impl StaleWorkspaces {
    pub fn new(command: AgentCommand) -> Self {
        Self {
            command,
            process: None,
        }
    }

    /// Removes the directory of a dead run, if it has a valid mark and a free lock.
    pub fn remove(&mut self, path: &Path, deadline: Deadline<'_>) -> Result<Leftover, RunnerError> {
        let deadline = Deadline {
            limit: deadline.limit.min(LEFTOVER_TIMEOUT),
            ..deadline
        };
        self.process(path)?.ask(
            TargetRequest::RemoveLeftover(path.into()),
            "removing leftovers",
            deadline,
        )
    }

    fn process(&mut self, path: &Path) -> Result<&mut TargetAgent, RunnerError> {
        let process = match self.process.take() {
            Some(process) if !process.is_silent => process,
            _ => TargetAgent::start(&self.command, path)?,
        };
        let process = self.process.insert(process);
        process.path = path.to_path_buf();
        Ok(process)
    }
}
