use serde::Serialize;
use writebench_model::Outcome;
use writebench_stats::{distinct, grouped};

use crate::numbers::case::CaseReport;
use crate::numbers::obstacle::reason;

/// Cases, or candidates of a search, with the same outcome and reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedCases {
    pub outcome: &'static str,
    /// The reason without the offset in the file, which differs between cases.
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
    let reasons = grouped(failed, |(_, outcome)| {
        (outcome.name(), reason(outcome).unwrap_or_default())
    });
    let mut failures: Vec<FailedCases> = reasons
        .into_iter()
        .map(|((outcome, reason), failed)| FailedCases {
            outcome,
            reason,
            cases: names(&failed),
            is_fault: failed[0].1.is_fault(),
        })
        .collect();
    failures.sort_by_key(|failed| (!failed.is_fault, std::cmp::Reverse(failed.cases.len())));
    failures
}

fn names(failed: &[(&CaseReport, &Outcome)]) -> Vec<String> {
    let names = failed.iter().map(|(case, _)| candidate(case));
    distinct(names, |name| *name)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// The name of what failed. In a search, files have several sizes, and a candidate has one label for all of them.
pub(crate) fn candidate(case: &CaseReport) -> &str {
    match &case.record.label {
        Some(label) if case.record.origin.is_search() => label,
        _ => &case.name,
    }
}
