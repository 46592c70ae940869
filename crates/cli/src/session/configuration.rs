//! What a command has validated, and the session that is made from it.

use std::collections::HashSet;

use writebench_model::{Case, CaseRecord, RunRecord};
use writebench_runner::{Casualties, EachCase, Schedule, Written};

use super::later::Later;
use super::workspaces::Workspaces;
use crate::copied::Copied;

/// What a run measures, and within which limits.
pub(crate) struct Configuration {
    /// The run, with what was measured of it before, and with the time that is left of its budget.
    pub run: RunRecord,
    /// The run's different cases, each of which is measured on every target.
    pub cases: Vec<Case>,
    pub copied: Option<Copied>,
    /// The number of samples that each case wants.
    pub schedule: Box<dyn Schedule>,
    pub later: Later,
    /// Cases that the hardware's limits are measured for; none to measure no limits.
    pub limits_for: Vec<Case>,
    /// Bytes of the images that were made for the run.
    pub image_bytes: u64,
}

impl Configuration {
    /// As many samples of each case as the run's settings demand, and no other measurements.
    pub(crate) fn new(run: RunRecord, cases: Vec<Case>, copied: Option<Copied>) -> Self {
        Self {
            schedule: Box::new(EachCase::of(&run.settings)),
            later: Later::default(),
            limits_for: Vec::new(),
            image_bytes: 0,
            run,
            cases,
            copied,
        }
    }
}

/// A run from its begin in the database to its end: what it measures, its places, and what it has spent.
pub(crate) struct Session<'s> {
    pub(super) config: Configuration,
    pub(super) workspaces: Workspaces<'s>,
    pub(super) written: Written,
    /// See [`RunRecord::cpu_wait_ppm`].
    pub(super) cpu_wait_ppm: Option<u32>,
    pub(super) casualties: Casualties,
}

impl<'s> Session<'s> {
    pub(crate) fn new(workspaces: Workspaces<'s>, config: Configuration) -> Self {
        let Configuration { run, copied, .. } = &config;
        let mut written = Written::new(run.settings.max_bytes, copied.is_some());
        written.add(config.image_bytes);
        written.add(copied.as_ref().map_or(0, Copied::copy_bytes));
        // The samples of a resumed run are counted by their cases.
        let mut met = HashSet::new();
        let different = run.cases.iter().filter(|row| met.insert((&row.target, row.case.name())));
        let of_samples = different.map(CaseRecord::sample_bytes).fold(0, u64::saturating_add);
        written.add(run.written_bytes.unwrap_or(0).saturating_sub(of_samples));
        let (cpu_wait_ppm, casualties) = (None, Casualties::default());
        Self { config, workspaces, written, cpu_wait_ppm, casualties }
    }
}
