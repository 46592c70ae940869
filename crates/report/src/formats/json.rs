//! `docs/reference/json.md` describes the document. An incompatible change raises [`SCHEMA`].

use serde::Serialize;
use writebench_model::{CaseRecord, MissingTarget, RunRecord, TargetRecord};

use crate::numbers::{CaseReport, Estimate, FailedCases, Gated};
use crate::sentences::finding::Finding;
use crate::sentences::{Advice, Report};

pub(crate) const SCHEMA: u32 = 6;
/// The oldest schema that has the same samples, so that documents of it can be imported.
pub(crate) const OLDEST_SCHEMA: u32 = 5;

#[derive(Serialize)]
struct Document<'r> {
    schema: u32,
    run: Run<'r>,
    targets: &'r [TargetRecord],
    missing_targets: &'r [MissingTarget],
    cases: Vec<Case<'r>>,
    advice: &'r Option<Advice>,
    findings: &'r [Finding],
    #[serde(skip_serializing_if = "<[Gated]>::is_empty")]
    gated: &'r [Gated],
    failures: &'r [FailedCases],
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
    reason: &'r Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_durable: &'r Option<String>,
    estimate: &'r Option<Estimate>,
}

pub(crate) fn render(report: &Report) -> String {
    let run = &report.run;
    let document = Document {
        schema: SCHEMA,
        run: run_of(report.number, run),
        targets: &run.targets,
        missing_targets: &run.missing,
        cases: report.cases.iter().map(Case::from).collect(),
        advice: &report.advice,
        findings: &report.findings,
        gated: &report.gated,
        failures: &report.failures,
        conclusions: &report.conclusions,
        warnings: &report.warnings,
    };
    serde_json::to_string_pretty(&document).expect("every key is a text") + "\n"
}

pub(super) fn run_of(number: Option<i64>, run: &RunRecord) -> Run<'_> {
    Run {
        number,
        seed: run.settings.seed,
        run,
    }
}

impl<'r> From<&'r CaseReport> for Case<'r> {
    fn from(case: &'r CaseReport) -> Self {
        let CaseReport {
            record,
            reason,
            not_durable,
            estimate,
            ..
        } = case;
        Self {
            record,
            outcome: case.outcome_name(),
            reason,
            not_durable,
            estimate,
        }
    }
}
