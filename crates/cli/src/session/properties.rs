//! The properties of a run's filesystems, recorded in its database.

use std::time::{Duration, Instant};

use anyhow::Result;
use writebench_model::protocol::PropertiesRequest;
use writebench_runner::{Answer, WorkerCommand, Workers};

use super::configuration::Session;
use super::recorder::{Record, Recorder};
use super::workspaces::Workspaces;

/// Large enough for huge pages and for extents that are reserved ahead.
const FILE_BYTES: u64 = 4 << 20;
/// More files than are written to any filesystem.
const FILES: u64 = 32;
const PATIENCE: Duration = Duration::from_secs(120);

/// The most bytes written to that many targets.
pub(super) fn most_bytes(targets: usize) -> u64 {
    (FILE_BYTES * FILES).saturating_mul(targets as u64)
}

impl Session<'_> {
    /// Finds the properties of each target's filesystem. If the limits of the run have no room for
    /// that, none is looked at, and no more once half of the time is over.
    pub(super) fn learn_properties(
        &mut self,
        recorder: &mut Recorder<'_>,
        worker: &WorkerCommand,
    ) -> Result<()> {
        let start = Instant::now();
        let Workspaces { output, stop, .. } = self.workspaces;
        let most_time = self.config.run.settings.budget_ns.map(|budget| Duration::from_nanos(budget) / 2);
        let bytes = most_bytes(self.workspaces.places.len());
        if self.written.left_bytes().is_some_and(|left| bytes > left / 2) {
            output.note("Filesystems are not looked at: --max-bytes leaves no room for it.");
            return Ok(());
        }
        self.written.add(bytes);
        for (target, (record, place)) in self.config.run.targets.iter().zip(&self.workspaces.places).enumerate()
        {
            let left = most_time.map_or(PATIENCE, |most| most.saturating_sub(start.elapsed()));
            if left.is_zero() {
                output.note(&format!("{} is not looked at: half of the budget is over.", record.name));
                continue;
            }
            let request = PropertiesRequest {
                target,
                file_stem: "properties".to_owned(),
                file_size_bytes: FILE_BYTES,
                data_seed: self.config.run.settings.seed,
                device_number: place.target.device_number.clone(),
            };
            let mut workers = Workers::new(worker, stop, &mut self.casualties);
            match workers.ask(target, request, left.min(PATIENCE))? {
                Answer::Reply(properties) => {
                    recorder.record(Record::Properties { target, properties: Box::new(properties) })?;
                }
                Answer::Stopped => break,
                Answer::Lost(outcome) => {
                    let why = outcome.reason().unwrap_or_default();
                    output.note(&format!("What {} does with files is not known: {why}", record.name));
                }
            }
        }
        Ok(())
    }
}
