//! Both ends of the socket by which a worker waits for the other ranks: its rank's process passes the
//! worker's messages on to them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
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
pub(crate) struct BarrierServer {
    own: File,
    // Closed once the worker has it.
    workers: Option<OwnedFd>,
}

impl BarrierServer {
    pub(crate) fn new() -> io::Result<Self> {
        let (own, workers) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // The worker inherits its side.
        fcntl_setfd(&workers, FdFlags::empty())?;
        Ok(Self { own: own.into(), workers: Some(workers) })
    }

    /// The number of the descriptor that the worker inherits.
    pub(crate) fn number(&self) -> Option<i32> {
        self.workers.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Closes the worker's side in this process, so that the end of the worker is seen.
    pub(crate) fn close_inherited(&mut self) {
        self.workers = None;
    }

    /// The worker's next request, if it comes within that time.
    pub(crate) fn request(&mut self, wait: Duration) -> Option<WaitRequest> {
        let wait = Timespec::try_from(wait).ok()?;
        let mut ready = [PollFd::from_borrowed_fd(self.own.as_fd(), PollFlags::IN)];
        if !matches!(poll(&mut ready, Some(&wait)), Ok(1..)) {
            return None;
        }
        let mut byte = [0];
        match self.own.read(&mut byte) {
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
        let _ = self.own.write_all(&[u8::from(all_have_succeeded)]);
    }
}
