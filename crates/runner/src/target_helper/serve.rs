use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::request::TargetRequest;
use super::{copy, inspection};
use crate::directory_entry::{identity_of_open, open_resolved};
use crate::error::RunnerError;
use crate::leftover;
use crate::pipe::{reply, serve_requests};
use crate::workspace::{Leftover, Workspace};

#[derive(Default)]
struct TargetState {
    target: Option<(PathBuf, OwnedFd)>,
    workspace: Option<Workspace>,
}

/// At the end of the requests a remaining workspace loses its lock, and a later run removes it.
pub fn serve_target() -> io::Result<()> {
    let mut state = TargetState::default();
    serve_requests(|request| state.answer(request))
}

impl TargetState {
    fn answer(&mut self, request: TargetRequest) -> serde_json::Result<String> {
        match request {
            TargetRequest::Inspect(path) => reply(self.inspect(path.as_ref())),
            TargetRequest::Make(id) => reply(self.make(&id)),
            TargetRequest::Remove => reply(
                self.workspace
                    .take()
                    .map_or(Ok(Leftover::NotThere), Workspace::remove),
            ),
            TargetRequest::ListLeftovers(target) => reply(leftover::leftovers_in(target.as_ref())),
            TargetRequest::RemoveLeftover(path) => reply(leftover::remove_leftover(path.as_ref())),
            TargetRequest::InspectSource(path) => reply(copy::source(path.as_ref())),
            TargetRequest::InspectCopyDestination(path) => reply(copy::destination(path.as_ref())),
            TargetRequest::Copy(source, destination) => reply(self.copy(&source, &destination)),
            TargetRequest::Empty(destination) => reply(copy::empty(&destination)),
        }
    }

    fn inspect(&mut self, path: &Path) -> Result<inspection::Inspection, RunnerError> {
        let (inspection, directory) = inspection::inspect(path)?;
        self.target = directory.map(|directory| (inspection.path.clone(), directory));
        Ok(inspection)
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
        source: &copy::CopySource,
        destination: &copy::CopyDestination,
    ) -> Result<(), RunnerError> {
        let workspace = self.workspace.as_ref();
        let workspace =
            workspace.ok_or_else(|| RunnerError::Told("the workspace is missing".to_owned()))?;
        let (path, directory) = self.target()?;
        let is_descriptor = matches!(destination.existing, copy::Existing::Descriptor { .. });
        if !is_descriptor && destination.path.parent() != Some(path) {
            return Err(RunnerError::Told(format!(
                "{} is not in the target",
                destination.path.display()
            )));
        }
        copy::copy(source, destination, directory, workspace)
    }
}
