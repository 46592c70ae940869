//! What the filesystems of a run do with files, into its database.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Result;
use writebench_model::RunRecord;
use writebench_model::protocol::PropertiesRequest;
use writebench_runner::{Casualties, LearntProperties, WorkerCommand, Written, learn_properties};

use super::place::Claimed;
use super::recorder::Recorder;
use crate::output::Output;

/// Large enough for huge pages and for extents that are reserved ahead.
const FILE_BYTES: u64 = 4 << 20;
/// No filesystem has so many files written for it.
const FILES: u64 = 32;
const PATIENCE: Duration = Duration::from_secs(120);

/// What that many targets may be written for it, at most.
pub fn most_bytes(targets: usize) -> u64 {
    (FILE_BYTES * FILES).saturating_mul(targets as u64)
}

/// Who looks at the filesystems of a run, and for how long.
pub struct FilesystemsOfRun<'r> {
    pub run: &'r RunRecord,
    pub places: &'r [Claimed],
    pub most_time: Option<Duration>,
    /// Works on all targets.
    pub worker: &'r WorkerCommand,
    pub stop: &'r AtomicBool,
    pub output: &'r Output,
}

impl FilesystemsOfRun<'_> {
    /// Looks at each target's filesystem. Where the limits of the run have no room for that, none is looked at, and
    /// none any more once that time is over.
    pub fn learn(
        &self,
        recorder: &mut Recorder<'_>,
        written: &mut Written,
        casualties: &mut Casualties,
    ) -> Result<()> {
        let start = Instant::now();
        let bytes = most_bytes(self.places.len());
        if written.left_bytes().is_some_and(|left| bytes > left / 2) {
            self.output.note("Filesystems are not looked at: --max-bytes leaves no room for it.");
            return Ok(());
        }
        written.add(bytes);
        for (target, (record, place)) in self.run.targets.iter().zip(self.places).enumerate() {
            let left = self.most_time.map_or(PATIENCE, |most| most.saturating_sub(start.elapsed()));
            if left.is_zero() {
                self.output.note(&format!("{} is not looked at: half of the budget is over.", record.name));
                continue;
            }
            let request = PropertiesRequest {
                target,
                file_stem: "properties".to_owned(),
                file_size_bytes: FILE_BYTES,
                data_seed: self.run.settings.seed,
                device_number: place.target.device_number.clone(),
            };
            match learn_properties(self.worker, request, left.min(PATIENCE), (casualties, self.stop))? {
                LearntProperties::Known(properties) => recorder.properties(target, properties)?,
                LearntProperties::Stopped => break,
                LearntProperties::Unknown(outcome) => {
                    let why = outcome.reason().unwrap_or_default();
                    self.output.note(&format!("What {} does with files is not known: {why}", record.name));
                }
            }
        }
        Ok(())
    }
}
