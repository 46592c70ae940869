//! For spreadsheets and data frames: one row per sample.

use writebench_model::{Latency, Sample};

use crate::numbers::over_time::{Fall, SampleCourse};
use crate::numbers::reached::Reached;
use crate::sentences::report::{CaseReport, Report};

/// What says which case a row is of.
pub(super) const IDENTITY: &[&str] = &[
    "run_id",
    "target",
    "filesystem",
    "suite",
    "section",
    "label",
    "case",
    "method",
    "content",
    "contract_bytes",
    "files",
    "start",
    "source",
    "durability",
    "durable_every_bytes",
];

const HEADINGS: &[&str] = &[
    "round",
    "outcome",
    "reason",
    "bytes",
    "total_ns",
    "prepare_ns",
    "open_ns",
    "write_ns",
    "sync_ns",
    "close_ns",
    "user_cpu_ns",
    "system_cpu_ns",
    "page_faults",
    "context_switches",
    "device_bytes",
    "read_back",
    "read_back_bytes",
    "read_back_from",
    "probe_before_ns",
    "probe_after_ns",
    "steal_ns",
    "settle_ns",
    "available_memory_bytes",
    "dirty_bytes",
    "writeback_bytes",
    "throttled_ns",
    "thermal_throttles",
    "disturbed",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_max_ns",
    "limit_kind",
    "limit_bytes_per_s",
    "of_limit",
    "over_time",
    "burst_bytes_per_s",
    "burst_ns",
    "then_bytes_per_s",
];

/// The whole report, with a row of headings. RFC 4180.
///
/// # Errors
/// Never in practice: it is written to memory.
pub(super) fn render(report: &Report) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(IDENTITY.iter().chain(HEADINGS))?;
    for case in &report.cases {
        for sample in &case.record.samples {
            writer.write_record(cells(record(report, case, sample)))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A row for a spreadsheet, which takes text that begins with one of these signs for a formula: such text gets an
/// apostrophe in front. Numbers stay numbers.
pub(super) fn cells(row: Vec<String>) -> impl Iterator<Item = String> {
    let is_formula = |text: &str| {
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !text.parse().is_ok_and(f64::is_finite)
    };
    row.into_iter().map(move |text| if is_formula(&text) { format!("'{text}") } else { text })
}

/// The cells of [`IDENTITY`].
pub(super) fn identity(report: &Report, case: &CaseReport) -> Vec<String> {
    let record = &case.record;
    let contract = &record.contract;
    let kind = case.target(&report.run).map(|target| target.environment.filesystem.kind.clone());
    vec![
        report.run.id.clone(),
        record.target.clone(),
        kind.unwrap_or_default(),
        record.origin.suite().to_owned(),
        record.origin.section().to_owned(),
        record.label.clone().unwrap_or_default(),
        record.case.to_string(),
        record.case.method().to_owned(),
        contract.content.to_string(),
        contract.bytes.to_string(),
        contract.files.to_string(),
        contract.start.to_string(),
        contract.source.to_string(),
        contract.durability.to_string(),
        contract.durable_every_bytes.map_or(String::new(), |bytes| bytes.to_string()),
    ]
}

fn record(report: &Report, case: &CaseReport, sample: &Sample) -> Vec<String> {
    let record = &case.record;
    let phases = &sample.phases_ns;
    let optional = |value: Option<String>| value.unwrap_or_default();
    let number = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    let latency =
        |value: fn(&Latency) -> u64| sample.latency.as_ref().map_or(String::new(), |it| value(it).to_string());
    let throughput = as_f64(sample.bytes) * 1e9 / as_f64(phases.total().max(1));
    let target = case.target(&report.run);
    let limits = target.map_or(&[][..], |target| &target.limits);
    let limit = Reached::of(record, throughput, limits).filter(|_| sample.outcome.is_ok());
    let course = SampleCourse::of(sample);
    let fall = |value: fn(&Fall) -> f64| {
        course.and_then(|it| it.fall).map_or(String::new(), |fall| format!("{:.0}", value(&fall)))
    };
    let mut row = identity(report, case);
    row.extend([
        sample.round.to_string(),
        sample.outcome.name().to_owned(),
        optional(sample.outcome.reason()),
        sample.bytes.to_string(),
        phases.total().to_string(),
        phases.prepare.to_string(),
        phases.open.to_string(),
        phases.write.to_string(),
        phases.sync.to_string(),
        phases.close.to_string(),
        sample.user_cpu_ns.to_string(),
        sample.system_cpu_ns.to_string(),
        sample.page_faults.to_string(),
        sample.context_switches.to_string(),
        optional(sample.device_bytes.map(|bytes| bytes.to_string())),
        optional(sample.read_back.map(|it| it.extent.to_string())),
        number(sample.read_back.map(|it| it.bytes)),
        optional(sample.read_back.and_then(|it| it.from).map(|from| from.to_string())),
        sample.probe_ns[0].to_string(),
        sample.probe_ns[1].to_string(),
        sample.steal_ns.to_string(),
        sample.settle_ns.to_string(),
        number(sample.watch.available_memory_bytes),
        number(sample.watch.dirty_bytes),
        number(sample.watch.writeback_bytes),
        number(sample.watch.throttled_ns),
        number(sample.watch.thermal_throttles),
        optional(sample.disturbed.clone()),
        latency(|it| it.p50_ns),
        latency(|it| it.p90_ns),
        latency(|it| it.p99_ns),
        latency(|it| it.p99_9_ns),
        latency(|it| it.max_ns),
        limit.map_or(String::new(), |it| it.kind.to_string()),
        limit.map_or(String::new(), |it| it.bytes_per_s.to_string()),
        limit.map_or(String::new(), |it| format!("{:.4}", it.share)),
        course.map_or(String::new(), |it| it.course.name().to_owned()),
        fall(|it| it.bytes_per_s),
        fall(|it| it.until_ns),
        fall(|it| it.then_bytes_per_s),
    ]);
    row
}

#[expect(clippy::cast_precision_loss, reason = "figures have three digits, f64 fifteen")]
fn as_f64(value: u64) -> f64 {
    value as f64
}
