//! The target helper's side: it answers questions until they end.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::question::Asked;
use super::{copy, inspection};
use crate::error::{RunnerError, failed};
use crate::leftover;
use crate::place::open_without_links;
use crate::question::{answer_all, answered};
use crate::workspace::{Leftover, Workspace};

/// The target, held open, and the workspace in it.
#[derive(Default)]
struct Keeping {
    target: Option<(PathBuf, OwnedFd)>,
    workspace: Option<Workspace>,
}

/// Answers the supervisor's questions. A workspace that still exists at their end stays: this process's end
/// releases its lock, and a later run removes it.
///
/// # Errors
/// The supervisor cannot be read from or written to.
pub fn serve_target() -> io::Result<()> {
    let mut keeping = Keeping::default();
    answer_all(|question| keeping.answer(question))
}

impl Keeping {
    fn answer(&mut self, question: Asked) -> serde_json::Result<String> {
        match question {
            Asked::Inspect(question) => answered(question, |it| self.inspect(it.0.as_ref())),
            Asked::Make(question) => answered(question, |it| self.make(&it.0)),
            Asked::Remove(question) => {
                answered(question, |_| self.workspace.take().map_or(Ok(Leftover::NotThere), Workspace::remove))
            }
            Asked::ListLeftovers(question) => answered(question, |it| {
                Ok(leftover::leftovers_in(it.0.as_ref())?.into_iter().map(PathBuf::into_os_string).collect())
            }),
            Asked::RemoveLeftover(question) => {
                answered(question, |it| leftover::remove_leftover(it.0.as_ref()))
            }
            Asked::InspectSource(question) => answered(question, |it| copy::source(it.0.as_ref())),
            Asked::InspectCopyPlace(question) => answered(question, |it| copy::place(it.0.as_ref())),
            Asked::Copy(question) => answered(question, |it| self.copy(&it.0, &it.1)),
            Asked::Empty(question) => answered(question, |it| copy::empty(&it.0)),
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
        let now = open_without_links(path).map_err(|errno| match errno {
            rustix::io::Errno::LOOP => RunnerError::Swapped { path: path.to_path_buf() },
            errno => failed("open", path)(errno),
        })?;
        let identity = |directory| {
            let stat = rustix::fs::fstat(directory).map_err(failed("stat", path))?;
            Ok::<_, RunnerError>((stat.st_dev, stat.st_ino))
        };
        if identity(&now)? != identity(directory)? {
            return Err(RunnerError::Swapped { path: path.to_path_buf() });
        }
        let workspace = Workspace::create(directory, path, id)?;
        let made = workspace.identity();
        self.workspace = Some(workspace);
        made
    }

    fn target(&self) -> Result<(&Path, &OwnedFd), RunnerError> {
        match &self.target {
            Some((path, directory)) => Ok((path, directory)),
            None => Err(RunnerError::Told("the target is no directory".to_owned())),
        }
    }

    fn copy(&self, source: &copy::CopySource, place: &copy::CopyPlace) -> Result<(), RunnerError> {
        let workspace = self.workspace.as_ref();
        let workspace = workspace.ok_or_else(|| RunnerError::Told("there is no workspace".to_owned()))?;
        let (path, directory) = self.target()?;
        let is_descriptor = matches!(place.found, copy::Found::Descriptor { .. });
        if !is_descriptor && place.path.parent() != Some(path) {
            return Err(RunnerError::Told(format!("{} is not in the target", place.path.display())));
        }
        copy::copy(source, place, directory, workspace)
    }
}
