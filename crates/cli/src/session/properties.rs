//! What the filesystems of a run do with files, into its database.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Result;
use writebench_model::protocol::PropertiesRequest;
use writebench_model::{RunRecord, Settings};
use writebench_runner::{Books, LearntProperties, PlannedTarget, WorkerCommand, learn_properties};

use crate::output::Output;
use crate::session::recorder::Recorder;

/// Large enough for huge pages and for extents that are reserved ahead.
const FILE_BYTES: u64 = 4 << 20;
/// No filesystem has so many files written for it.
const FILES: u64 = 32;
const PATIENCE: Duration = Duration::from_secs(120);

/// What that many targets may be written for it, at most.
pub fn most_bytes(targets: usize) -> u64 {
    (FILE_BYTES * FILES).saturating_mul(targets as u64)
}

/// Who looks at the filesystems of a run, and where it is recorded.
pub struct FilesystemsOfRun<'r> {
    /// Works on all targets.
    pub worker: &'r WorkerCommand,
    /// Set to end it.
    pub stop: &'r AtomicBool,
    /// Hears of what cannot be learnt.
    pub output: &'r Output,
}

impl FilesystemsOfRun<'_> {
    /// Looks at each target's filesystem. Where the limits of the run have no room for that, none is looked at, and
    /// none any more once half of the time is over.
    pub fn learn(
        &self,
        recorder: &mut Recorder<'_>,
        run: &RunRecord,
        targets: &[PlannedTarget],
        settings: &Settings,
        books: &mut Books<'_>,
    ) -> Result<()> {
        let start = Instant::now();
        let most_time = settings.budget_ns.map(|budget| Duration::from_nanos(budget) / 2);
        let bytes = most_bytes(run.targets.len());
        if books.written.left_bytes().is_some_and(|left| bytes > left / 2) {
            self.output.note("Filesystems are not looked at: --max-bytes leaves no room for it.");
            return Ok(());
        }
        books.written.add(bytes);
        for (target, (record, planned)) in run.targets.iter().zip(targets).enumerate() {
            let left = most_time.map_or(PATIENCE, |most| most.saturating_sub(start.elapsed()));
            if left.is_zero() {
                self.output.note(&format!("{} is not looked at: half of the budget is over.", record.name));
                continue;
            }
            let request = PropertiesRequest {
                target,
                file_stem: "properties".to_owned(),
                file_size_bytes: FILE_BYTES,
                data_seed: run.settings.seed,
                device_number: planned.device_number.clone(),
            };
            match learn_properties(self.worker, request, left.min(PATIENCE), (books.casualties, self.stop))? {
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
