//! Unlinks a file in a second thread, because the kernel frees the blocks of a large file slowly.

use std::ffi::{CStr, CString};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, JoinHandle};

use rustix::fs::AtFlags;

use super::Result;
use crate::call::{CallError, retry};
use crate::threads::PTHREAD_CREATE;

/// A thread that unlinks one file.
pub(super) struct BackgroundUnlink {
    begin: Sender<()>,
    thread: JoinHandle<Result<()>>,
}

impl BackgroundUnlink {
    /// The thread waits for [`Self::begin`].
    pub(super) fn start(directory: BorrowedFd<'_>, name: CString) -> Result<Self> {
        let directory: OwnedFd = retry("dup", || rustix::io::fcntl_dupfd_cloexec(directory, 0))?;
        let (begin, begun) = mpsc::channel();
        let thread = Builder::new()
            .spawn(move || unlink_when_begun(&begun, &directory, &name))
            .map_err(|error| CallError::from_io(PTHREAD_CREATE, &error))?;
        Ok(Self { begin, thread })
    }

    /// Lets the thread unlink the file.
    pub(super) fn begin(&self) {
        // Without a receiver the thread has ended, which `finish` reports.
        let _ = self.begin.send(());
    }

    /// Waits for the thread. If it was not told to begin, it keeps the file.
    pub(super) fn finish(self) -> Result<()> {
        drop(self.begin);
        self.thread
            .join()
            .unwrap_or_else(|_| Err(CallError::other("unlink", "the thread has panicked")))
    }
}

fn unlink_when_begun(begun: &Receiver<()>, directory: &OwnedFd, name: &CStr) -> Result<()> {
    if begun.recv().is_err() {
        return Ok(());
    }
    retry("unlink", || {
        rustix::fs::unlinkat(directory, name, AtFlags::empty())
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use rustix::io::Errno;

    use super::*;

    #[test]
    fn finish_reports_a_failed_unlink() {
        let directory = File::open(std::env::temp_dir()).unwrap();
        let start =
            || BackgroundUnlink::start(directory.as_fd(), c"writebench-absent".to_owned()).unwrap();
        start().finish().unwrap();
        let unlink = start();
        unlink.begin();
        let error = unlink.finish().unwrap_err();
        assert_eq!(error.errno(), Some(Errno::NOENT), "{error:?}");
    }
}
