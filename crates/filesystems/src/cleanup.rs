use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use crate::error::Error;
use crate::loop_device::LoopDevice;

/// For a mount in use, an attached device or a running server.
const TIMEOUT: Duration = Duration::from_secs(10);

const PAUSE: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub(crate) enum CleanupAction {
    Mount(PathBuf),
    /// Ends with its mount.
    Server(Child),
    Loop(LoopDevice),
}

impl CleanupAction {
    fn undo(self) -> Result<(), Error> {
        let deadline = Instant::now() + TIMEOUT;
        match self {
            Self::Mount(path) => unmount_patiently(&path, deadline),
            Self::Server(child) => end(child, deadline),
            Self::Loop(device) => device.detach(deadline),
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
fn unmount_patiently(path: &Path, deadline: Instant) -> Result<(), Error> {
    let failed = |errno: Errno| Error::call("unmount", "umount2", path, errno);
    let start = Instant::now();
    loop {
        match unmount(path, UnmountFlags::NOFOLLOW) {
            Err(Errno::BUSY) if Instant::now() < deadline => sleep(PAUSE),
            Err(Errno::BUSY) => break,
            unmounted => return unmounted.map_err(failed),
        }
    }
    unmount(path, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH).map_err(failed)?;
    Err(Error::StillMounted { path: path.to_owned(), waited_s: start.elapsed().as_secs() })
}

fn end(mut child: Child, deadline: Instant) -> Result<(), Error> {
    let failed =
        |call| move |error| Error::call("end a filesystem's server", call, Path::new("its process"), error);
    while Instant::now() < deadline {
        if child.try_wait().map_err(failed("waitpid"))?.is_some() {
            return Ok(());
        }
        sleep(PAUSE);
    }
    child.kill().map_err(failed("kill"))?;
    child.wait().map(drop).map_err(failed("waitpid"))
}
