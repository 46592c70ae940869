use writebench_model::{Case, CaseRecord, Settings};
use writebench_runner::{EachCase, Schedule};

/// Each case is measured on every target.
pub(crate) struct ScheduledCases {
    pub cases: Vec<Case>,
    /// Groups of rows for sizes or stages of which the run may skip some. A group is recorded before its first sample.
    pub deferred: Vec<Vec<CaseRecord>>,
    pub schedule: Box<dyn Schedule>,
}

impl ScheduledCases {
    pub(crate) fn in_rounds(cases: Vec<Case>, settings: &Settings) -> Self {
        Self { cases, deferred: Vec::new(), schedule: Box::new(EachCase::for_settings(settings)) }
    }
}
