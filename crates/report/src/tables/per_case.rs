//! Tables with a row for each case.

use writebench_model::Durability;

use crate::numbers::case::{CaseReport, by_rank};
use crate::numbers::estimate::Estimate;
use crate::numbers::latency::LatencyEstimate;
use crate::sentences::number::{
    GIGABYTES_PER_S, MILLISECONDS, NUMBER, extremes, gigabytes_per_s, mark, microseconds, milliseconds,
    milliseconds_of, range, significant, verdict_mark,
};
use crate::tables::bars::Bars;
use crate::tables::table::{self, Table, limit_cell, or_nothing};

/// A case that is a row, and what its samples say.
type MeasuredCase<'c> = (&'c CaseReport, &'c Estimate);

type Cells<'c> = table::Cells<'c, MeasuredCase<'c>>;

fn figures<'c>(group: &str, heading: &str, rank: u8, cell: fn(&Estimate) -> String) -> Cells<'c> {
    Cells::figure(group, heading, rank, move |(_, estimate)| cell(estimate))
}

fn phases_and_cpu<'c>(rank: u8) -> Vec<Cells<'c>> {
    let mut columns = vec![
        figures("ms:", "prepare", rank, |it| milliseconds(it.phases_ns.prepare)),
        figures("", "open", rank, |it| milliseconds(it.phases_ns.open)),
        figures("", "write", rank, |it| milliseconds(it.phases_ns.write)),
        figures("", "sync", rank, |it| milliseconds(it.phases_ns.sync)),
        figures("", "close", rank, |it| milliseconds(it.phases_ns.close)),
    ];
    columns.extend(cpu_and_samples(rank + 1));
    columns
}

fn cpu_and_samples<'c>(rank: u8) -> [Cells<'c>; 3] {
    [
        figures("CPU ms:", "user", rank, |it| milliseconds(it.user_cpu_ns)),
        figures("", "system", rank, |it| milliseconds(it.system_cpu_ns)),
        figures("", table::SAMPLES, 0, |it| it.samples.to_string()),
    ]
}

fn total_throughput<'c>() -> Cells<'c> {
    figures("total", "GB/s", 0, |it| mark(it, gigabytes_per_s(it.throughput_bytes_per_s.value)))
}

/// The share of the hardware's limit, and whether throughput held (left out before it): columns
/// that appear if a case has them.
fn limit_and_course<'c>(cases: &[&'c CaseReport], rank: u8) -> Vec<Cells<'c>> {
    let any = |has: fn(&Estimate) -> bool| cases.iter().any(|case| case.estimate.as_ref().is_some_and(has));
    let mut columns = Vec::new();
    if any(|it| it.limit.is_some()) {
        columns.push(figures("of", "limit", rank, |it| limit_cell(Some(it))));
    }
    if any(|it| it.over_time.is_some()) {
        let course = |it: &Estimate| or_nothing(it.over_time, |it| it.course.name().to_owned());
        columns.push(figures("over", "time", rank + 2, course));
    }
    columns
}

/// Throughput and where the time went.
pub(super) fn phases(title: &str, cases: &[&CaseReport]) -> Table {
    let mut columns = vec![
        total_throughput(),
        figures("95 %", table::INTERVAL, 0, |it| range(&it.throughput_bytes_per_s, &GIGABYTES_PER_S)),
    ];
    if cases.iter().any(|case| case.record.contract.durable_every_bytes.is_some()) {
        columns.push(Cells::figure("total", "records/s", 0, |(case, estimate): &MeasuredCase<'_>| {
            let per_s = estimate.records_per_s.filter(|_| case.record.contract.durable_every_bytes.is_some());
            or_nothing(per_s, |per_s| mark(estimate, significant(per_s.value)))
        }));
    }
    columns.extend(limit_and_course(cases, 1));
    columns.extend([
        figures("", "min – max", 5, |it| extremes(&it.throughput_bytes_per_s, &GIGABYTES_PER_S)),
        figures("write alone", "GB/s", 3, |it| gigabytes_per_s(it.write_alone_bytes_per_s.value)),
        figures("95 %", table::INTERVAL, 6, |it| range(&it.write_alone_bytes_per_s, &GIGABYTES_PER_S)),
    ]);
    columns.extend(phases_and_cpu(4));
    let mut table = table(title, cases, columns);
    table.bars =
        Bars::for_rows(&with_figures(cases), 2, |it| Some(it.throughput_bytes_per_s.value), gigabytes_per_s);
    table
}

/// Records per second, and how long each took.
pub(super) fn records(title: &str, cases: &[&CaseReport]) -> Table {
    fn latency(it: &Estimate, value: fn(&LatencyEstimate) -> u64) -> String {
        or_nothing(it.latency_ns.as_ref(), |latency| microseconds(value(latency)))
    }
    let per_s = |it: &Estimate| or_nothing(it.records_per_s, |per_s| mark(it, significant(per_s.value)));
    let interval = |it: &Estimate| or_nothing(it.records_per_s, |per_s| range(&per_s, &NUMBER));
    let mut columns = vec![
        figures("total", "records/s", 0, per_s),
        figures("95 %", table::INTERVAL, 0, interval),
        figures("", "ms", 0, |it| mark(it, milliseconds_of(it.total_ns.value))),
    ];
    columns.extend(limit_and_course(cases, 3));
    columns.extend([
        figures("µs/call:", "p50", 2, |it| latency(it, |latency| latency.p50)),
        figures("", "p90", 2, |it| latency(it, |latency| latency.p90)),
        figures("", "p99", 2, |it| latency(it, |latency| latency.p99)),
        figures("", "p99.9", 2, |it| latency(it, |latency| latency.p99_9)),
        figures("", "max", 2, |it| latency(it, |latency| latency.max)),
    ]);
    columns.extend(phases_and_cpu(5));
    let mut table = table(title, cases, columns);
    let per_s = |it: &Estimate| it.records_per_s.as_ref().map(|per_s| per_s.value);
    table.bars = Bars::for_rows(&with_figures(cases), 1, per_s, significant);
    table
}

/// Cases of one contract, from the fastest to the slowest, with the distance to the fastest.
pub(super) fn ranked(title: &str, cases: &[&CaseReport]) -> Table {
    let mut cases = cases.to_vec();
    cases.sort_by(|a, b| by_rank(a, b));
    let best = cases.first().copied().filter(|case| case.is_ranked());
    let mut columns = vec![
        figures("total", "ms", 0, |it| mark(it, milliseconds_of(it.total_ns.value))),
        Cells::figure("to the", "fastest", 0, move |(case, _)| {
            or_nothing(best.filter(|_| case.is_ranked()), |best| distance(best, case))
        }),
        figures("95 %", table::INTERVAL, 0, |it| range(&it.total_ns, &MILLISECONDS)),
        figures("", "min – max", 5, |it| extremes(&it.total_ns, &MILLISECONDS)),
        figures("", "GB/s", 2, |it| gigabytes_per_s(it.throughput_bytes_per_s.value)),
    ];
    columns.extend(limit_and_course(&cases, 2));
    columns.extend(cpu_and_samples(5));
    let mut table = table(title, &cases, columns);
    table.bars = Bars::for_rows(
        &with_figures(&cases),
        1,
        |it| (it.cut == 0).then_some(it.total_ns.value),
        milliseconds_of,
    );
    table
}

/// `+ 5.3 %`, with the mark of the verdict before it.
fn distance(best: &CaseReport, case: &CaseReport) -> String {
    if best.name == case.name {
        return String::new();
    }
    let percent = (case.time_ns() / best.time_ns() - 1.0) * 100.0;
    format!("{}+ {percent:.1} %", verdict_mark(case.verdict_to(best)))
}

/// The cases with figures, which are the rows.
fn with_figures<'c>(cases: &[&'c CaseReport]) -> Vec<&'c CaseReport> {
    cases.iter().copied().filter(|case| case.estimate.is_some()).collect()
}

/// The values that all of several names have.
fn shared_values<'c>(cases: &[&'c CaseReport]) -> Vec<&'c str> {
    let [first, others @ ..] = cases else { return Vec::new() };
    let is_in_all =
        |part: &&str| others.iter().all(|case| case.record.case.assignments().any(|it| it == *part));
    first.record.case.assignments().filter(|part| !others.is_empty() && is_in_all(part)).collect()
}

/// Rows begin with the label, where the suite has one, or else with the case's name.
fn table<'c>(title: &str, cases: &[&'c CaseReport], mut columns: Vec<Cells<'c>>) -> Table {
    let labels = cases.iter().any(|case| case.record.label.is_some());
    let label = |(case, _): &MeasuredCase<'_>| case.record.label.clone().unwrap_or_default();
    // Shared values stand once above the table, and not in each of its rows.
    let shared = if labels { Vec::new() } else { shared_values(cases) };
    let is_cached = |case: &&CaseReport| {
        let contract = &case.record.contract;
        contract.durability == Durability::Cached && contract.content.has_own_bytes()
    };
    let place: &[&str] = if cases.iter().all(is_cached) { &["in the page cache"] } else { &[] };
    let title = [&[title], shared.as_slice(), place].concat().join(" · ");
    let name = move |(case, _): &MeasuredCase<'_>| -> String {
        let own = case.record.case.name().split(',').filter(|part| !shared.contains(part));
        own.collect::<Vec<_>>().join(",")
    };
    if labels {
        columns.insert(0, Cells::text("", 0, label));
        // The label's case, which repeats the row; last, because it is long.
        columns.push(Cells::text(table::CASE, 9, name));
    } else {
        columns.insert(0, Cells::text(table::CASE, 0, name));
    }
    let rows: Vec<MeasuredCase<'_>> =
        cases.iter().filter_map(|case| Some((*case, case.estimate.as_ref()?))).collect();
    Table::with(title, &rows, columns)
}
