//! A run's limits of the hardware, into its database.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use model::{Case, Settings};
use probe::Space;
use runner::{Books, Hardware, WorkerCommand};
use store::Store;

/// What is measured of a run's hardware, and where it is recorded.
pub struct HardwareOfRun<'r> {
    store: &'r Store,
    number: i64,
    hardware: Hardware,
}

impl<'r> HardwareOfRun<'r> {
    /// Measures it for the first time, and counts what it will write in all.
    pub fn before(
        (store, number): (&'r Store, i64),
        cases: &[Case],
        settings: &Settings,
        spaces: &[Option<Space>],
        (worker, books, stop): (&WorkerCommand, &mut Books<'_>, &AtomicBool),
    ) -> Result<Self> {
        let settings = Settings { max_bytes: books.written.left_bytes(), ..settings.clone() };
        let mut of_run = Self { store, number, hardware: Hardware::of(cases, &settings, spaces)? };
        books.written.add(of_run.hardware.bytes());
        of_run.measure(worker, books, stop)?;
        Ok(of_run)
    }

    /// Measures it again: the best counts.
    pub fn measure(&mut self, worker: &WorkerCommand, books: &mut Books<'_>, stop: &AtomicBool) -> Result<()> {
        self.hardware.measure(worker, books.casualties, stop)?;
        for target in 0..self.hardware.target_count() {
            self.store.set_limits(self.number, target, &self.hardware.limits(target))?;
        }
        Ok(())
    }

    /// What is left of the run's time for its samples.
    pub fn rest_of(&self, settings: &Settings) -> Settings {
        let budget_ns = settings.budget_ns.map(|budget| budget.saturating_sub(self.hardware.time_ns()));
        Settings { budget_ns, ..settings.clone() }
    }
}
