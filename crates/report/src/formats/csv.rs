//! A row per sample.

use writebench_model::{KernelThreads, Latency, Sample, TargetRecord};
use writebench_stats::as_f64;

use crate::numbers::{Burst, CaseReport, LimitShare, OverTime, has_percentile};
use crate::sentences::Report;

struct SampleRow<'r> {
    report: &'r Report,
    case: &'r CaseReport,
    sample: &'r Sample,
    target: Option<&'r TargetRecord>,
    limit: Option<LimitShare>,
    over_time: Option<OverTime>,
}

type Column = (&'static str, fn(&SampleRow<'_>) -> String);

const COLUMNS: &[Column] = &[
    ("run_id", |row| row.report.run.id.clone()),
    ("target", |row| row.case.record.target.clone()),
    ("filesystem", |row| {
        text(row.target.map(|target| &target.environment.filesystem.kind))
    }),
    ("suite", |row| row.case.record.origin.suite().to_owned()),
    ("section", |row| row.case.record.origin.section().to_owned()),
    ("label", |row| text(row.case.record.label.as_ref())),
    ("case", |row| row.case.record.case.to_string()),
    ("method", |row| row.case.record.case.method().to_owned()),
    ("content", |row| {
        row.case.record.workload.content.to_string()
    }),
    ("contract_bytes", |row| {
        row.case.record.workload.bytes.to_string()
    }),
    ("files", |row| row.case.record.workload.files.to_string()),
    ("initial_state", |row| {
        row.case.record.workload.start.to_string()
    }),
    ("source", |row| row.case.record.workload.source.to_string()),
    ("memory", |row| row.case.record.workload.memory.to_string()),
    ("zero_percent", |row| {
        row.case.record.workload.zero_percent.to_string()
    }),
    ("checksums", |row| {
        row.case.record.workload.checksums.to_string()
    }),
    ("durability", |row| {
        row.case.record.workload.durability.to_string()
    }),
    ("durable_every_bytes", |row| {
        text(row.case.record.workload.durable_every_bytes)
    }),
    ("round", |row| row.sample.round.to_string()),
    ("order", |row| text(row.sample.order)),
    ("outcome", |row| row.sample.outcome.name().to_owned()),
    ("reason", |row| text(row.sample.reason())),
    ("bytes", |row| row.sample.bytes.to_string()),
    ("total_ns", |row| row.sample.phases_ns.total().to_string()),
    ("prepare_ns", |row| row.sample.phases_ns.prepare.to_string()),
    ("open_ns", |row| row.sample.phases_ns.open.to_string()),
    ("write_ns", |row| row.sample.phases_ns.write.to_string()),
    ("sync_ns", |row| row.sample.phases_ns.sync.to_string()),
    ("close_ns", |row| row.sample.phases_ns.close.to_string()),
    ("user_cpu_ns", |row| row.sample.user_cpu_ns.to_string()),
    ("system_cpu_ns", |row| row.sample.system_cpu_ns.to_string()),
    ("page_faults", |row| row.sample.page_faults.to_string()),
    ("context_switches", |row| {
        row.sample.context_switches.to_string()
    }),
    ("device_bytes", |row| text(row.sample.device_bytes)),
    ("kernel_threads", |row| {
        row.kernel(|threads| u64::from(threads.count))
    }),
    ("kernel_threads_cpu_ns", |row| {
        row.kernel(|threads| threads.cpu_ns)
    }),
    ("all_threads_cpu_ns", |row| {
        row.kernel(|threads| threads.all_cpu_ns)
    }),
    ("kernel_threads_written_bytes", |row| {
        row.kernel(|threads| threads.written_bytes)
    }),
    ("all_threads_written_bytes", |row| {
        row.kernel(|threads| threads.all_written_bytes)
    }),
    ("read_back_extent", |row| {
        text(row.sample.read_back.map(|found| found.extent))
    }),
    ("read_back_bytes", |row| {
        text(row.sample.read_back.map(|found| found.bytes))
    }),
    ("read_back_from", |row| {
        text(row.sample.read_back.and_then(|found| found.from))
    }),
    ("probe_before_ns", |row| row.sample.probe_ns[0].to_string()),
    ("probe_after_ns", |row| row.sample.probe_ns[1].to_string()),
    ("steal_ns", |row| row.sample.steal_ns.to_string()),
    ("settle_ns", |row| row.sample.settle_ns.to_string()),
    ("available_memory_bytes", |row| {
        text(row.sample.system_state.available_memory_bytes)
    }),
    ("dirty_bytes", |row| {
        text(row.sample.system_state.dirty_bytes)
    }),
    ("writeback_bytes", |row| {
        text(row.sample.system_state.writeback_bytes)
    }),
    ("throttled_ns", |row| {
        text(row.sample.system_state.throttled_ns)
    }),
    ("thermal_throttles", |row| {
        text(row.sample.system_state.thermal_throttles)
    }),
    ("returned_memory_bytes", |row| {
        text(row.sample.system_state.returned_memory_bytes)
    }),
    ("disturbed_by", |row| text(row.sample.disturbed.as_ref())),
    ("latency_p50_ns", |row| {
        row.percentile(2, |latency| latency.p50_ns)
    }),
    ("latency_p90_ns", |row| {
        row.percentile(10, |latency| latency.p90_ns)
    }),
    ("latency_p99_ns", |row| {
        row.percentile(100, |latency| latency.p99_ns)
    }),
    ("latency_p99_9_ns", |row| {
        row.percentile(1000, |latency| latency.p99_9_ns)
    }),
    ("latency_max_ns", |row| {
        row.latency(|latency| latency.max_ns)
    }),
    ("limit_kind", |row| text(row.limit.map(|limit| limit.kind))),
    ("limit_bytes_per_s", |row| {
        text(row.limit.map(|limit| limit.bytes_per_s))
    }),
    ("limit_share", |row| {
        text(row.limit.map(|limit| limit.share))
    }),
    ("stability", |row| {
        text(row.over_time.map(|over_time| over_time.stability.name()))
    }),
    ("burst_bytes_per_s", |row| {
        row.burst(|burst| burst.bytes_per_s)
    }),
    ("burst_duration_ns", |row| {
        row.burst(|burst| burst.duration_ns)
    }),
    ("sustained_bytes_per_s", |row| {
        row.burst(|burst| burst.sustained_bytes_per_s)
    }),
];

/// The samples as CSV by RFC 4180, with headings.
pub(super) fn render(report: &Report) -> String {
    const IN_MEMORY: &str = "it is written to memory";
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record(COLUMNS.iter().map(|(heading, _)| heading))
        .expect(IN_MEMORY);
    for case in &report.cases {
        for sample in &case.record.samples {
            let row = SampleRow::for_sample(report, case, sample);
            writer
                .write_record(cells(COLUMNS.iter().map(|(_, cell)| cell(&row))))
                .expect(IN_MEMORY);
        }
    }
    let bytes = writer.into_inner().expect(IN_MEMORY);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The row with an apostrophe before each text that a spreadsheet would read as a formula.
pub(super) fn cells(row: impl IntoIterator<Item = String>) -> impl Iterator<Item = String> {
    row.into_iter().map(|text| {
        if is_formula(&text) {
            format!("'{text}")
        } else {
            text
        }
    })
}

/// Spreadsheets read text with one of these first characters as a formula, unless it is a number.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !text.parse().is_ok_and(f64::is_finite)
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

impl<'r> SampleRow<'r> {
    fn for_sample(report: &'r Report, case: &'r CaseReport, sample: &'r Sample) -> Self {
        let throughput = as_f64(sample.bytes) * 1e9 / as_f64(sample.phases_ns.total().max(1));
        let target = case.target(&report.run);
        let limits = target.map_or(&[][..], |target| &target.limits);
        let limit = LimitShare::for_case(&case.record, throughput, limits)
            .filter(|_| sample.outcome.is_ok());
        Self {
            report,
            case,
            sample,
            target,
            limit,
            over_time: OverTime::from_samples(&[sample]),
        }
    }

    fn latency(&self, value: fn(&Latency) -> u64) -> String {
        text(self.sample.latency.as_deref().map(value))
    }

    fn percentile(&self, in_calls: u64, value: fn(&Latency) -> u64) -> String {
        let latency = self.sample.latency.as_deref();
        let known = latency.filter(|latency| has_percentile(latency.count, in_calls));
        text(known.map(value))
    }

    fn kernel(&self, value: fn(&KernelThreads) -> u64) -> String {
        text(self.sample.kernel_threads.as_deref().map(value))
    }

    fn burst(&self, value: fn(&Burst) -> f64) -> String {
        text(
            self.over_time
                .and_then(|over_time| over_time.burst)
                .map(|burst| format!("{:.0}", value(&burst))),
        )
    }
}
