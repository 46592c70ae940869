//! For spreadsheets and data frames: one row per sample.

use writebench_model::{Latency, Sample};
use writebench_stats::as_f64;

use crate::numbers::case::CaseReport;
use crate::numbers::over_time::{Fall, SampleCourse};
use crate::numbers::reached::Reached;
use crate::sentences::report::Report;

/// A column that identifies the case of a row.
type OfCase = (&'static str, fn(&Report, &CaseReport) -> String);

const IDENTITY: &[OfCase] = &[
    ("run_id", |report, _| report.run.id.clone()),
    ("target", |_, case| case.record.target.clone()),
    ("filesystem", |report, case| {
        text(case.target(&report.run).map(|target| target.environment.filesystem.kind.clone()))
    }),
    ("suite", |_, case| case.record.origin.suite().to_owned()),
    ("section", |_, case| case.record.origin.section().to_owned()),
    ("label", |_, case| text(case.record.label.clone())),
    ("case", |_, case| case.record.case.to_string()),
    ("method", |_, case| case.record.case.method().to_owned()),
    ("content", |_, case| case.record.contract.content.to_string()),
    ("contract_bytes", |_, case| case.record.contract.bytes.to_string()),
    ("files", |_, case| case.record.contract.files.to_string()),
    ("start", |_, case| case.record.contract.start.to_string()),
    ("source", |_, case| case.record.contract.source.to_string()),
    ("memory", |_, case| case.record.contract.memory.to_string()),
    ("durability", |_, case| case.record.contract.durability.to_string()),
    ("durable_every_bytes", |_, case| text(case.record.contract.durable_every_bytes)),
];

/// A sample with its throughput.
struct Line<'r> {
    sample: &'r Sample,
    limit: Option<Reached>,
    course: Option<SampleCourse>,
}

type OfSample = (&'static str, fn(&Line<'_>) -> String);

const COLUMNS: &[OfSample] = &[
    ("round", |it| it.sample.round.to_string()),
    ("turn", |it| text(it.sample.turn)),
    ("outcome", |it| it.sample.outcome.name().to_owned()),
    ("reason", |it| text(it.sample.reason())),
    ("bytes", |it| it.sample.bytes.to_string()),
    ("total_ns", |it| it.sample.phases_ns.total().to_string()),
    ("prepare_ns", |it| it.sample.phases_ns.prepare.to_string()),
    ("open_ns", |it| it.sample.phases_ns.open.to_string()),
    ("write_ns", |it| it.sample.phases_ns.write.to_string()),
    ("sync_ns", |it| it.sample.phases_ns.sync.to_string()),
    ("close_ns", |it| it.sample.phases_ns.close.to_string()),
    ("user_cpu_ns", |it| it.sample.user_cpu_ns.to_string()),
    ("system_cpu_ns", |it| it.sample.system_cpu_ns.to_string()),
    ("page_faults", |it| it.sample.page_faults.to_string()),
    ("context_switches", |it| it.sample.context_switches.to_string()),
    ("device_bytes", |it| text(it.sample.device_bytes)),
    ("read_back", |it| text(it.sample.read_back.map(|it| it.extent))),
    ("read_back_bytes", |it| text(it.sample.read_back.map(|it| it.bytes))),
    ("read_back_from", |it| text(it.sample.read_back.and_then(|it| it.from))),
    ("probe_before_ns", |it| it.sample.probe_ns[0].to_string()),
    ("probe_after_ns", |it| it.sample.probe_ns[1].to_string()),
    ("steal_ns", |it| it.sample.steal_ns.to_string()),
    ("settle_ns", |it| it.sample.settle_ns.to_string()),
    ("available_memory_bytes", |it| text(it.sample.watch.available_memory_bytes)),
    ("dirty_bytes", |it| text(it.sample.watch.dirty_bytes)),
    ("writeback_bytes", |it| text(it.sample.watch.writeback_bytes)),
    ("throttled_ns", |it| text(it.sample.watch.throttled_ns)),
    ("thermal_throttles", |it| text(it.sample.watch.thermal_throttles)),
    ("given_back_bytes", |it| text(it.sample.watch.given_back_bytes)),
    ("disturbed", |it| text(it.sample.disturbed.as_ref())),
    ("latency_p50_ns", |it| it.latency(|it| it.p50_ns)),
    ("latency_p90_ns", |it| it.latency(|it| it.p90_ns)),
    ("latency_p99_ns", |it| it.latency(|it| it.p99_ns)),
    ("latency_p99_9_ns", |it| it.latency(|it| it.p99_9_ns)),
    ("latency_max_ns", |it| it.latency(|it| it.max_ns)),
    ("limit_kind", |it| text(it.limit.map(|it| it.kind))),
    ("limit_bytes_per_s", |it| text(it.limit.map(|it| it.bytes_per_s))),
    ("of_limit", |it| text(it.limit.map(|it| it.share))),
    ("over_time", |it| text(it.course.map(|it| it.course.name()))),
    ("burst_bytes_per_s", |it| it.fall(|it| it.bytes_per_s)),
    ("burst_ns", |it| it.fall(|it| it.until_ns)),
    ("then_bytes_per_s", |it| it.fall(|it| it.then_bytes_per_s)),
];

/// The whole report, with a row of headings. RFC 4180.
///
/// # Errors
/// Never in practice: the report is written to memory.
pub(super) fn render(report: &Report) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let identity = IDENTITY.iter().map(|(heading, _)| heading);
    writer.write_record(identity.chain(COLUMNS.iter().map(|(heading, _)| heading)))?;
    for case in &report.cases {
        for sample in &case.record.samples {
            let line = Line::for_sample(report, case, sample);
            let identity = IDENTITY.iter().map(|(_, cell)| cell(report, case));
            writer.write_record(cells(identity.chain(COLUMNS.iter().map(|(_, cell)| cell(&line)))))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A row for a spreadsheet, which would take text with one of these first characters for a formula: such text
/// gets an apostrophe in front. Numbers are unchanged.
pub(super) fn cells(row: impl IntoIterator<Item = String>) -> impl Iterator<Item = String> {
    let is_formula = |text: &str| {
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !text.parse().is_ok_and(f64::is_finite)
    };
    row.into_iter().map(move |text| if is_formula(&text) { format!("'{text}") } else { text })
}

/// The text of a value, empty if there is none.
fn text(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

impl<'r> Line<'r> {
    fn for_sample(report: &Report, case: &CaseReport, sample: &'r Sample) -> Self {
        let throughput = as_f64(sample.bytes) * 1e9 / as_f64(sample.phases_ns.total().max(1));
        let limits = case.target(&report.run).map_or(&[][..], |target| &target.limits);
        let limit = Reached::for_case(&case.record, throughput, limits).filter(|_| sample.outcome.is_ok());
        Self { sample, limit, course: SampleCourse::from_sample(sample) }
    }

    fn latency(&self, value: fn(&Latency) -> u64) -> String {
        text(self.sample.latency.as_deref().map(value))
    }

    fn fall(&self, value: fn(&Fall) -> f64) -> String {
        text(self.course.and_then(|it| it.fall).map(|fall| format!("{:.0}", value(&fall))))
    }
}
