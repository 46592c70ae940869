//! The outcomes of cases that did not end well.

use crate::numbers::CaseReport;
use crate::sentences::words::counted;

/// The outcome of a case that did not end well, with its reason.
pub(crate) fn case_sentence(case: &CaseReport) -> String {
    let good = case
        .estimate
        .as_ref()
        .map_or(String::new(), |estimate| format!(" (after {})", counted(estimate.samples, "good sample")));
    format!("{}: {}{good}", case.name, case.cause().unwrap_or_default())
}

/// How many cases failed, and the first of them with its cause.
pub(crate) fn failed(cases: &[&CaseReport]) -> Option<String> {
    let is_fault = |case: &CaseReport| case.outcome().is_some_and(writebench_model::Outcome::is_fault);
    let failed: Vec<&CaseReport> = cases.iter().copied().filter(|case| is_fault(case)).collect();
    let first = failed.first()?;
    let sentence = case_sentence(first);
    let more = if failed.len() > 1 { format!(", and {} more", failed.len() - 1) } else { String::new() };
    Some(format!("{} of {} failed: {sentence}{more}.", failed.len(), counted(cases.len(), "case")))
}

/// How many samples found that data without a sync was lost, and the first error.
pub(crate) fn lost_at_write_back(cases: &[&CaseReport]) -> Option<String> {
    let samples = cases.iter().flat_map(|case| &case.record.samples);
    let failures: Vec<_> = samples.filter_map(|sample| sample.write_back.as_ref()).collect();
    let first = failures.first()?;
    let found = counted(failures.len(), "sample");
    Some(format!("Data that no sync had confirmed was lost at write-back, beside {found}: {first}."))
}

/// How many samples lost their worker though their cases went on, and the first of them with its cause.
pub(crate) fn went_on(cases: &[&CaseReport]) -> Option<String> {
    let lost = |case: &&CaseReport| -> Vec<String> {
        let samples = case.record.samples.iter().filter(|sample| case.is_ok() && sample.outcome.is_accident());
        samples.filter_map(|sample| Some(format!("{}: {}", case.name, sample.reason()?))).collect()
    };
    let all: Vec<String> = cases.iter().flat_map(lost).collect();
    let first = all.first()?;
    let whose = if all.len() == 1 { "its worker, and its case" } else { "their workers, and their cases" };
    Some(format!("{} lost {whose} went on: {first}.", counted(all.len(), "sample")))
}
