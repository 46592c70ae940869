//! Unlinks a file in a second thread, because the kernel frees the blocks of a large file slowly.

use std::ffi::CString;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, JoinHandle};

use rustix::fs::AtFlags;

use super::Result;
use crate::call::{CallError, retry};
use crate::threads::PTHREAD_CREATE;

pub(super) struct BackgroundUnlink {
    begin: Sender<()>,
    thread: JoinHandle<Result<()>>,
}

impl BackgroundUnlink {
    /// The thread waits for [`Self::begin`].
    pub(super) fn start(directory: BorrowedFd<'_>, name: CString) -> Result<Self> {
        let directory: OwnedFd = retry("dup", || rustix::io::fcntl_dupfd_cloexec(directory, 0))?;
        let (begin, begun) = mpsc::channel();
        let unlink = move || match begun.recv() {
            Ok(()) => retry("unlink", || {
                rustix::fs::unlinkat(&directory, &name, AtFlags::empty())
            }),
            Err(mpsc::RecvError) => Ok(()),
        };
        let thread = Builder::new()
            .spawn(unlink)
            .map_err(|error| CallError::from_io(PTHREAD_CREATE, &error))?;
        Ok(Self { begin, thread })
    }

    pub(super) fn begin(&self) {
        // Without a receiver the thread has ended, which `finish` reports.
        let _ = self.begin.send(());
    }

    /// Without a beginning, the file is kept.
    pub(super) fn finish(self) -> Result<()> {
        drop(self.begin);
        self.thread
            .join()
            .unwrap_or_else(|_| Err(CallError::other("unlink", "the thread has panicked")))
    }
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
