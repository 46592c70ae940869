//! A run's limits of the hardware, into its database.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use model::{Case, Settings};
use runner::{Hardware, WorkerCommand};
use store::Store;

/// What is measured of a run's hardware, and where it is recorded.
pub struct HardwareOfRun<'r> {
    store: &'r Store,
    number: i64,
    hardware: Hardware,
}

impl<'r> HardwareOfRun<'r> {
    /// Measures it for the first time.
    pub fn before(
        (store, number): (&'r Store, i64),
        cases: &[Case],
        settings: &Settings,
        targets: &[Option<PathBuf>],
        (worker, stop): (&WorkerCommand, &AtomicBool),
    ) -> Result<Self> {
        let mut of_run = Self { store, number, hardware: Hardware::of(cases, settings, targets)? };
        of_run.measure(worker, stop)?;
        Ok(of_run)
    }

    /// Measures it again: the best counts.
    pub fn measure(&mut self, worker: &WorkerCommand, stop: &AtomicBool) -> Result<()> {
        self.hardware.measure(worker, stop)?;
        for target in 0..self.hardware.target_count() {
            self.store.set_limits(self.number, target, &self.hardware.limits(target))?;
        }
        Ok(())
    }

    /// What is written for it, before and after the samples.
    pub fn bytes(&self) -> u64 {
        self.hardware.bytes()
    }

    /// What is left of the run's bytes and time for its samples.
    pub fn rest_of(&self, settings: &Settings) -> Settings {
        Settings {
            max_bytes: settings.max_bytes.map(|bytes| bytes.saturating_sub(self.hardware.bytes())),
            budget_ns: settings.budget_ns.map(|budget| budget.saturating_sub(self.hardware.time_ns())),
            ..settings.clone()
        }
    }
}
