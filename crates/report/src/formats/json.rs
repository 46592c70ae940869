//! For programs. `docs/json.md` describes the document; a change that a reader could stumble over
//! raises [`SCHEMA`].

use serde::Serialize;
use writebench_model::{
    Contract, Latency, MissingTarget, Outcome, PhasesNs, ReadBack, RunRecord, Sample, Settings, TargetRecord,
    Timeline, Watch,
};

use crate::numbers::case::CaseReport;
use crate::numbers::estimate::Estimate;
use crate::sentences::advice::Advice;
use crate::sentences::report::Report;

/// The version of the document's form.
pub const SCHEMA: u32 = 3;

#[derive(Serialize)]
struct Document<'r> {
    schema: u32,
    run: Run<'r>,
    targets: &'r [TargetRecord],
    missing: &'r [MissingTarget],
    cases: Vec<Case<'r>>,
    advice: Option<&'r Advice>,
    conclusions: &'r [String],
    warnings: &'r [String],
}

#[derive(Serialize)]
pub(super) struct Run<'r> {
    id: &'r str,
    label: Option<&'r str>,
    number: Option<i64>,
    status: &'r str,
    seed: u64,
    started: &'r str,
    version: &'r str,
    arguments: &'r [String],
    settings: &'r Settings,
}

#[derive(Serialize)]
struct Case<'r> {
    id: &'r str,
    target: &'r str,
    suite: &'r str,
    section: &'r str,
    label: Option<&'r str>,
    method: &'r str,
    axes: &'r std::collections::BTreeMap<String, String>,
    contract: &'r Contract,
    outcome: &'r str,
    reason: Option<&'r str>,
    samples: Vec<SampleRow<'r>>,
    estimate: Option<&'r Estimate>,
}

#[derive(Serialize)]
pub(super) struct SampleRow<'r> {
    outcome: &'r str,
    reason: Option<String>,
    cause: Option<&'r Outcome>,
    round: u32,
    phases_ns: &'r PhasesNs,
    total_ns: u64,
    bytes: u64,
    user_cpu_ns: u64,
    system_cpu_ns: u64,
    page_faults: u64,
    context_switches: u64,
    device_bytes: Option<u64>,
    read_back: Option<&'r ReadBack>,
    probe_ns: [u64; 2],
    steal_ns: u64,
    settle_ns: u64,
    disturbed: Option<&'r str>,
    latency: Option<&'r Latency>,
    watch: &'r Watch,
    timeline: Option<&'r Timeline>,
}

/// The whole report.
///
/// # Errors
/// Never in practice: every key is a text.
pub fn render(report: &Report) -> Result<String, serde_json::Error> {
    let run = &report.run;
    let document = Document {
        schema: SCHEMA,
        run: run_of(report.number, run),
        targets: &run.targets,
        missing: &run.missing,
        cases: report.cases.iter().map(case).collect(),
        advice: report.advice.as_ref(),
        conclusions: &report.conclusions,
        warnings: &report.warnings,
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

pub(super) fn run_of(number: Option<i64>, run: &RunRecord) -> Run<'_> {
    Run {
        id: &run.id,
        label: run.label.as_deref(),
        number,
        status: run.status.name(),
        seed: run.settings.seed,
        started: &run.started,
        version: &run.version,
        arguments: &run.arguments,
        settings: &run.settings,
    }
}

fn case(case: &CaseReport) -> Case<'_> {
    let record = &case.record;
    Case {
        id: &record.case,
        target: &record.target,
        suite: &record.suite,
        section: &record.section,
        label: record.label.as_deref(),
        method: &record.method,
        axes: &record.axes,
        contract: &record.contract,
        outcome: case.outcome_name(),
        reason: case.reason.as_deref(),
        samples: record.samples.iter().map(sample).collect(),
        estimate: case.estimate.as_ref(),
    }
}

pub(super) fn sample(sample: &Sample) -> SampleRow<'_> {
    SampleRow {
        outcome: sample.outcome.name(),
        reason: sample.outcome.reason(),
        cause: Some(&sample.outcome).filter(|outcome| !outcome.is_ok()),
        round: sample.round,
        phases_ns: &sample.phases_ns,
        total_ns: sample.phases_ns.total(),
        bytes: sample.bytes,
        user_cpu_ns: sample.user_cpu_ns,
        system_cpu_ns: sample.system_cpu_ns,
        page_faults: sample.page_faults,
        context_switches: sample.context_switches,
        device_bytes: sample.device_bytes,
        read_back: sample.read_back.as_ref(),
        probe_ns: sample.probe_ns,
        steal_ns: sample.steal_ns,
        settle_ns: sample.settle_ns,
        disturbed: sample.disturbed.as_deref(),
        latency: sample.latency.as_deref(),
        watch: &sample.watch,
        timeline: sample.timeline.as_deref(),
    }
}
