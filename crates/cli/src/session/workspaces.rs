//! The directories that a run makes in its targets: recorded, made, and removed once its results are out.

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use writebench_runner::{
    Casualties, CopySource, Keeper, LeftOver, PATIENCE, Patience, RunnerError, Sweeper, WorkerCommand, Written,
    workspace_path,
};
use writebench_store::{Store, StoreError, WorkspaceRecord};

use super::place::{Claimed, Hold};
use crate::keeper;
use crate::output::Output;
use crate::ranks::Others;

/// A run's targets, and the directories that it makes there.
pub(crate) struct Workspaces<'s> {
    /// Knows of each directory from before it is made until it is known to be gone.
    pub store: &'s Store,
    pub run: i64,
    pub places: Vec<Claimed>,
    /// The time that a target has to answer, if the user set one.
    pub limit: Option<Duration>,
    /// Set to end the run.
    pub stop: &'s AtomicBool,
    pub output: &'s Output,
    /// The other ranks of the run, if it has several.
    pub others: &'s Others,
}

impl<'s> Workspaces<'s> {
    fn patience(&self) -> Patience<'s> {
        Patience::until(self.limit.unwrap_or(PATIENCE), self.stop)
    }

    /// Makes the run's directory in each target that is a directory.
    pub(crate) fn make(&mut self, written: &mut Written) -> Result<()> {
        let (store, run, patience) = (self.store, self.run, self.patience());
        for place in &mut self.places {
            if let Hold::Directory(keeper) = &mut place.hold {
                let id = uuid::Uuid::new_v4().simple().to_string();
                let path = workspace_path(&place.target.path, &id);
                // A directory on a filesystem that the run made goes with it; no later run could
                // find it.
                let record = (!place.is_made).then_some(WorkspaceRecord { path, run });
                // Recorded before it is made, so that no directory is ever unknown; the record
                // stays until the directory is known to be gone.
                record
                    .iter()
                    .try_for_each(|record| store.unless_stopped(self.stop, || store.add_workspace(record)))?;
                if let Err(error) = keeper.make(&id, patience) {
                    if let Some(WorkspaceRecord { path, .. }) = record
                        && is_gone(&path, patience)
                    {
                        store.unless_stopped(self.stop, || store.forget_workspace(&path))?;
                    }
                    return Err(error.into());
                }
                written.add(id.len() as u64);
            }
        }
        Ok(())
    }

    /// Removes the run's directories, all of them, also where one cannot be removed.
    pub(crate) fn remove(&mut self, casualties: &mut Casualties) -> Result<()> {
        let keepers: Vec<u32> =
            self.places.iter_mut().filter_map(Claimed::keeper).map(|keeper| keeper.process()).collect();
        // Workers that were killed and have not ended.
        let others: Vec<u32> =
            writebench_runner::children().into_iter().filter(|child| !keepers.contains(child)).collect();
        let (stop, output, patience) = (self.stop, self.output, self.patience());
        let forget = |path: &Path| self.store.unless_stopped(stop, || self.store.forget_workspace(path));
        let removed = self.places.iter_mut().enumerate().filter_map(|(target, place)| {
            let keeper = place.keeper()?;
            let is_held = casualties.hangs_in(target) || keeper.is_held_by(&others);
            Some(remove(keeper, is_held, (patience, output), forget))
        });
        output.all_ok(removed)
    }

    /// Removes what killed runs left: in the targets, whichever database knows of it, and elsewhere
    /// what this database knows. Prints what cannot be removed, and goes on.
    pub(crate) fn remove_left_overs(&self) -> Result<()> {
        let mut sweeper = Sweeper::new(keeper::command()?);
        let recorded = self.store.workspaces()?;
        let mut paths = Vec::new();
        for left in &recorded {
            // A run that is under way may be about to make the directory.
            if !self.store.is_under_way_elsewhere(left.run)? {
                paths.push(left.path.clone());
            }
        }
        for place in self.places.iter().filter(|place| matches!(place.hold, Hold::Directory(_))) {
            match sweeper.left_overs_in(&place.target.path, self.stop) {
                Ok(found) => {
                    paths.extend(
                        found.into_iter().filter(|path| !recorded.iter().any(|left| left.path == *path)),
                    );
                }
                Err(error) => self.output.note(&format!("Could not look for what killed runs left: {error}")),
            }
        }
        let patience = Patience::until(PATIENCE, self.stop);
        let forget = |path: &Path| self.store.unless_stopped(self.stop, || self.store.forget_workspace(path));
        for path in paths {
            let shown = path.display();
            match sweeper.remove(&path, patience) {
            // A disk that is not mounted now may come back with the directory.
            Ok(LeftOver::InUse | LeftOver::Away) => {}
            Ok(LeftOver::Held(process)) => self.output.note(&format!(
                "{shown}, left by a run that is gone, stays: process {process} has it open. A run after its end removes it."
            )),
            Ok(LeftOver::KeepsFiles) => self.output.note(&format!(
                "{shown}, left by a run that is gone, stays: its filesystem keeps files that were open when they were removed. A later run removes it."
            )),
            Ok(LeftOver::NotThere) => forget(&path)?,
            Ok(LeftOver::Removed) => {
                self.output.note(&format!("Removed {shown}, left by a run that was killed."));
                forget(&path)?;
            }
            Err(error) => self.output.note(&format!("Could not remove what a killed run left: {error}")),
        }
        }
        Ok(())
    }

    /// The run's directories.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        let directory = |place: &Claimed| match &place.hold {
            Hold::Directory(keeper) => keeper.workspace().map(|workspace| workspace.path.clone()),
            Hold::Device(_) => None,
        };
        self.places.iter().filter_map(directory).collect()
    }

    /// A worker in all of the run's directories.
    pub(crate) fn worker(&self, copy_from: Option<&CopySource>) -> Result<WorkerCommand> {
        let mut arguments: Vec<OsString> = vec![keeper::WORKER.into()];
        for place in &self.places {
            match &place.hold {
                Hold::Directory(keeper) => {
                    let Some(workspace) = keeper.workspace() else { continue };
                    arguments.extend(keeper::of_directory(workspace.path.as_os_str(), workspace.identity));
                }
                Hold::Device(device) => {
                    arguments.extend(["--device".into(), device.as_fd().as_raw_fd().to_string().into()]);
                }
            }
        }
        if let Some(source) = copy_from {
            arguments.extend(["--copy-from".into(), source.name.as_os_str().to_os_string()]);
            arguments.push("--copy-identity".into());
            arguments.extend(source.identity.map(|number| number.to_string().into()));
        }
        Ok(WorkerCommand { program: keeper::this_program()?, arguments, has_barrier: self.others.is_some() })
    }
}

/// Whether a directory that could not be completed is gone.
fn is_gone(path: &Path, patience: Patience<'_>) -> bool {
    let Ok(command) = keeper::command() else { return false };
    let became = Sweeper::new(command).remove(path, patience);
    matches!(became, Ok(LeftOver::Removed | LeftOver::NotThere))
}

fn remove(
    keeper: &mut Keeper,
    is_held: bool,
    (patience, output): (Patience<'_>, &Output),
    forget: impl Fn(&Path) -> Result<(), StoreError>,
) -> Result<()> {
    let Some(path) = keeper.workspace().map(|workspace| workspace.path.clone()) else { return Ok(()) };
    let stays = |why: &str| {
        output.note(&format!("{} stays: {why}. A later run removes it.", path.display()));
    };
    if is_held {
        keeper.leave();
        stays("a worker hangs there and cannot be killed");
        return Ok(());
    }
    match keeper.remove(patience) {
        Ok(LeftOver::KeepsFiles) => stays("its filesystem keeps files that were open when they were removed"),
        Ok(_) => {
            // A record that stays, as on a full disk or under a lock, is forgotten by the next run, which finds nothing there.
            let _ = forget(&path);
        }
        Err(error @ (RunnerError::Silent { .. } | RunnerError::Interrupted { .. })) => {
            stays(&error.to_string());
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
