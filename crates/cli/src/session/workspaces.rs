//! The directories that a run makes in its targets: recorded, made, and removed once its results are out.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use writebench_runner::{
    Casualties, Keeper, LeftOver, PATIENCE, Patience, Removal, Sweeper, Written, workspace_path,
};
use writebench_store::{Store, WorkspaceRecord};

use crate::keeper;
use crate::output::Output;
use crate::session::place::{Claimed, KeptDirectory};

/// How long targets have to answer, and what ends the wait.
#[derive(Clone, Copy)]
pub struct Waiting<'s> {
    /// What the user has said.
    pub limit: Option<Duration>,
    /// Set to end the run.
    pub stop: &'s AtomicBool,
}

impl<'s> Waiting<'s> {
    fn patience(self) -> Patience<'s> {
        Patience { limit: self.limit.unwrap_or(PATIENCE), stop: self.stop }
    }
}

/// Makes the run's directory in each target that is a directory.
pub fn make_all(
    (store, run): (&Store, i64),
    places: &mut [Claimed],
    written: &mut Written,
    waiting: Waiting<'_>,
) -> Result<()> {
    for place in places {
        if let Claimed::Directory(directory) = place {
            let id = new_id();
            make((store, run), directory, &id, waiting)?;
            written.add(id.len() as u64);
        }
    }
    Ok(())
}

/// It is recorded before it is made, so that there is no moment at which it is there and nobody knows of it; the record
/// stays until it is known to be gone.
fn make(
    (store, run): (&Store, i64),
    directory: &mut KeptDirectory,
    id: &str,
    waiting: Waiting<'_>,
) -> Result<()> {
    let path = workspace_path(&directory.path, id);
    // One on a filesystem that the run made goes with that; there is no later run that could find it.
    let is_recorded = !directory.is_own_filesystem;
    if is_recorded {
        store.add_workspace(&WorkspaceRecord { path: path.clone(), run })?;
    }
    let made = directory.keeper.make(id, waiting.patience()).map(drop);
    if made.is_err() && is_recorded && is_gone(&path, waiting) {
        store.forget_workspace(&path)?;
    }
    Ok(made?)
}

/// Whether a directory that could not be made whole is not there, or not any more.
fn is_gone(path: &Path, waiting: Waiting<'_>) -> bool {
    let Ok(command) = keeper::command() else { return false };
    let became = Sweeper::new(command).remove(path, waiting.patience());
    matches!(became, Ok(LeftOver::Removed | LeftOver::NotThere))
}

/// Removes the run's directories, all of them, also where one cannot be removed: the first error is returned, the
/// others are said.
pub fn remove_all(
    store: &Store,
    places: &mut [Claimed],
    casualties: &mut Casualties,
    (waiting, output): (Waiting<'_>, &Output),
) -> Result<()> {
    let keepers: Vec<u32> = places.iter().filter_map(Claimed::keeper).map(Keeper::process).collect();
    // Workers that were killed and have not ended.
    let others: Vec<u32> =
        writebench_runner::children().into_iter().filter(|child| !keepers.contains(child)).collect();
    let mut first_error = None;
    for (target, place) in places.iter_mut().enumerate() {
        let Claimed::Directory(directory) = place else { continue };
        let is_held = casualties.hangs_in(target) || directory.keeper.is_held_by(&others);
        if let Err(error) = remove(store, directory, is_held, (waiting, output)) {
            match first_error {
                None => first_error = Some(error),
                Some(_) => output.error(&error),
            }
        }
    }
    first_error.map_or(Ok(()), Err)
}

fn remove(
    store: &Store,
    directory: &mut KeptDirectory,
    is_held: bool,
    (waiting, output): (Waiting<'_>, &Output),
) -> Result<()> {
    let keeper = &mut directory.keeper;
    let Some(path) = keeper.workspace().map(|workspace| workspace.path.clone()) else { return Ok(()) };
    let stays = |why: &str| {
        output.note(&format!("{} stays: {why}. A later run removes it.", path.display()));
    };
    if is_held {
        keeper.leave();
        stays("a worker hangs there and cannot be killed");
        return Ok(());
    }
    match keeper.remove(waiting.patience()) {
        Ok(Removal::Gone) => {
            // A record that stays, as on a full disk, is forgotten by the next run, which finds nothing there.
            let _ = store.forget_workspace(&path);
            Ok(())
        }
        Ok(Removal::KeepsFiles) => {
            stays("its filesystem keeps files that were open when they were removed");
            Ok(())
        }
        Err(
            error @ (writebench_runner::RunnerError::Silent { .. }
            | writebench_runner::RunnerError::Interrupted { .. }),
        ) => {
            stays(&error.to_string());
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes what runs left that were killed: in the targets, whichever database knows of it, and elsewhere what this
/// database knows. What cannot be removed is said, and is no reason to stop.
pub fn remove_left_overs<'p>(
    store: &Store,
    targets: impl Iterator<Item = &'p Path>,
    stop: &AtomicBool,
    output: &Output,
) -> Result<()> {
    let mut sweeper = Sweeper::new(keeper::command()?);
    let recorded = store.workspaces()?;
    let mut paths = Vec::new();
    for left in &recorded {
        // A run that is under way may be about to make it.
        if !store.is_under_way_elsewhere(left.run)? {
            paths.push(left.path.clone());
        }
    }
    for target in targets {
        match sweeper.left_overs_in(target, stop) {
            Ok(found) => {
                paths.extend(found.into_iter().filter(|it| !recorded.iter().any(|left| left.path == *it)));
            }
            Err(error) => output.note(&format!("Could not look for what killed runs left: {error}")),
        }
    }
    let patience = Patience { limit: PATIENCE, stop };
    for path in paths {
        let shown = path.display();
        match sweeper.remove(&path, patience) {
            // A disk that is not mounted now may come back with it.
            Ok(LeftOver::InUse | LeftOver::Away) => {}
            Ok(LeftOver::Held(process)) => output.note(&format!(
                "{shown}, left by a run that is gone, stays: process {process} has it open. A run after its end removes it."
            )),
            Ok(LeftOver::KeepsFiles) => output.note(&format!(
                "{shown}, left by a run that is gone, stays: its filesystem keeps files that were open when they were removed. A later run removes it."
            )),
            Ok(LeftOver::NotThere) => store.forget_workspace(&path)?,
            Ok(LeftOver::Removed) => {
                output.note(&format!("Removed {shown}, left by a run that was killed."));
                store.forget_workspace(&path)?;
            }
            Err(error) => output.note(&format!("Could not remove what a killed run left: {error}")),
        }
    }
    Ok(())
}

/// A workspace in a directory for work that is no run's: it is removed with its keeper.
pub fn make_one(
    store: &Store,
    (keeper, path): (Keeper, &Path),
    run: i64,
    waiting: Waiting<'_>,
) -> Result<Claimed> {
    let mut directory =
        KeptDirectory { keeper, path: path.to_path_buf(), space: None, is_own_filesystem: false };
    make((store, run), &mut directory, &new_id(), waiting)?;
    Ok(Claimed::Directory(Box::new(directory)))
}

fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
