//! The directories that a run makes in its targets: recorded, made, and removed once its results are out.

use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use writebench_runner::{
    CopySource, Deadline, Leftover, LostWorkers, RunnerError, StaleWorkspaces, TIMEOUT, TargetHelper,
    WorkerCommand, Written, workspace_path,
};
use writebench_store::{Store, StoreError, WorkspaceRecord};

use super::target::AcquiredTarget;
use crate::output::{self, Output};
use crate::ranks::OptionalLeader;
use crate::{processes, signals};

/// A run's targets, and the directories that it makes there.
pub(crate) struct Workspaces<'s> {
    /// Knows of each directory from before it is made until it is known to be gone.
    pub store: &'s Store,
    pub run: i64,
    pub targets: Vec<AcquiredTarget>,
    /// The time that a target has to answer, if the user set one.
    pub limit: Option<Duration>,
    pub output: &'s Output,
    /// Set if the run has several ranks.
    pub leader: &'s OptionalLeader,
}

impl<'s> Workspaces<'s> {
    fn deadline(&self) -> Deadline<'static> {
        Deadline::until(self.limit.unwrap_or(TIMEOUT), signals::stop())
    }

    /// Makes the run's directory in each target that is a directory.
    pub(crate) fn make(&mut self, written: &mut Written) -> Result<()> {
        let (store, run, deadline) = (self.store, self.run, self.deadline());
        for target in &mut self.targets {
            let Some(helper) = &mut target.helper else { continue };
            let id = uuid::Uuid::new_v4().simple().to_string();
            let path = workspace_path(&target.planned.path, &id);
            // A directory on a filesystem that the run made goes with it; no later run could find it.
            let record = (!target.is_made).then_some(WorkspaceRecord { path, run });
            // Recorded before it is made, so that no directory is ever unknown; the record stays until the directory is
            // known to be gone.
            if let Some(record) = &record {
                store.unless_stopped(signals::stop(), || store.add_workspace(record))?;
            }
            if let Err(error) = helper.make(&id, deadline) {
                if let Some(WorkspaceRecord { path, .. }) = record
                    && is_gone(&path, deadline)
                {
                    forget(store, &path)?;
                }
                return Err(error.into());
            }
            written.add(id.len() as u64);
        }
        Ok(())
    }

    /// Removes the run's directories, all of them, also where one cannot be removed.
    pub(crate) fn remove(&mut self, lost_workers: &mut LostWorkers) -> Result<()> {
        let helpers: Vec<u32> = self.helpers().map(TargetHelper::process).collect();
        // Workers that were killed and have not ended.
        let workers: Vec<u32> =
            writebench_runner::children().into_iter().filter(|child| !helpers.contains(child)).collect();
        let (store, output, deadline) = (self.store, self.output, self.deadline());
        let removed = self.targets.iter_mut().enumerate().filter_map(|(number, target)| {
            let helper = target.helper.as_mut()?;
            // A worker may have ended while another target's directory was removed.
            lost_workers.reap();
            let is_held = lost_workers.hangs_in(number) || helper.is_held_by(&workers);
            Some(remove(helper, is_held, deadline, (store, output)))
        });
        output::all_ok(removed)
    }

    /// Removes what killed runs left: in the targets, whichever database knows of it, and elsewhere
    /// what this database knows. Prints what cannot be removed, and goes on.
    pub(crate) fn remove_leftovers(&self) -> Result<()> {
        let mut stale = StaleWorkspaces::new(processes::target_helper()?);
        let recorded = self.store.workspaces()?;
        let mut paths = Vec::new();
        for left in &recorded {
            // A run that is under way may be about to make the directory.
            if !self.store.is_under_way_elsewhere(left.run)? {
                paths.push(left.path.clone());
            }
        }
        let is_unknown = |path: &PathBuf| recorded.iter().all(|left| left.path != *path);
        for target in self.targets.iter().filter(|target| target.helper.is_some()) {
            match stale.leftovers_in(&target.planned.path, signals::stop()) {
                Ok(found) => paths.extend(found.into_iter().filter(is_unknown)),
                Err(error) => self.output.note(&format!("Could not look for what killed runs left: {error}")),
            }
        }
        let deadline = Deadline::until(TIMEOUT, signals::stop());
        for path in paths {
            let shown = path.display();
            let stays = |why: &str| {
                self.output.note(&format!("{shown}, left by a run that is gone, stays: {why}"));
            };
            match stale.remove(&path, deadline) {
                // A disk that is not mounted now may come back with the directory.
                Ok(Leftover::InUse | Leftover::Away) => {}
                Ok(Leftover::Held(process)) => {
                    stays(&format!("process {process} has it open. A run after its end removes it."));
                }
                Ok(Leftover::KeepsFiles) => stays(
                    "its filesystem keeps files that were open when they were removed. A later run removes it.",
                ),
                Ok(Leftover::NotThere) => forget(self.store, &path)?,
                Ok(Leftover::Removed) => {
                    self.output.note(&format!("Removed {shown}, left by a run that was killed."));
                    forget(self.store, &path)?;
                }
                Err(error) => self.output.note(&format!("Could not remove what a killed run left: {error}")),
            }
        }
        Ok(())
    }

    fn helpers(&self) -> impl Iterator<Item = &TargetHelper> {
        self.targets.iter().filter_map(|target| target.helper.as_deref())
    }

    /// The run's directories.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        let workspaces = self.helpers().filter_map(TargetHelper::workspace);
        workspaces.map(|workspace| workspace.path.clone()).collect()
    }

    /// A worker in all of the run's directories, or on its device.
    pub(crate) fn worker(&self, copy_from: Option<&CopySource>) -> Result<WorkerCommand> {
        let workspaces = self.helpers().filter_map(TargetHelper::workspace);
        let directories = workspaces.map(|workspace| (workspace.path.as_os_str(), workspace.identity));
        let mut worker = processes::worker(directories, self.leader.is_some())?;
        for device in self.targets.iter().filter_map(|target| target.device.as_ref()) {
            worker.arguments.extend(["--device".into(), device.as_fd().as_raw_fd().to_string().into()]);
        }
        if let Some(CopySource { name, identity, .. }) = copy_from {
            worker.arguments.extend(["--copy-from".into(), name.into(), "--copy-identity".into()]);
            worker.arguments.extend(identity.map(|number| number.to_string().into()));
        }
        Ok(worker)
    }
}

/// Whether a directory that could not be completed is gone.
fn is_gone(path: &Path, deadline: Deadline<'_>) -> bool {
    let Ok(command) = processes::target_helper() else { return false };
    let became = StaleWorkspaces::new(command).remove(path, deadline);
    matches!(became, Ok(Leftover::Removed | Leftover::NotThere))
}

fn forget(store: &Store, path: &Path) -> Result<(), StoreError> {
    store.unless_stopped(signals::stop(), || store.forget_workspace(path))
}

fn remove(
    helper: &mut TargetHelper,
    is_held: bool,
    deadline: Deadline<'_>,
    (store, output): (&Store, &Output),
) -> Result<()> {
    let Some(path) = helper.workspace().map(|workspace| workspace.path.clone()) else { return Ok(()) };
    let stays = |why: &str| {
        output.note(&format!("{} stays: {why}. A later run removes it.", path.display()));
    };
    if is_held {
        helper.leave();
        stays("a worker hangs there and cannot be killed");
        return Ok(());
    }
    match helper.remove(deadline) {
        Ok(Leftover::KeepsFiles) => stays("its filesystem keeps files that were open when they were removed"),
        Ok(_) => {
            // A record that stays, as on a full disk or under a lock, is forgotten by the next run, which finds nothing there.
            let _ = forget(store, &path);
        }
        Err(error @ (RunnerError::Silent { .. } | RunnerError::Interrupted { .. })) => {
            stays(&error.to_string());
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
