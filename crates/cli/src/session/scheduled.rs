use writebench_model::{Case, CaseRecord, RunRecord};
use writebench_runner::{EachCase, GatedRounds, Schedule};

/// The cases of a run, each measured on every target, and the schedule of their samples.
pub(crate) struct ScheduledCases {
    pub cases: Vec<Case>,
    /// Groups of rows for sizes or stages of which the run may skip some. A group is recorded before its first sample.
    pub deferred: Vec<Vec<CaseRecord>>,
    pub schedule: Box<dyn Schedule>,
    /// The time ends the run, and the number of samples is not known before.
    pub is_timed: bool,
}

impl ScheduledCases {
    pub(crate) fn in_rounds(cases: Vec<Case>, run: &RunRecord) -> Self {
        let schedule: Box<dyn Schedule> =
            match GatedRounds::for_settings(&run.settings, run.targets.len()) {
                Some(gated) => Box::new(gated),
                None => Box::new(EachCase::for_settings(&run.settings)),
            };
        Self {
            cases,
            deferred: Vec::new(),
            schedule,
            is_timed: false,
        }
    }
}
