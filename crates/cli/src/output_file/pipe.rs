//! Pipes, and files that the caller has opened.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::signals::is_stopped;

/// The interval of checks for a signal.
const LOOK: Duration = Duration::from_millis(50);
/// The time of a slow reader after a signal.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A missing or slow reader does not delay the end of the program after a signal.
pub(super) struct Pipe {
    file: File,
    /// The first wait after a signal.
    waits_since: Option<Instant>,
}

impl Pipe {
    /// Opens the file of `found` (an `O_PATH` descriptor). Calls `waits` if it has no reader yet.
    pub(super) fn open(found: &File, waits: impl FnOnce()) -> io::Result<Self> {
        let path = format!("/proc/self/fd/{}", found.as_raw_fd());
        // Appends to a regular file, like `>>`.
        let flags =
            OFlags::WRONLY | OFlags::NONBLOCK | OFlags::APPEND | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut waits = Some(waits);
        loop {
            match rustix::fs::open(&path, flags, Mode::empty()) {
                Ok(file) => {
                    return Ok(Self {
                        file: file.into(),
                        waits_since: None,
                    });
                }
                Err(Errno::NXIO) if is_stopped() => {
                    return Err(io::Error::other(
                        "it had no reader when the run was interrupted",
                    ));
                }
                Err(Errno::NXIO) => {
                    if let Some(waits) = waits.take() {
                        waits();
                    }
                    std::thread::sleep(LOOK);
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn wait_until_writable(&mut self) -> io::Result<()> {
        if is_stopped() {
            let since = *self.waits_since.get_or_insert_with(Instant::now);
            if since.elapsed() > TIMEOUT {
                let why = "its reader was stuck when the run was interrupted";
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
        }
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(LOOK.subsec_nanos()),
        };
        match poll(
            &mut [PollFd::new(&self.file, PollFlags::OUT)],
            Some(&timeout),
        ) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait_until_writable()?;
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
