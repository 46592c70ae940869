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

const SUCCEEDED: u8 = 1;
const LAST: u8 = 2;

impl BarrierClient {
    pub fn inherited(number: i32) -> io::Result<Self> {
        // /proc/self/fd cannot reopen a socket, but pidfd_getfd(2) duplicates its descriptor.
        let own = pidfd_open(getpid(), PidfdFlags::empty())?;
        let descriptor = pidfd_getfd(own, number, PidfdGetfdFlags::empty())?;
        Ok(Self(descriptor.into()))
    }

    /// Reports this rank's success so far and waits for all ranks. Returns whether all succeeded.
    pub fn wait(&mut self, has_succeeded: bool, is_last: bool) -> io::Result<bool> {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        self.0.write_all(&[flag(has_succeeded, SUCCEEDED) | flag(is_last, LAST)])?;
        let mut answer = [0];
        self.0.read_exact(&mut answer)?;
        Ok(answer[0] & SUCCEEDED != 0)
    }
}

pub(crate) struct BarrierServer(File);

impl BarrierServer {
    /// The worker inherits its side. This process must close that, or the worker's end remains hidden.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (own, workers) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        fcntl_setfd(&workers, FdFlags::empty())?;
        Ok((Self(own.into()), workers))
    }

    pub(crate) fn request(&mut self, wait: Duration) -> Option<WaitRequest> {
        let wait = Timespec::try_from(wait).ok()?;
        let mut ready = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        if !matches!(poll(&mut ready, Some(&wait)), Ok(1..)) {
            return None;
        }
        let mut byte = [0];
        match self.0.read(&mut byte) {
            Ok(1) => {
                Some(WaitRequest { has_succeeded: byte[0] & SUCCEEDED != 0, is_last: byte[0] & LAST != 0 })
            }
            // The worker has ended, which its pipe also reports.
            _ => {
                std::thread::sleep(Duration::from_millis(1));
                None
            }
        }
    }

    pub(crate) fn answer(&mut self, all_have_succeeded: bool) {
        // A dead worker is detected by its missing answer.
        let _ = self.0.write_all(&[u8::from(all_have_succeeded)]);
    }
}
