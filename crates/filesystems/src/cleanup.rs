use std::path::{Path, PathBuf};
use std::process::Child;

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use crate::error::Error;
use crate::loop_device::LoopDevice;
use crate::patience;

const ENDING: &str = "end a filesystem's server";

/// A step of making a filesystem, which has to be undone.
#[derive(Debug)]
pub(crate) enum CleanupAction {
    Mount(PathBuf),
    /// A server ends by itself after its mount.
    Server(Child),
    Loop(LoopDevice),
}

impl CleanupAction {
    fn undo(self) -> Result<(), Error> {
        match self {
            Self::Mount(path) => unmount_patiently(&path),
            Self::Server(child) => end(child),
            Self::Loop(device) => device.detach(),
        }
    }
}

/// Undoes all but the first `keep` steps, the last one first. It continues after an error, and returns the first.
pub(crate) fn clean_up_to(stack: &mut Vec<CleanupAction>, keep: usize) -> Result<(), Error> {
    let mut result = Ok(());
    while stack.len() > keep {
        let undone = stack.pop().map_or(Ok(()), CleanupAction::undo);
        result = result.and(undone);
    }
    result
}

/// A killed worker may need a moment to close its files.
pub(crate) fn unmount_patiently(path: &Path) -> Result<(), Error> {
    if patience::is_soon(|| try_unmount(path))? {
        return Ok(());
    }
    unmount(path, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH)
        .map_err(|errno| Error::call("unmount", "umount2", path, errno))?;
    Err(Error::StillMounted {
        path: path.to_owned(),
        waited_s: patience::LIMIT.as_secs(),
    })
}

/// Returns whether it succeeded. A mount in use is no error.
fn try_unmount(path: &Path) -> Result<bool, Error> {
    match unmount(path, UnmountFlags::NOFOLLOW) {
        Ok(()) => Ok(true),
        Err(Errno::BUSY) => Ok(false),
        Err(errno) => Err(Error::call("unmount", "umount2", path, errno)),
    }
}

fn end(mut server: Child) -> Result<(), Error> {
    if patience::is_soon(|| has_ended(&mut server))? {
        return Ok(());
    }
    let process = Path::new("its process");
    server
        .kill()
        .map_err(|error| Error::call(ENDING, "kill", process, error))?;
    server
        .wait()
        .map_err(|error| Error::call(ENDING, "waitpid", process, error))?;
    Ok(())
}

fn has_ended(server: &mut Child) -> Result<bool, Error> {
    match server.try_wait() {
        Ok(status) => Ok(status.is_some()),
        Err(error) => Err(Error::call(
            ENDING,
            "waitpid",
            Path::new("its process"),
            error,
        )),
    }
}
