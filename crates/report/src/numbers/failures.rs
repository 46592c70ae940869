use serde::Serialize;
use writebench_model::Outcome;
use writebench_stats::{distinct, grouped};

use crate::numbers::case::CaseReport;
use crate::numbers::obstacle::reason;

/// Cases, or candidates of a search, with the same outcome and reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedCases {
    pub outcome: &'static str,
    /// Without the offset in the file.
    pub reason: String,
    pub cases: Vec<String>,
    #[serde(skip)]
    pub(crate) is_fault: bool,
}

/// Faults first, then the most frequent.
pub(crate) fn failures(cases: &[CaseReport]) -> Vec<FailedCases> {
    let failed = cases
        .iter()
        .filter_map(|case| Some((case, case.outcome().filter(|outcome| !outcome.is_ok())?)));
    let of_reason = grouped(failed, |(_, outcome)| {
        (outcome.name(), reason(outcome).unwrap_or_default())
    });
    let group = |((outcome, reason), failed): (_, Vec<(&CaseReport, &Outcome)>)| FailedCases {
        outcome,
        reason,
        is_fault: failed[0].1.is_fault(),
        cases: distinct(failed.iter().map(|(case, _)| candidate(case)), |name| *name)
            .into_iter()
            .map(str::to_owned)
            .collect(),
    };
    let mut failures: Vec<FailedCases> = of_reason.into_iter().map(group).collect();
    failures.sort_by_key(|failed| (!failed.is_fault, std::cmp::Reverse(failed.cases.len())));
    failures
}

/// Files have several sizes in a search, where a candidate has one label.
pub(crate) fn candidate(case: &CaseReport) -> &str {
    let label = case
        .record
        .label
        .as_deref()
        .filter(|_| case.record.origin.is_search());
    label.unwrap_or(&case.name)
}
