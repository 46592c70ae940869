//! The times of steps when they last ran on this machine, in cargo's target directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::record::{Ending, Record};
use crate::command::target_directory;

/// Seconds, by the names of steps.
#[derive(Default)]
pub(super) struct Times(BTreeMap<String, f64>);

fn file() -> Result<PathBuf> {
    Ok(target_directory()?.join("xtask-test-times.json"))
}

impl Times {
    pub(super) fn read() -> Result<Self> {
        let text = fs::read_to_string(file()?).unwrap_or_default();
        // A file that cannot be read is no loss: the next run writes it anew.
        Ok(Self(serde_json::from_str(&text).unwrap_or_default()))
    }

    /// These times, with those of a run.
    pub(super) fn with(mut self, records: &[Record]) -> Self {
        let passed = records.iter().filter(|record| record.ending == Ending::Passed);
        self.0.extend(passed.map(|record| (record.step.to_owned(), record.took.as_secs_f64())));
        self
    }

    pub(super) fn write(&self) -> Result<()> {
        let file = file()?;
        let text = serde_json::to_string_pretty(&self.0)?;
        fs::write(&file, text).with_context(|| file.display().to_string())
    }

    /// The time of a step, or a dash.
    pub(super) fn shown(&self, step: &str) -> String {
        self.0.get(step).map_or_else(|| "–".to_owned(), |seconds| format!("{seconds:.0} s"))
    }
}
