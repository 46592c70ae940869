//! A run's limits of the hardware, into its database.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use model::{Case, Settings};
use runner::{Hardware, WorkerCommand};

use crate::recorder::Recorder;

/// What is measured of a run's hardware.
pub struct HardwareOfRun {
    hardware: Hardware,
}

impl HardwareOfRun {
    /// Measures it for the first time.
    pub fn before(
        recorder: &mut Recorder<'_>,
        cases: &[Case],
        settings: &Settings,
        targets: &[Option<PathBuf>],
        (worker, stop): (&WorkerCommand, &AtomicBool),
    ) -> Result<Self> {
        let mut of_run = Self { hardware: Hardware::of(cases, settings, targets)? };
        of_run.measure(recorder, worker, stop)?;
        Ok(of_run)
    }

    /// Measures it again: the best counts.
    pub fn measure(
        &mut self,
        recorder: &mut Recorder<'_>,
        worker: &WorkerCommand,
        stop: &AtomicBool,
    ) -> Result<()> {
        self.hardware.measure(worker, stop)?;
        for target in 0..self.hardware.target_count() {
            recorder.limits(target, self.hardware.limits(target))?;
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
