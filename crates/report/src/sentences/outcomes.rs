use crate::numbers::CaseReport;
use crate::sentences::words::counted;

pub(crate) fn case_sentence(case: &CaseReport) -> String {
    let samples = case.estimate.as_ref().map(|estimate| counted(estimate.samples, "good sample"));
    let good = samples.map_or(String::new(), |samples| format!(" (after {samples})"));
    format!("{}: {}{good}", case.name, case.cause().unwrap_or_default())
}

pub(crate) fn failed(cases: &[&CaseReport]) -> Option<String> {
    let is_fault = |case: &CaseReport| case.outcome().is_some_and(writebench_model::Outcome::is_fault);
    let failed: Vec<&CaseReport> = cases.iter().copied().filter(|case| is_fault(case)).collect();
    let first = failed.first()?;
    let sentence = case_sentence(first);
    let more = if failed.len() > 1 { format!(", and {} more", failed.len() - 1) } else { String::new() };
    Some(format!("{} of {} failed: {sentence}{more}.", failed.len(), counted(cases.len(), "case")))
}

pub(crate) fn lost_at_write_back(cases: &[&CaseReport]) -> Option<String> {
    let samples = cases.iter().flat_map(|case| &case.record.samples);
    let failures: Vec<_> = samples.filter_map(|sample| sample.write_back.as_ref()).collect();
    let first = failures.first()?;
    let found = counted(failures.len(), "sample");
    Some(format!("Unsynced data was lost at write-back during {found}: {first}."))
}

/// Samples that lost their worker in continued cases.
pub(crate) fn went_on(cases: &[&CaseReport]) -> Option<String> {
    let lost = |case: &&CaseReport| -> Vec<String> {
        let samples = case.record.samples.iter().filter(|sample| case.is_ok() && sample.outcome.is_accident());
        samples.filter_map(|sample| Some(format!("{}: {}", case.name, sample.reason()?))).collect()
    };
    let all: Vec<String> = cases.iter().flat_map(lost).collect();
    let first = all.first()?;
    let whose = if all.len() == 1 { "its worker, its case" } else { "their workers, their cases" };
    Some(format!("{} lost {whose} continued: {first}.", counted(all.len(), "sample")))
}
