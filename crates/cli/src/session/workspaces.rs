use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use writebench_model::path_text;
use writebench_model::protocol::CopySource;
use writebench_runner::{
    AgentCommand, Deadline, Leftover, LostWorkers, RunnerError, StaleWorkspaces, TIMEOUT,
    TargetAgent, Written, workspace_path,
};
use writebench_store::{Store, StoreError, WorkspaceRecord};

use super::target::Target;
use crate::global::Global;
use crate::output;
use crate::processes::WorkerFiles;
use crate::{processes, signals};

/// A run's targets, and its directories in them.
pub(crate) struct Workspaces<'s> {
    /// Records each directory before it is made, until it is certainly removed.
    pub store: &'s Store,
    pub run: i64,
    pub targets: Vec<Target>,
    /// The user's timeout for answers of a target.
    pub timeout: Option<Duration>,
    pub global: &'s Global,
}

impl<'s> Workspaces<'s> {
    fn deadline(&self) -> Deadline<'static> {
        Deadline::until(self.timeout.unwrap_or(TIMEOUT), signals::stop())
    }

    pub(crate) fn make(&mut self, written: &mut Written) -> Result<()> {
        let store = self.store;
        let run = self.run;
        let deadline = self.deadline();
        for target in &mut self.targets {
            let id = uuid::Uuid::new_v4().simple().to_string();
            let path = workspace_path(target.path(), &id);
            let Some(agent) = &mut target.agent else {
                continue;
            };
            // Directories on the run's filesystems are removed with them.
            let record = target
                .made
                .is_none()
                .then_some(WorkspaceRecord { path, run });
            // Recorded first: a later run must find the directory even if this one is killed here.
            if let Some(record) = &record {
                store.unless_stopped(signals::stop(), || store.add_workspace(record))?;
            }
            if let Err(error) = agent.make(&id, deadline) {
                if let Some(record) = record.filter(|record| is_gone(&record.path, deadline)) {
                    forget(store, &record.path)?;
                }
                return Err(error.into());
            }
            written.add(id.len() as u64);
        }
        Ok(())
    }

    /// Removes all of the run's directories, even after an error.
    pub(crate) fn remove(&mut self, lost_workers: &mut LostWorkers) -> Result<()> {
        let agents: Vec<u32> = self.agents().map(TargetAgent::process).collect();
        // Killed workers that have not ended.
        let workers: Vec<u32> = writebench_runner::children()
            .into_iter()
            .filter(|child| !agents.contains(child))
            .collect();
        let targets = std::mem::take(&mut self.targets).into_iter().enumerate();
        output::all_ok(targets.filter_map(|(number, target)| {
            let agent = target.agent?;
            // Removing another target's directory takes time, in which workers may end.
            lost_workers.reap();
            let is_held = lost_workers.hangs_in(number) || agent.is_held_by(&workers);
            Some(self.remove_from(*agent, is_held))
        }))
    }

    fn remove_from(&self, mut agent: TargetAgent, is_held: bool) -> Result<()> {
        let Some(path) = agent.workspace().map(|workspace| workspace.path.clone()) else {
            return Ok(());
        };
        let remains = |why: &str| {
            let path = path.display();
            self.global.output.note(&format!(
                "{path} is not removed: {why}. A later run removes it."
            ));
        };
        if is_held {
            agent.leave();
            remains("a worker hangs there and cannot be killed");
            return Ok(());
        }
        match agent.remove(self.deadline()) {
            Ok(Leftover::KeepsFiles) => {
                remains("its filesystem keeps files that were open when they were removed");
            }
            Ok(_) => {
                // On a full disk or under a lock the record remains, and the next run forgets it.
                let _ = forget(self.store, &path);
            }
            Err(error @ (RunnerError::Silent { .. } | RunnerError::Interrupted { .. })) => {
                remains(&error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Removes leftovers of killed runs: all in the targets, and those in this database elsewhere. Failures are notes.
    pub(crate) fn remove_leftovers(&mut self) -> Result<()> {
        let mut stale = StaleWorkspaces::new(processes::target_agent()?);
        // Of other runs that measure now, in this database or another.
        let mut others = Vec::new();
        let paths = self.leftovers(&mut others)?;
        let output = &self.global.output;
        let deadline = Deadline::until(TIMEOUT, signals::stop());
        for path in paths {
            let shown = path.display();
            let why = match stale.remove(&path, deadline) {
                Ok(Leftover::InUse) => {
                    others.push(path);
                    continue;
                }
                // An unmounted disk may still have the directory.
                Ok(Leftover::Away) => continue,
                Ok(Leftover::Held(process)) => {
                    &format!("process {process} has it open. A later run removes it.")
                }
                Ok(Leftover::KeepsFiles) => {
                    "its filesystem keeps files that were open when they were removed. A later run removes it."
                }
                Ok(gone @ (Leftover::NotThere | Leftover::Removed)) => {
                    if gone == Leftover::Removed {
                        output.note(&format!("Removed {shown}, left by a killed run."));
                    }
                    forget(self.store, &path)?;
                    continue;
                }
                Err(error) => {
                    output.note(&format!("Cannot remove leftovers of a killed run: {error}"));
                    continue;
                }
            };
            output.note(&format!(
                "{shown}, left by an ended run, is not removed: {why}"
            ));
        }
        self.note_others(&others);
        Ok(())
    }

    /// The directories that ended runs left: those of this database, and those that agents find in the targets. `others`
    /// gets those of runs that measure now.
    fn leftovers(&mut self, others: &mut Vec<PathBuf>) -> Result<Vec<PathBuf>> {
        let output = &self.global.output;
        let recorded = self.store.workspaces()?;
        let mut paths = Vec::new();
        let mut live = Vec::new();
        for left in &recorded {
            // A live run may be about to make the directory.
            let is_live = self.store.is_under_way_elsewhere(left.run)?;
            if is_live { &mut live } else { &mut paths }.push(left.path.clone());
        }
        let is_unknown = |path: &PathBuf| recorded.iter().all(|left| left.path != *path);
        let deadline = self.deadline();
        let agents = self
            .targets
            .iter_mut()
            .filter_map(|target| target.agent.as_mut());
        for agent in agents {
            match agent.leftovers(deadline) {
                Ok(found) => {
                    others.extend(found.iter().filter(|path| live.contains(path)).cloned());
                    paths.extend(found.into_iter().filter(is_unknown));
                }
                Err(error) => output.note(&format!(
                    "Cannot look for leftovers of killed runs: {error}"
                )),
            }
        }
        Ok(paths)
    }

    fn note_others(&self, others: &[PathBuf]) {
        for target in self.targets.iter().map(Target::path) {
            if others.iter().any(|path| path.parent() == Some(target)) {
                let target = target.display();
                self.global.output.note(&format!(
                    "Another writebench measures in {target} at the same time, so both runs find lower speeds. Wait for \
                     its end, and start again."
                ));
            }
        }
    }

    fn agents(&self) -> impl Iterator<Item = &TargetAgent> {
        self.targets
            .iter()
            .filter_map(|target| target.agent.as_deref())
    }

    /// Paths as text, with device and inode.
    pub(crate) fn directories(&self) -> impl Iterator<Item = (String, [u64; 2])> {
        let workspaces = self.agents().filter_map(TargetAgent::workspace);
        workspaces.map(|workspace| (path_text(&workspace.path), workspace.identity))
    }

    pub(crate) fn worker(&self, copy_from: Option<&CopySource>) -> Result<AgentCommand> {
        let device = self
            .targets
            .iter()
            .find_map(|target| target.device.as_ref());
        let files = WorkerFiles {
            directories: self.directories().collect(),
            device: device.map(|device| device.as_fd().as_raw_fd()),
            copy_from: copy_from.map(|source| (path_text(&source.name), source.identity)),
        };
        processes::worker(&files, self.global.leader.is_some())
    }
}

/// Removes a directory whose creation failed halfway.
fn is_gone(path: &Path, deadline: Deadline<'_>) -> bool {
    let Ok(command) = processes::target_agent() else {
        return false;
    };
    let became = StaleWorkspaces::new(command).remove(path, deadline);
    matches!(became, Ok(Leftover::Removed | Leftover::NotThere))
}

fn forget(store: &Store, path: &Path) -> Result<(), StoreError> {
    store.unless_stopped(signals::stop(), || store.forget_workspace(path))
}
