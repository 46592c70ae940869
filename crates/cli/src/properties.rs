//! What the filesystems of a run do with files, into its database.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use model::RunRecord;
use model::protocol::PropertiesRequest;
use runner::{LearntProperties, PlannedTarget, WorkerCommand, Workspace, learn_properties};
use store::Store;

use crate::output::Output;

/// Large enough for huge pages and for extents that are reserved ahead.
const FILE_BYTES: u64 = 4 << 20;
/// No filesystem has so many files written for it.
const FILES: u64 = 32;
const PATIENCE: Duration = Duration::from_secs(120);

/// Who looks at the filesystems of a run, and where it is recorded.
pub struct FilesystemsOfRun<'r> {
    /// The database.
    pub store: &'r Store,
    /// The run's number there.
    pub number: i64,
    /// Works on all targets.
    pub worker: &'r WorkerCommand,
    /// Set to end it.
    pub stop: &'r AtomicBool,
    /// Hears of what cannot be learnt.
    pub output: &'r Output,
}

impl FilesystemsOfRun<'_> {
    /// Looks at each target's filesystem; the bytes that may have been written for it. Where `max_bytes` has no room
    /// for that, none is looked at.
    pub fn learn(
        &self,
        run: &RunRecord,
        targets: &[PlannedTarget],
        workspaces: &[Workspace],
        max_bytes: Option<u64>,
    ) -> Result<u64> {
        let bytes = (FILE_BYTES * FILES).saturating_mul(run.targets.len() as u64);
        if max_bytes.is_some_and(|most| bytes > most / 2) {
            self.output.note("Filesystems are not looked at: --max-bytes leaves no room for it.");
            return Ok(0);
        }
        for (target, (record, planned)) in run.targets.iter().zip(targets).enumerate() {
            let request = PropertiesRequest {
                target,
                file_stem: "properties".to_owned(),
                file_size_bytes: FILE_BYTES,
                data_seed: run.settings.seed,
                device_number: planned.device_number.clone(),
            };
            match learn_properties(self.worker, request, PATIENCE, self.stop)? {
                LearntProperties::Known(properties) => {
                    self.store.set_properties(self.number, target, &properties)?;
                }
                LearntProperties::Stopped => break,
                LearntProperties::Unknown(outcome) => {
                    let why = outcome.reason().unwrap_or_default();
                    self.output.note(&format!("What {} does with files is not known: {why}", record.name));
                    workspaces.get(target).map_or(Ok(()), Workspace::remove_samples)?;
                }
            }
        }
        Ok(bytes)
    }
}
