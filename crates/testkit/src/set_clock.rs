use std::cell::RefCell;
use std::path::PathBuf;
use std::process::{Child, Command};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::program::entries;

/// A wall clock for programs, by libfaketime. The machine's clock is not touched, and monotonic clocks continue.
pub struct SetClock {
    directory: TempDir,
    library: PathBuf,
    started: RefCell<Vec<u32>>,
}

/// The library, whose directory in Debian depends on the architecture.
pub(crate) fn library() -> Option<PathBuf> {
    entries("/usr/lib".as_ref())
        .into_iter()
        .map(|folder| folder.join("faketime/libfaketimeMT.so.1"))
        .find(|library| library.is_file())
}

impl SetClock {
    /// The clock stops at that time, such as `2030-01-01 00:00:00`.
    pub fn at(time: &str) -> Result<Self> {
        let library = library().context("no libfaketime")?;
        let clock = Self {
            directory: tempfile::tempdir()?,
            library,
            started: RefCell::default(),
        };
        clock.set(time)?;
        Ok(clock)
    }

    /// Sets the clock, also for running programs.
    pub fn set(&self, time: &str) -> Result<()> {
        // The rename makes the change atomic for readers.
        let next = self.directory.path().join("next");
        std::fs::write(&next, time)?;
        Ok(std::fs::rename(next, self.file())?)
    }

    /// Starts a program with this clock.
    pub fn start(&self, command: &mut Command) -> Result<Child> {
        let child = command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", self.file())
            .env("FAKETIME_NO_CACHE", "1")
            .env("DONT_FAKE_MONOTONIC", "1")
            .spawn()?;
        self.started.borrow_mut().push(child.id());
        Ok(child)
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("time")
    }
}

impl Drop for SetClock {
    fn drop(&mut self) {
        // Killed programs leave the library's shared memory behind.
        for process in self.started.borrow().iter() {
            for name in ["faketime_shm_", "sem.faketime_sem_"] {
                let _ = std::fs::remove_file(format!("/dev/shm/{name}{process}"));
            }
        }
    }
}
