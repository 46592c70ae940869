//! A wall clock that a test sets, for the programs that it starts and for nobody else.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::{Child, Command};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::program::entries;

/// The clock, by libfaketime. That of the machine is not touched, and monotonic clocks run on.
pub struct SetClock {
    directory: TempDir,
    library: PathBuf,
    started: RefCell<Vec<u32>>,
}

/// Why there can be none here; none if there can.
pub(crate) fn missing() -> Option<String> {
    library().is_none().then(|| "no libfaketime: `cargo xtask setup` installs it".to_owned())
}

/// Debian has it below the name of its architecture.
fn library() -> Option<PathBuf> {
    let inside = entries("/usr/lib".as_ref()).into_iter().map(|it| it.join("faketime/libfaketimeMT.so.1"));
    inside.into_iter().find(|library| library.is_file())
}

impl SetClock {
    /// A clock that shows that time, as `2030-01-01 00:00:00`, for ever.
    ///
    /// # Errors
    /// There is no libfaketime.
    pub fn at(time: &str) -> Result<Self> {
        let library = library().context("no libfaketime")?;
        let clock = Self { directory: tempfile::tempdir()?, library, started: RefCell::default() };
        clock.set(time)?;
        Ok(clock)
    }

    /// Another time, from now on, also for programs that run.
    ///
    /// # Errors
    /// The file that they read cannot be written.
    pub fn set(&self, time: &str) -> Result<()> {
        // Whole, whenever it is read.
        let next = self.directory.path().join("next");
        std::fs::write(&next, time)?;
        Ok(std::fs::rename(next, self.file())?)
    }

    /// Starts a program that goes by it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self, command: &mut Command) -> Result<Child> {
        command.env("LD_PRELOAD", &self.library).env("FAKETIME_TIMESTAMP_FILE", self.file());
        let child = command.env("FAKETIME_NO_CACHE", "1").env("DONT_FAKE_MONOTONIC", "1").spawn()?;
        self.started.borrow_mut().push(child.id());
        Ok(child)
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("time")
    }
}

impl Drop for SetClock {
    fn drop(&mut self) {
        // What the library shares among threads stays in memory when its program is killed.
        for process in self.started.borrow().iter() {
            for name in ["faketime_shm_", "sem.faketime_sem_"] {
                let _ = std::fs::remove_file(format!("/dev/shm/{name}{process}"));
            }
        }
    }
}
