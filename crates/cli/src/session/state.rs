//! The work of a run, and what the run owns while it is measured.

use std::collections::HashMap;

use writebench_model::{Case, CaseRecord, RunRecord, Settings};
use writebench_runner::{Casualties, EachCase, Schedule, Written};

use super::copied::Copied;
use super::workspaces::Workspaces;

/// What a run measures.
pub(crate) struct Work {
    /// The run, with what was measured of it before.
    pub run: RunRecord,
    /// Its different cases, each of which is measured on every target.
    pub cases: Vec<Case>,
    /// Who wants how many samples.
    pub schedule: Box<dyn Schedule>,
    /// Rows that come into the database when their case has its first turn.
    pub later: HashMap<String, CaseRecord>,
    /// Cases that the hardware's limits are measured for; none to measure no limits.
    pub limits_for: Vec<Case>,
    /// Whether it is looked at what the filesystems do with files.
    pub properties: bool,
}

impl Work {
    /// As many samples of each case as the run was told, and nothing beside them.
    pub(crate) fn new(run: RunRecord, cases: Vec<Case>) -> Self {
        let schedule = Box::new(EachCase::of(&run.settings));
        Self { run, cases, schedule, later: HashMap::new(), limits_for: Vec::new(), properties: false }
    }
}

/// A run from its begin in the database to its end: its places, what it copies, and what it has spent.
pub(crate) struct Session<'s> {
    pub(super) workspaces: Workspaces<'s>,
    pub(super) copied: Option<Copied>,
    /// With the time that is left of the budget.
    pub(super) settings: Settings,
    pub(super) written: Written,
    pub(super) casualties: Casualties,
}

impl<'s> Session<'s> {
    /// For `bytes_before` something has been written already: images.
    pub(crate) fn new(
        workspaces: Workspaces<'s>,
        settings: Settings,
        copied: Option<Copied>,
        bytes_before: u64,
    ) -> Self {
        let mut written = Written::new(settings.max_bytes, copied.is_some());
        written.add(bytes_before.saturating_add(copied.as_ref().map_or(0, Copied::copy_bytes)));
        Self { workspaces, copied, settings, written, casualties: Casualties::default() }
    }

    pub(super) fn spend(&mut self, time_ns: u64) {
        let budget_ns = &mut self.settings.budget_ns;
        *budget_ns = budget_ns.map(|left| left.saturating_sub(time_ns));
    }
}

/// A search may have been broken off before it had a case.
pub(crate) fn is_search(run: &RunRecord) -> bool {
    run.cases.iter().any(|case| case.origin.is_search())
        || run.arguments.iter().skip(1).any(|it| it == "advise")
}
