//! `docs/reference/json.md` describes the document. An incompatible change raises [`SCHEMA`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use writebench_model::{CaseRecord, Goal};
use writebench_stats::{Interval, Verdict};

use super::head::{Run, Targets};
use crate::numbers::{CaseReport, Estimate, FailedCases, Figure, Gated, Required};
use crate::sentences::finding::{Comparison, Finding, Others, RatioToOther, Unanswered};
use crate::sentences::{Advice, Report};

pub(crate) const SCHEMA: u32 = 7;
/// The oldest schema that has the same samples, so that documents of it can be imported.
pub(crate) const OLDEST_SCHEMA: u32 = 5;

#[derive(Serialize)]
struct Document<'r> {
    schema: u32,
    run: Run<'r>,
    #[serde(flatten)]
    targets: Targets<'r>,
    cases: Vec<Case<'r>>,
    advice: &'r Option<Advice>,
    findings: Vec<FindingNumbers<'r>>,
    #[serde(skip_serializing_if = "<[Gated]>::is_empty")]
    gated: &'r [Gated],
    #[serde(skip_serializing_if = "<[Required]>::is_empty")]
    required: &'r [Required],
    failures: &'r [FailedCases],
    conclusions: &'r [String],
    warnings: &'r [String],
}

#[derive(Serialize)]
struct Case<'r> {
    #[serde(flatten)]
    record: &'r CaseRecord,
    outcome: &'r str,
    reason: &'r Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_durable: &'r Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_thread_share: Option<f64>,
    estimate: &'r Option<Estimate>,
}

/// A line of the first screen. The words of the case are those of its axes.
#[derive(Serialize)]
struct FindingNumbers<'r> {
    goal: &'r str,
    goal_name: Option<Goal>,
    case: &'r Option<String>,
    target: &'r Option<String>,
    unanswered: &'r Option<Unanswered>,
    /// The quantity that counts, by its name with its unit. It is missing if it has no value.
    #[serde(flatten)]
    figure: BTreeMap<&'static str, &'r Figure>,
    samples: usize,
    speed_ratio: Option<SpeedRatioTo<'r>>,
    plain_write: Option<Others>,
    limit_share: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'r [String],
}

#[derive(Serialize)]
struct SpeedRatioTo<'r> {
    to: OtherCase<'r>,
    #[serde(flatten)]
    ratio: Interval,
    rounds: usize,
    verdict: Verdict,
}

#[derive(Serialize)]
struct OtherCase<'r> {
    name: &'r str,
    target: &'r str,
}

pub(crate) fn render(report: &Report) -> String {
    let run = &report.run;
    let document = Document {
        schema: SCHEMA,
        run: Run::new(report.number, Cow::Borrowed(run)),
        targets: Targets::of(run),
        cases: report.cases.iter().map(Case::from).collect(),
        advice: &report.advice,
        findings: report.findings.iter().map(FindingNumbers::from).collect(),
        gated: &report.gated,
        required: &report.required,
        failures: &report.failures,
        conclusions: &report.conclusions,
        warnings: &report.warnings,
    };
    serde_json::to_string_pretty(&document).expect("every key is a text") + "\n"
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
            kernel_thread_share: record.kernel_share().map(|share| share.part),
            estimate,
        }
    }
}

impl<'r> From<&'r Finding> for FindingNumbers<'r> {
    fn from(finding: &'r Finding) -> Self {
        let figure = finding
            .measured
            .as_ref()
            .and_then(|measured| Some((measured.metric.key, measured.figure.as_ref()?)));
        let limit = finding
            .measured
            .as_ref()
            .and_then(|measured| measured.limit);
        let (speed_ratio, plain_write) = match &finding.comparison {
            Some(Comparison::Ratio(ratio)) => (Some(SpeedRatioTo::from(ratio)), None),
            Some(Comparison::OfPlainWrite { others, .. }) => (None, Some(*others)),
            None => (None, None),
        };
        Self {
            goal: &finding.goal,
            goal_name: finding.goal_name,
            case: &finding.case,
            target: &finding.target,
            unanswered: &finding.unanswered,
            figure: figure.into_iter().collect(),
            samples: finding.samples,
            speed_ratio,
            plain_write,
            limit_share: limit.map(|limit| limit.share),
            notes: &finding.notes,
        }
    }
}

impl<'r> From<&'r RatioToOther> for SpeedRatioTo<'r> {
    fn from(to: &'r RatioToOther) -> Self {
        Self {
            to: OtherCase {
                name: &to.case,
                target: &to.target,
            },
            ratio: to.ratio,
            rounds: to.ratio.count,
            // Ratios of times have the verdict, and a faster case has the lower time.
            verdict: to.ratio.inverse().verdict(),
        }
    }
}
