//! A run's limits of the hardware, into its database.

use anyhow::Result;
use writebench_model::{Case, Settings};
use writebench_runner::{Hardware, WorkerCommand, Workers};

use super::recorder::{Record, Recorder};
use super::state::Session;

impl Session<'_> {
    /// The limits of the hardware that the cases can be held against; what measuring them takes is spent.
    pub(super) fn hardware(&mut self, cases: &[Case]) -> Result<Option<Hardware>> {
        if cases.is_empty() {
            return Ok(None);
        }
        let spaces: Vec<_> = self.workspaces.places.iter().map(|place| place.space).collect();
        let settings = Settings { max_bytes: self.written.left_bytes(), ..self.settings.clone() };
        let hardware = Hardware::of(cases, &settings, &spaces)?;
        self.written.add(hardware.bytes());
        self.spend(hardware.time_ns());
        Ok(Some(hardware))
    }

    /// Before the samples and after them: the best counts.
    pub(super) fn measure_limits(
        &mut self,
        hardware: Option<&mut Hardware>,
        recorder: &mut Recorder<'_>,
        worker: &WorkerCommand,
    ) -> Result<()> {
        let Some(hardware) = hardware else { return Ok(()) };
        hardware.measure(Workers::new(worker, self.workspaces.stop, &mut self.casualties))?;
        (0..hardware.target_count())
            .try_for_each(|target| recorder.record(Record::Limits { target, limits: hardware.limits(target) }))
    }
}
