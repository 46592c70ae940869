//! For programs. `docs/json.md` describes the document; an incompatible change raises [`SCHEMA`].

use serde::Serialize;
use writebench_model::{CaseRecord, MissingTarget, RunRecord, TargetRecord};

use crate::numbers::{CaseReport, Estimate};
use crate::sentences::finding::Finding;
use crate::sentences::{Advice, Report};

/// The version of the document's form.
pub(crate) const SCHEMA: u32 = 6;
/// The oldest schema whose samples are the same.
pub(crate) const OLDEST_SCHEMA: u32 = 5;

#[derive(Serialize)]
struct Document<'r> {
    schema: u32,
    run: Run<'r>,
    targets: &'r [TargetRecord],
    missing: &'r [MissingTarget],
    cases: Vec<Case<'r>>,
    advice: Option<&'r Advice>,
    findings: &'r [Finding],
    conclusions: &'r [String],
    warnings: &'r [String],
}

#[derive(Serialize)]
pub(super) struct Run<'r> {
    number: Option<i64>,
    seed: u64,
    #[serde(flatten)]
    run: &'r RunRecord,
}

#[derive(Serialize)]
struct Case<'r> {
    #[serde(flatten)]
    record: &'r CaseRecord,
    outcome: &'r str,
    reason: Option<&'r str>,
    estimate: Option<&'r Estimate>,
}

/// The whole report.
///
/// # Errors
/// Never in practice: every key is a text.
pub(crate) fn render(report: &Report) -> Result<String, serde_json::Error> {
    let run = &report.run;
    let document = Document {
        schema: SCHEMA,
        run: run_of(report.number, run),
        targets: &run.targets,
        missing: &run.missing,
        cases: report.cases.iter().map(case).collect(),
        advice: report.advice.as_ref(),
        findings: &report.findings,
        conclusions: &report.conclusions,
        warnings: &report.warnings,
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

pub(super) fn run_of(number: Option<i64>, run: &RunRecord) -> Run<'_> {
    Run { number, seed: run.settings.seed, run }
}

fn case(case: &CaseReport) -> Case<'_> {
    Case {
        record: &case.record,
        outcome: case.outcome_name(),
        reason: case.reason.as_deref(),
        estimate: case.estimate.as_ref(),
    }
}
