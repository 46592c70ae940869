//! A run's limits of the hardware, into its database.

use anyhow::Result;
use writebench_model::Settings;
use writebench_runner::{Hardware, WorkerCommand};

use super::recorder::{Record, Recorder};
use super::state::Session;

impl Session<'_> {
    /// The limits of the hardware that the cases can be held against; what measuring them takes is spent.
    pub(super) fn hardware(&mut self) -> Result<Option<Hardware>> {
        if self.limits_for.is_empty() {
            return Ok(None);
        }
        let spaces: Vec<_> = self.workspaces.places.iter().map(|place| place.space).collect();
        let settings = Settings { max_bytes: self.written.left_bytes(), ..self.run.settings.clone() };
        let hardware = Hardware::of(&self.limits_for, &settings, &spaces)?;
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
        hardware.measure(worker, &mut self.casualties, self.workspaces.stop)?;
        (0..hardware.target_count())
            .try_for_each(|target| recorder.record(Record::Limits { target, limits: hardware.limits(target) }))
    }
}
