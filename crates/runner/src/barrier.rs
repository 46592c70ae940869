//! Both ends of the socket by which a worker waits for the other ranks: its rank's process passes the
//! worker's messages on to them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

/// A worker's side: the worker tells how it stands, and waits for the others.
pub struct BarrierClient(File);

/// A worker waits at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitRequest {
    pub has_succeeded: bool,
    /// Whether it is the last barrier of the sample.
    pub is_last: bool,
}

const SUCCEEDED: u8 = 1;
const LAST: u8 = 2;

impl BarrierClient {
    /// The worker's side, by an inherited descriptor.
    ///
    /// # Errors
    /// There is no such descriptor.
    pub fn inherited(number: i32) -> io::Result<Self> {
        // A socket cannot be opened again by /proc/self/fd, but pidfd_getfd(2) makes another descriptor of it.
        let own = pidfd_open(getpid(), PidfdFlags::empty())?;
        let descriptor = pidfd_getfd(own, number, PidfdGetfdFlags::empty())?;
        Ok(Self(descriptor.into()))
    }

    /// Tells all ranks whether this one has succeeded so far, and waits for them; returns whether
    /// all have.
    ///
    /// # Errors
    /// The rank's process is gone.
    pub fn wait(&mut self, has_succeeded: bool, is_last: bool) -> io::Result<bool> {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        self.0.write_all(&[flag(has_succeeded, SUCCEEDED) | flag(is_last, LAST)])?;
        let mut answer = [0];
        self.0.read_exact(&mut answer)?;
        Ok(answer[0] & SUCCEEDED != 0)
    }
}

/// The side of the rank's process.
pub(crate) struct BarrierServer(File);

impl BarrierServer {
    /// Both sides. The worker inherits its own; once this process has closed it, the end of the worker is seen.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (own, workers) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        fcntl_setfd(&workers, FdFlags::empty())?;
        Ok((Self(own.into()), workers))
    }

    /// The worker's next request, if it comes within that time.
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
            // The worker has ended, which its pipe tells as well.
            _ => {
                std::thread::sleep(Duration::from_millis(1));
                None
            }
        }
    }

    /// Lets the worker go on.
    pub(crate) fn answer(&mut self, all_have_succeeded: bool) {
        // A worker that is dead is found so when its answer is missing.
        let _ = self.0.write_all(&[u8::from(all_have_succeeded)]);
    }
}
