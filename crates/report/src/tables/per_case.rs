//! Tables with a row for each case.

use crate::numbers::estimate::Estimate;
use crate::sentences::conclusion::{differs, is_ranked};
use crate::sentences::number::{
    gigabytes_per_s, interval, mark, microseconds, milliseconds, milliseconds_of, range, thousands,
};
use crate::sentences::report::CaseReport;
use crate::tables::{Bars, Column, Table, notes};

/// A column with what a case has in it.
struct Figures {
    column: Column,
    cell: fn(&Estimate) -> String,
}

impl Figures {
    /// To be left out earlier where space is short.
    fn later(mut self, by: u8) -> Self {
        self.column.rank += by;
        self
    }
}

fn figures(group: &str, heading: &str, rank: u8, cell: fn(&Estimate) -> String) -> Figures {
    Figures { column: Column::figure(group, heading, rank), cell }
}

fn phases_and_cpu() -> Vec<Figures> {
    vec![
        figures("ms:", "prepare", 2, |it| milliseconds(it.phases_ns.prepare)),
        figures("", "open", 2, |it| milliseconds(it.phases_ns.open)),
        figures("", "write", 2, |it| milliseconds(it.phases_ns.write)),
        figures("", "sync", 2, |it| milliseconds(it.phases_ns.sync)),
        figures("", "close", 2, |it| milliseconds(it.phases_ns.close)),
        figures("CPU ms:", "user", 3, |it| milliseconds(it.user_cpu_ns)),
        figures("", "system", 3, |it| milliseconds(it.system_cpu_ns)),
        figures("", "n", 6, |it| it.samples.to_string()),
    ]
}

fn all_of_it() -> Figures {
    figures("all of it", "GB/s", 0, |it| mark(it, gigabytes_per_s(it.throughput_bytes_per_s.median)))
}

/// The share of the hardware's limit, and whether throughput held (left out before it): columns that are there where a
/// case has them.
fn limit_and_course(cases: &[&CaseReport], rank: u8) -> Vec<Figures> {
    let any = |has: fn(&Estimate) -> bool| cases.iter().any(|case| case.estimate.as_ref().is_some_and(has));
    let mut columns = Vec::new();
    if any(|it| it.limit.is_some()) {
        columns.push(figures("of", "limit", rank, |it| {
            it.limit.map_or("–".to_owned(), |it| notes::share(it.share))
        }));
    }
    if any(|it| it.over_time.is_some()) {
        columns.push(figures("over", "time", rank + 2, |it| {
            it.over_time.map_or("–".to_owned(), |it| it.course.name().to_owned())
        }));
    }
    columns
}

/// Throughput and where the time went.
pub(super) fn phases(title: &str, cases: &[CaseReport]) -> Table {
    let mut columns =
        vec![all_of_it(), figures("95 %", "interval", 0, |it| interval(&it.throughput_bytes_per_s))];
    let cases: Vec<&CaseReport> = cases.iter().collect();
    columns.extend(limit_and_course(&cases, 1));
    columns.extend([
        figures("", "min – max", 5, |it| range(it.throughput_bytes_per_s.min, it.throughput_bytes_per_s.max)),
        figures("write alone", "GB/s", 3, |it| gigabytes_per_s(it.write_alone_bytes_per_s.median)),
        figures("95 %", "interval", 6, |it| interval(&it.write_alone_bytes_per_s)),
    ]);
    columns.extend(phases_and_cpu().into_iter().map(|figures| figures.later(2)));
    let mut table = table(title, &cases, columns);
    table.bars =
        Bars::of(&with_figures(&cases), 2, |it| Some(it.throughput_bytes_per_s.median), gigabytes_per_s);
    table
}

/// Records per second, and how long each took.
pub(super) fn records(title: &str, cases: &[CaseReport]) -> Table {
    fn latency(it: &Estimate, value: fn(&crate::LatencyEstimate) -> u64) -> String {
        it.latency_ns.as_ref().map_or_else(|| "–".to_owned(), |latency| microseconds(value(latency)))
    }
    let mut columns = vec![
        figures("all of it", "records/s", 0, |it| {
            it.records_per_s
                .as_ref()
                .map_or_else(|| "–".to_owned(), |it_per_s| mark(it, thousands(it_per_s.median)))
        }),
        figures("95 %", "interval", 0, |it| {
            let it = it.records_per_s.as_ref();
            it.map_or_else(|| "–".to_owned(), |it| format!("{} – {}", thousands(it.low), thousands(it.high)))
        }),
        figures("", "ms", 0, |it| mark(it, milliseconds_of(it.total_ns.median))),
    ];
    let cases: Vec<&CaseReport> = cases.iter().collect();
    columns.extend(limit_and_course(&cases, 3));
    columns.extend([
        figures("µs/call:", "p50", 2, |it| latency(it, |latency| latency.p50)),
        figures("", "p90", 2, |it| latency(it, |latency| latency.p90)),
        figures("", "p99", 2, |it| latency(it, |latency| latency.p99)),
        figures("", "p99.9", 2, |it| latency(it, |latency| latency.p99_9)),
        figures("", "max", 2, |it| latency(it, |latency| latency.max)),
    ]);
    columns.extend(phases_and_cpu().into_iter().map(|figures| figures.later(3)));
    let mut table = table(title, &cases, columns);
    let per_s = |it: &Estimate| it.records_per_s.as_ref().map(|per_s| per_s.median);
    table.bars = Bars::of(&with_figures(&cases), 1, per_s, thousands);
    table
}

/// From the fastest to the slowest, with the distance to the fastest. Cases of one contract.
pub(super) fn ranked(title: &str, cases: &[&CaseReport]) -> Table {
    let time = |case: &CaseReport| case.estimate.as_ref().map_or(f64::INFINITY, |it| it.total_ns.median);
    let mut cases = cases.to_vec();
    // What has no rank comes last.
    cases.sort_by(|a, b| {
        (!is_ranked(a), time(a)).partial_cmp(&(!is_ranked(b), time(b))).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut columns = vec![
        figures("all of it", "ms", 0, |it| mark(it, milliseconds_of(it.total_ns.median))),
        figures("95 %", "interval", 0, |it| {
            format!("{} – {}", milliseconds_of(it.total_ns.low), milliseconds_of(it.total_ns.high))
        }),
        figures("", "min – max", 5, |it| {
            format!("{} – {}", milliseconds_of(it.total_ns.min), milliseconds_of(it.total_ns.max))
        }),
        figures("", "GB/s", 2, |it| gigabytes_per_s(it.throughput_bytes_per_s.median)),
    ];
    columns.extend(limit_and_course(&cases, 2));
    columns.extend([
        figures("CPU ms:", "user", 5, |it| milliseconds(it.user_cpu_ns)),
        figures("", "system", 5, |it| milliseconds(it.system_cpu_ns)),
        figures("", "n", 6, |it| it.samples.to_string()),
    ]);
    let mut table = table(title, &cases, columns);
    let with_figures = with_figures(&cases);
    table.bars = Bars::of(&with_figures, 1, |it| Some(it.total_ns.median), milliseconds_of);
    let best = with_figures.first().filter(|best| is_ranked(best));
    let place = table.columns.iter().position(|column| !column.is_text).map_or(0, |first| first + 1);
    table.columns.insert(place, Column::figure("to the", "fastest", 0));
    for (row, case) in table.rows.iter_mut().zip(&with_figures) {
        let distance = best.filter(|_| is_ranked(case)).map(|best| distance(best, case));
        row.insert(place, distance.unwrap_or_else(|| "–".to_owned()));
    }
    table
}

/// `+ 5.3 %`, and `≈` before it where the rounds in common show no difference.
fn distance(best: &CaseReport, case: &CaseReport) -> String {
    let (Some(fastest), Some(own)) = (&best.estimate, &case.estimate) else { return String::new() };
    if best.name == case.name {
        return String::new();
    }
    let percent = (own.total_ns.median / fastest.total_ns.median - 1.0) * 100.0;
    let same = if differs(best, case) == Some(false) { "≈ " } else { "" };
    format!("{same}+ {percent:.1} %")
}

/// Those that are rows.
fn with_figures<'c>(cases: &[&'c CaseReport]) -> Vec<&'c CaseReport> {
    cases.iter().copied().filter(|case| case.estimate.is_some()).collect()
}

/// Rows begin with the label, where the suite has one, and the case's name.
fn table(title: &str, cases: &[&CaseReport], figures: Vec<Figures>) -> Table {
    let labels = cases.iter().any(|case| case.record.label.is_some());
    let mut columns = Vec::new();
    if labels {
        columns.push(Column::text("", 0));
    }
    let rows = cases.iter().filter_map(|case| {
        let estimate = case.estimate.as_ref()?;
        let mut row: Vec<String> =
            if labels { vec![case.record.label.clone().unwrap_or_default()] } else { Vec::new() };
        if !labels {
            row.push(case.record.case.to_string());
        }
        row.extend(figures.iter().map(|figures| (figures.cell)(estimate)));
        if labels {
            row.push(case.record.case.to_string());
        }
        Some(row)
    });
    let rows = rows.collect();
    if !labels {
        columns.push(Column::text("case", 0));
    }
    columns.extend(figures.into_iter().map(|figures| figures.column));
    if labels {
        // What the label means, to be run again; behind the figures, for it is long.
        columns.push(Column::text("case", 9));
    }
    Table { title: title.to_owned(), columns, rows, sentences: Vec::new(), notes: Vec::new(), bars: None }
}
