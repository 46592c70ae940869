//! The work of a run, and what the run owns while it is measured.

use std::collections::HashSet;

use writebench_model::{Case, CaseRecord, RunRecord};
use writebench_runner::{Casualties, EachCase, Schedule, Written};

use super::copied::Copied;
use super::later::Later;
use super::workspaces::Workspaces;

/// A run from its begin in the database to its end: what it measures, its places, and what it has spent.
pub(crate) struct Session<'s> {
    pub workspaces: Workspaces<'s>,
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
    /// Whether the properties of filesystems are found out.
    pub properties: bool,
    pub written: Written,
    /// See [`RunRecord::cpu_wait_ppm`].
    pub cpu_wait_ppm: Option<u32>,
    pub casualties: Casualties,
}

impl<'s> Session<'s> {
    /// Takes as many samples of each case as the run was told, and no other measurements.
    pub(crate) fn new(
        workspaces: Workspaces<'s>,
        run: RunRecord,
        cases: Vec<Case>,
        copied: Option<Copied>,
    ) -> Self {
        let mut written = Written::new(run.settings.max_bytes, copied.is_some());
        written.add(copied.as_ref().map_or(0, Copied::copy_bytes));
        // The samples of a resumed run are counted by their cases.
        let mut met = HashSet::new();
        let different = run.cases.iter().filter(|row| met.insert((&row.target, row.case.name())));
        let of_samples = different.map(CaseRecord::sample_bytes).fold(0, u64::saturating_add);
        written.add(run.written_bytes.unwrap_or(0).saturating_sub(of_samples));
        Self {
            schedule: Box::new(EachCase::of(&run.settings)),
            later: Later::default(),
            limits_for: Vec::new(),
            properties: false,
            cpu_wait_ppm: None,
            casualties: Casualties::default(),
            workspaces,
            run,
            cases,
            copied,
            written,
        }
    }
}
