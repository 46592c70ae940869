//! A real FUSE server: it can be stopped, and renames open files on removal.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::mounted::{abort, device_at, temporary};
use crate::program::wait_for;

/// A mount of bindfs, which ends with the drop.
pub struct Bindfs {
    server: Child,
    point: TempDir,
    below: TempDir,
}

impl Bindfs {
    pub fn mount() -> Result<Self> {
        let below = temporary("bindfs-below")?;
        let point = temporary("bindfs-point")?;
        let mut command = Command::new("bindfs");
        command
            .arg("-f")
            .args([below.path(), point.path()])
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        let server = command.spawn().context("start bindfs")?;
        let bindfs = Self {
            server,
            point,
            below,
        };
        wait_for("bindfs to mount", || bindfs.is_mounted().then_some(()))?;
        Ok(bindfs)
    }

    fn is_mounted(&self) -> bool {
        device_at(self.path()) != device_at(self.below.path())
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// The directory below, which answers while the server is stopped.
    #[must_use]
    pub fn below(&self) -> &Path {
        self.below.path()
    }

    /// Stops the server, so requests wait.
    pub fn stop(&self) -> Result<()> {
        self.send(Signal::STOP)
    }

    pub fn go_on(&self) -> Result<()> {
        self.send(Signal::CONT)
    }

    fn send(&self, signal: Signal) -> Result<()> {
        crate::program::send(self.server.id(), signal).context("the server is gone")
    }
}

impl Drop for Bindfs {
    fn drop(&mut self) {
        abort(self.path());
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
