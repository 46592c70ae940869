//! What a reader of the figures must know.

use std::collections::HashSet;

use model::{Durability, RunRecord, RunStatus};

use crate::counted;
use crate::estimate::CONFIDENCE;
use crate::report::CaseReport;

pub(crate) fn warnings(run: &RunRecord, cases: &[CaseReport]) -> Vec<String> {
    let mut warnings = Vec::new();
    match run.status {
        RunStatus::Complete => {}
        RunStatus::Limited => warnings.push("A limit on time or bytes ended the run early.".to_owned()),
        RunStatus::Interrupted => {
            warnings.push("The run was interrupted; --resume goes on with it.".to_owned());
        }
        RunStatus::Running | RunStatus::Failed => {
            warnings.push("The run did not come to its end; --resume goes on with it.".to_owned());
        }
    }
    let cases = distinct(cases);
    let estimates = || cases.iter().filter_map(|case| case.estimate.as_ref());
    if let Some(lowest) = estimates().min_by(|a, b| a.confidence.total_cmp(&b.confidence))
        && lowest.confidence < CONFIDENCE
    {
        warnings.push(format!(
            "As few as {}: their intervals are the range seen and hold the median with {:.0} % confidence, not 95 %.",
            counted(lowest.samples, "sample"),
            lowest.confidence * 100.0
        ));
    }
    let good = |case: &&CaseReport| case.record.samples.iter().filter(|sample| sample.outcome.is_ok()).count();
    let (all, disturbed): (usize, usize) =
        (cases.iter().map(good).sum(), estimates().map(|estimate| estimate.disturbed).sum());
    if disturbed > 0 {
        warnings.push(format!(
            "{disturbed} of {} were disturbed and are in no figure, unless a case has no other.",
            counted(all, "sample")
        ));
    }
    let only_disturbed = estimates().filter(|estimate| estimate.only_disturbed).count();
    if only_disturbed > 0 {
        warnings.push(format!(
            "{} with nothing but disturbed samples, marked ~ and not ranked.",
            counted(only_disturbed, "case")
        ));
    }
    let cut = estimates().filter(|estimate| estimate.cut > 0).count();
    if cut > 0 {
        warnings.push(format!(
            "{} whose records the budget cut short: what was written is in brackets, and they are not ranked.",
            counted(cut, "case")
        ));
    }
    let in_memory = matches!(run.environment.filesystem.kind.as_str(), "tmpfs" | "ramfs" | "devtmpfs");
    if in_memory && cases.iter().any(|case| case.record.contract.durability == Durability::Durable) {
        let kind = &run.environment.filesystem.kind;
        warnings.push(format!(
            "{kind} keeps nothing over a loss of power: 'durable' says only that it was synced."
        ));
    }
    if let Some(governor) = &run.environment.cpu.governor
        && governor != "performance"
    {
        warnings
            .push(format!("The CPU frequency governor is '{governor}': clocks may change between samples."));
    }
    warnings
}

/// Each case once: it may stand in several tables.
fn distinct(cases: &[CaseReport]) -> Vec<&CaseReport> {
    let mut seen = HashSet::new();
    cases.iter().filter(|case| seen.insert(case.record.case.as_str())).collect()
}
