//! A run's limits of the hardware, into its database.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use writebench_model::{Case, Settings};
use writebench_probe::Space;
use writebench_runner::{Books, Hardware, WorkerCommand};

use crate::session::recorder::Recorder;

/// The limits of a run's hardware.
pub struct HardwareOfRun {
    hardware: Hardware,
}

impl HardwareOfRun {
    /// Measures it for the first time, and counts what it will write in all.
    pub fn before(
        recorder: &mut Recorder<'_>,
        cases: &[Case],
        settings: &Settings,
        spaces: &[Option<Space>],
        (worker, books, stop): (&WorkerCommand, &mut Books<'_>, &AtomicBool),
    ) -> Result<Self> {
        let settings = Settings { max_bytes: books.written.left_bytes(), ..settings.clone() };
        let mut of_run = Self { hardware: Hardware::of(cases, &settings, spaces)? };
        books.written.add(of_run.hardware.bytes());
        of_run.measure(recorder, worker, books, stop)?;
        Ok(of_run)
    }

    /// Measures it again: the best counts.
    pub fn measure(
        &mut self,
        recorder: &mut Recorder<'_>,
        worker: &WorkerCommand,
        books: &mut Books<'_>,
        stop: &AtomicBool,
    ) -> Result<()> {
        self.hardware.measure(worker, books.casualties, stop)?;
        for target in 0..self.hardware.target_count() {
            recorder.limits(target, self.hardware.limits(target))?;
        }
        Ok(())
    }

    /// The time of the run that is left for its samples.
    pub fn rest_of(&self, settings: &Settings) -> Settings {
        let budget_ns = settings.budget_ns.map(|budget| budget.saturating_sub(self.hardware.time_ns()));
        Settings { budget_ns, ..settings.clone() }
    }
}
