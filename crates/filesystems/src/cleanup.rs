use std::path::{Path, PathBuf};
use std::process::Child;

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use crate::error::Error;
use crate::loop_device::LoopDevice;
use crate::patience;

#[derive(Debug)]
pub(crate) enum CleanupAction {
    Mount(PathBuf),
    /// Ends with its mount.
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

/// Undoes all but the first `keep` steps. The first error counts.
pub(crate) fn clean_up_to(stack: &mut Vec<CleanupAction>, keep: usize) -> Result<(), Error> {
    let mut result = Ok(());
    while stack.len() > keep {
        let undone = stack.pop().map_or(Ok(()), CleanupAction::undo);
        result = result.and(undone);
    }
    result
}

/// A killed worker may need a moment to close its files.
fn unmount_patiently(path: &Path) -> Result<(), Error> {
    let failed = |errno: Errno| Error::call("unmount", "umount2", path, errno);
    let is_unmounted = || match unmount(path, UnmountFlags::NOFOLLOW) {
        Err(Errno::BUSY) => Ok(false),
        unmounted => unmounted.map(|()| true).map_err(failed),
    };
    if patience::is_soon(is_unmounted)? {
        return Ok(());
    }
    unmount(path, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH).map_err(failed)?;
    Err(Error::StillMounted {
        path: path.to_owned(),
        waited_s: patience::LIMIT.as_secs(),
    })
}

fn end(mut child: Child) -> Result<(), Error> {
    let failed = |call| {
        move |error| {
            Error::call(
                "end a filesystem's server",
                call,
                Path::new("its process"),
                error,
            )
        }
    };
    if patience::is_soon(|| Ok(child.try_wait().map_err(failed("waitpid"))?.is_some()))? {
        return Ok(());
    }
    child.kill().map_err(failed("kill"))?;
    child.wait().map(drop).map_err(failed("waitpid"))
}
