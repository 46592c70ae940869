use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use writebench_model::Holes;
use writebench_model::protocol::{CopyDestination, CopySource, Existing, TargetRequest};

use super::{copy, inspection};
use crate::directory_entry::{identity_of_open, open_resolved};
use crate::error::RunnerError;
use crate::leftover;
use crate::pipe::reply;
use crate::workspace::{Leftover, Workspace};

/// What an agent holds of its target. At its end a remaining workspace loses its lock, and a later run removes it.
#[derive(Default)]
pub struct TargetState {
    target: Option<(PathBuf, OwnedFd)>,
    workspace: Option<Workspace>,
}

impl TargetState {
    pub fn answer(&mut self, request: TargetRequest) -> serde_json::Result<String> {
        match request {
            TargetRequest::Inspect(path) => reply(self.inspect(path.as_ref())),
            TargetRequest::Make(id) => reply(self.make(&id)),
            TargetRequest::Remove => reply(
                self.workspace
                    .take()
                    .map_or(Ok(Leftover::NotThere), Workspace::remove),
            ),
            TargetRequest::ListLeftovers => reply(self.leftovers()),
            TargetRequest::RemoveLeftover(path) => reply(leftover::remove_leftover(path.as_ref())),
            TargetRequest::InspectSource(path) => reply(copy::source(path.as_ref())),
            TargetRequest::InspectCopyDestination(path) => reply(copy::destination(path.as_ref())),
            TargetRequest::Copy(source, destination, holes) => {
                reply(self.copy(&source, &destination, holes))
            }
            TargetRequest::Empty(destination) => reply(copy::empty(&destination)),
        }
    }

    fn inspect(&mut self, path: &Path) -> Result<inspection::Inspection, RunnerError> {
        let (inspection, directory) = inspection::inspect(path)?;
        self.target = directory.map(|directory| (inspection.path.clone(), directory));
        Ok(inspection)
    }

    fn leftovers(&self) -> Result<Vec<OsString>, RunnerError> {
        let (path, directory) = self.target()?;
        leftover::leftovers_in(path, directory)
    }

    fn make(&mut self, id: &str) -> Result<[u64; 2], RunnerError> {
        let (path, directory) = self.target()?;
        // The path must still lead to the inspected directory.
        let now = open_resolved(path)?;
        if identity_of_open(&now, path)? != identity_of_open(directory, path)? {
            return Err(RunnerError::Swapped {
                path: path.to_path_buf(),
            });
        }
        let made = self
            .workspace
            .insert(Workspace::create(directory, path, id)?);
        identity_of_open(&made.directory, &made.entry.path)
    }

    fn target(&self) -> Result<(&Path, &OwnedFd), RunnerError> {
        let none = || RunnerError::Told("the target is not a directory".to_owned());
        self.target
            .as_ref()
            .map(|(path, directory)| (path.as_path(), directory))
            .ok_or_else(none)
    }

    fn copy(
        &self,
        source: &CopySource,
        destination: &CopyDestination,
        holes: Holes,
    ) -> Result<(), RunnerError> {
        let workspace = self.workspace.as_ref();
        let workspace =
            workspace.ok_or_else(|| RunnerError::Told("the workspace is missing".to_owned()))?;
        let (path, directory) = self.target()?;
        let is_descriptor = matches!(destination.existing, Existing::Descriptor { .. });
        if !is_descriptor && destination.path.parent() != Some(path) {
            return Err(RunnerError::Told(format!(
                "{} is not in the target",
                destination.path.display()
            )));
        }
        copy::copy(source, destination, holes, directory, workspace)
    }
}
