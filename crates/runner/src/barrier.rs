//! Both ends of the socket through which a worker waits for the other ranks. Its rank's process forwards
//! the messages.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

pub struct BarrierClient(File);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitRequest {
    pub has_succeeded: bool,
    pub is_last: bool,
}

impl BarrierClient {
    pub fn inherited(number: i32) -> io::Result<Self> {
        // /proc/self/fd cannot reopen a socket, but pidfd_getfd(2) duplicates its descriptor.
        let own = pidfd_open(getpid(), PidfdFlags::empty())?;
        let descriptor = pidfd_getfd(own, number, PidfdGetfdFlags::empty())?;
        Ok(Self(descriptor.into()))
    }

    /// Reports this rank's success so far and waits for all ranks. Returns whether all succeeded.
    pub fn wait(&mut self, has_succeeded: bool, is_last: bool) -> io::Result<bool> {
        self.0.write_all(&[has_succeeded, is_last].map(u8::from))?;
        let mut all_have_succeeded = [0];
        self.0.read_exact(&mut all_have_succeeded)?;
        Ok(all_have_succeeded != [0])
    }
}

pub(crate) struct BarrierServer(File);

impl BarrierServer {
    /// The worker inherits its side. This process must close that, or the worker's end remains hidden.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (own, workers) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        fcntl_setfd(&workers, FdFlags::empty())?;
        Ok((Self(own.into()), workers))
    }

    pub(crate) fn request(&mut self, wait: Duration) -> Option<WaitRequest> {
        let wait = Timespec::try_from(wait).ok()?;
        let mut ready = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        if !matches!(poll(&mut ready, Some(&wait)), Ok(1..)) {
            return None;
        }
        let mut flags = [0; 2];
        if self.0.read_exact(&mut flags).is_err() {
            // The worker has ended, which its pipe also reports.
            std::thread::sleep(Duration::from_millis(1));
            return None;
        }
        let [has_succeeded, is_last] = flags.map(|flag| flag != 0);
        Some(WaitRequest {
            has_succeeded,
            is_last,
        })
    }

    pub(crate) fn answer(&mut self, all_have_succeeded: bool) {
        // A dead worker is detected by its missing answer.
        let _ = self.0.write_all(&[u8::from(all_have_succeeded)]);
    }
}
