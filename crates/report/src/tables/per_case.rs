use writebench_model::{Axis, Durability};
use writebench_stats::Interval;

use crate::numbers::{CaseReport, Estimate, PHASES, PhaseNs, by_rank};
use crate::sentences::metric::{ELAPSED, FILES, Metric, PAGES, RECORDS, THROUGHPUT, TIMES};
use crate::sentences::{
    GIGABYTES_PER_S, MILLISECONDS, NUMBER, microseconds, milliseconds, or_nothing, range,
    shared_values, verdict_mark, without_values,
};
use crate::tables::table::{self, Bars, CASE, INTERVAL, Table, limit_cell};

type MeasuredCase<'c> = (&'c CaseReport, &'c Estimate);

type Cells<'c> = table::Cells<'c, MeasuredCase<'c>>;

fn estimate_column<'c>(
    group: &str,
    heading: &str,
    rank: u8,
    cell: impl Fn(&Estimate) -> String + 'c,
) -> Cells<'c> {
    Cells::figure(group, heading, rank, move |(_, estimate)| cell(estimate))
}

fn value<'c>(metric: &'c Metric, group: &str) -> Cells<'c> {
    estimate_column(group, metric.unit, 0, |estimate| metric.value(estimate))
}

fn interval(metric: &Metric) -> Cells<'_> {
    estimate_column("", INTERVAL, 0, |estimate| metric.interval(estimate))
}

fn extremes(metric: &Metric, rank: u8) -> Cells<'_> {
    estimate_column("", "min – max", rank, |estimate| {
        metric.extremes(estimate)
    })
}

fn samples<'c>() -> Cells<'c> {
    estimate_column("", table::SAMPLES, 0, |estimate| {
        estimate.samples.to_string()
    })
}

fn phases_and_cpu<'c>(rank: u8) -> Vec<Cells<'c>> {
    let mut columns: Vec<Cells<'c>> = PHASES
        .into_iter()
        .map(|(name, ns)| phase(name, ns, rank))
        .collect();
    columns.extend(cpu_and_samples(rank + 1));
    columns
}

fn phase<'c>(name: &str, ns: PhaseNs, rank: u8) -> Cells<'c> {
    let group = if name == PHASES[0].0 { "ms:" } else { "" };
    estimate_column(group, name, rank, move |estimate| {
        milliseconds(ns(&estimate.phases_ns))
    })
}

fn cpu_and_samples<'c>(rank: u8) -> [Cells<'c>; 3] {
    [
        estimate_column("CPU ms:", "user", rank, |estimate| {
            MILLISECONDS.text(estimate.user_cpu_ns.value)
        }),
        estimate_column("", "system", rank, |estimate| {
            MILLISECONDS.text(estimate.system_cpu_ns.value)
        }),
        samples(),
    ]
}

fn limit<'c>(rank: u8) -> Cells<'c> {
    estimate_column("of", "limit", rank, |estimate| limit_cell(Some(estimate))).if_any()
}

fn stability<'c>(rank: u8) -> Cells<'c> {
    estimate_column("over", "time", rank, |estimate| {
        or_nothing(estimate.over_time, |over_time| {
            over_time.stability.name().to_owned()
        })
    })
    .if_any()
}

pub(super) fn phases(title: &str, cases: &[&CaseReport]) -> Table {
    let main = Metric::files_or(cases, &THROUGHPUT);
    let mut columns = vec![value(main, "total"), interval(main)];
    if main.unit != THROUGHPUT.unit {
        columns.push(value(&THROUGHPUT, ""));
    }
    if cases
        .iter()
        .any(|case| case.record.workload.durable_every_bytes.is_some())
    {
        columns.push(Cells::figure(
            "total",
            unit_of_records(cases),
            0,
            |(case, estimate): &MeasuredCase<'_>| {
                let every_bytes = case.record.workload.durable_every_bytes;
                or_nothing(every_bytes, |_| RECORDS.value(estimate))
            },
        ));
    }
    columns.extend([
        limit(1),
        stability(3),
        extremes(main, 5),
        estimate_column("write alone", "GB/s", 3, |estimate| {
            GIGABYTES_PER_S.text(estimate.write_alone_bytes_per_s.value)
        }),
        estimate_column("", INTERVAL, 6, |estimate| {
            range(&estimate.write_alone_bytes_per_s, &GIGABYTES_PER_S)
        }),
    ]);
    columns.extend(phases_and_cpu(4));
    table_with_bars(title, cases, columns, (2, main))
}

fn unit_of_records(cases: &[&CaseReport]) -> &'static str {
    let durable = cases
        .iter()
        .find(|case| case.record.workload.durable_every_bytes.is_some());
    durable.map_or(RECORDS.unit, |case| {
        Metric::of_records(&case.record.workload).unit
    })
}

/// A percentile of the calls' durations, by its index in [`LatencyEstimate::percentiles`].
///
/// [`LatencyEstimate::percentiles`]: crate::numbers::LatencyEstimate::percentiles
fn percentile<'c>(group: &str, index: usize) -> Cells<'c> {
    let name = ["p50", "p90", "p99", "p99.9"][index];
    estimate_column(group, name, 2, move |estimate| {
        let known = estimate
            .latency
            .and_then(|latency| latency.percentiles()[index].1);
        or_nothing(known, microseconds)
    })
}

pub(super) fn records(title: &str, cases: &[&CaseReport]) -> Table {
    let rate = Metric::files_or_records(cases);
    let durations = match rate.unit {
        unit if unit == FILES.unit => "µs/file:",
        unit if unit == PAGES.unit => "µs/commit:",
        _ => "µs/call:",
    };
    let mut columns = vec![
        value(rate, "total"),
        interval(rate),
        value(&ELAPSED, ""),
        limit(3),
        stability(5),
        percentile(durations, 0),
        percentile("", 1),
        percentile("", 2),
        percentile("", 3),
        estimate_column("", "max", 2, |estimate| {
            or_nothing(estimate.latency, |latency| microseconds(latency.max_ns))
        }),
    ];
    columns.extend(phases_and_cpu(5));
    table_with_bars(title, cases, columns, (1, rate))
}

/// The cases of one workload by their rank, with distances from the fastest.
pub(super) fn ranked(title: &str, cases: &[&CaseReport]) -> Table {
    let mut cases = cases.to_vec();
    cases.sort_by(|a, b| by_rank(a, b));
    let best = cases.first().copied().filter(|case| case.is_ranked());
    let mut columns = vec![
        value(&ELAPSED, "total"),
        Cells::figure("vs.", "fastest", 0, move |(case, _)| {
            or_nothing(best.filter(|_| case.is_ranked()), |best| {
                distance(best, case)
            })
        }),
        interval(&ELAPSED),
        extremes(&ELAPSED, 5),
        estimate_column("", "GB/s", 2, |estimate| {
            GIGABYTES_PER_S.text(estimate.throughput_bytes_per_s.value)
        }),
        estimate_column("", FILES.unit, 2, |estimate| FILES.value(estimate)).if_any(),
        limit(2),
        stability(4),
    ];
    columns.extend(cpu_and_samples(5));
    table_with_bars(title, &cases, columns, (1, &ELAPSED))
}

/// `+ 5.3 %`, with the mark of the verdict before it. There is no number from too few rounds.
fn distance(best: &CaseReport, case: &CaseReport) -> String {
    if best.name == case.name {
        return String::new();
    }
    let Some(ratio) = case.ratio_to(best).filter(Interval::is_sure) else {
        return "?".to_owned();
    };
    let percent = (case.time_ns() / best.time_ns() - 1.0) * 100.0;
    format!("{}+ {percent:.1} %", verdict_mark(ratio.verdict()))
}

/// Times by chunk size, without bars: times differ by decades, for which charts have logarithmic axes.
pub(super) fn cpu_times(title: &str, cases: &[&CaseReport]) -> Vec<Table> {
    TIMES
        .iter()
        .map(|time| times_by_chunk(title, cases, time))
        .collect()
}

fn times_by_chunk(title: &str, cases: &[&CaseReport], time: &Metric) -> Table {
    let columns = vec![
        Cells::text("buffer", 0, |(case, _): &MeasuredCase<'_>| {
            case.record.case.value(Axis::Chunk).unwrap_or_default()
        }),
        value(time, ""),
        interval(time),
        limit(0),
        extremes(time, 2),
        estimate_column("per call", "ns", 0, |estimate| {
            or_nothing(ns_per_call(estimate, time), |ns| NUMBER.text(ns))
        }),
        samples(),
        Cells::text(CASE, 1, |(case, _)| case.record.case.to_string()),
    ];
    let title = format!("{title}: {}", time.title);
    Table::with(title, &measured(cases), columns)
}

/// The time of each call that hands over a chunk.
fn ns_per_call(estimate: &Estimate, time: &Metric) -> Option<f64> {
    let calls = estimate.records_per_s.as_ref()?.value * estimate.total_ns.value / 1e9;
    (calls > 0.0).then_some((time.figure)(estimate)?.value / calls)
}

fn measured<'c>(cases: &[&'c CaseReport]) -> Vec<MeasuredCase<'c>> {
    cases
        .iter()
        .filter_map(|case| Some((*case, case.estimate.as_ref()?)))
        .collect()
}

/// Rows begin with labels, or else with names of cases. The bars show a metric, and have a rank as columns do.
fn table_with_bars<'c>(
    title: &str,
    cases: &[&'c CaseReport],
    mut columns: Vec<Cells<'c>>,
    (rank, metric): (u8, &Metric),
) -> Table {
    let has_labels = cases.iter().any(|case| case.record.label.is_some());
    let names: Vec<&str> = cases.iter().map(|case| case.record.case.name()).collect();
    let shared = if has_labels || names.len() < 2 {
        Vec::new()
    } else {
        shared_values(&names)
    };
    // Shared values are above the table.
    let mut title_parts = vec![title];
    title_parts.extend(shared.iter().copied());
    if cases.iter().all(|case| is_in_page_cache(case)) {
        title_parts.push("in the page cache");
    }
    let title = title_parts.join(" · ");
    let name = move |(case, _): &MeasuredCase<'_>| without_values(case.record.case.name(), &shared);
    if has_labels {
        columns.insert(0, Cells::text("", 0, |(case, _)| label_or_name(case)));
        // The label's case is last, because it is long.
        columns.push(Cells::text(CASE, 9, name));
    } else {
        columns.insert(0, Cells::text(CASE, 0, name));
    }
    let rows = measured(cases);
    Table {
        bars: Bars::for_rows(&rows, rank, metric),
        ..Table::with(title, &rows, columns)
    }
}

/// The case's label. Some cases of a search have none, or had an empty one in earlier versions.
fn label_or_name(case: &CaseReport) -> String {
    case.record
        .label
        .clone()
        .filter(|label| !label.is_empty())
        .unwrap_or_else(|| case.record.case.to_string())
}

fn is_in_page_cache(case: &CaseReport) -> bool {
    let workload = &case.record.workload;
    workload.durability == Durability::Cached && workload.content.has_own_bytes()
}
