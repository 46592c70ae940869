//! Throughput by chunk size, as lines or as a heat map of flags, and by threads or ranks.

use writebench_model::{Axis, Files, Workload};
use writebench_stats::as_f64;

use super::data::{Chart, ChartData, ChartFamily, ChartKind, Point, Series, Unit, XAxis, YAxis};
use super::point::{figures_are, line_of, point};
use super::rows::{ChartCase, OfTarget, each_workload, grouped, places};
use super::{axis, words};

/// A table is enough for fewer.
const FEWEST: usize = 3;

/// Only cases of one target and workload are comparable.
pub(super) fn by_chunk(section: &str, rows: &[ChartCase<'_>]) -> Vec<ChartData> {
    let chart = |(workload, on): (String, OfTarget<'_>)| {
        let sizes = places(&on.rows, ChartCase::chunk_bytes);
        if sizes.len() < FEWEST {
            return None;
        }
        let (subject, x) = (
            format!("{section}. {workload}"),
            axis::chunks("chunk size", &sizes),
        );
        let lines = lines(&on.rows);
        let (stem, chart) = throughput_lines("chunk size", &subject, x, &on, lines, |row| {
            row.chunk_bytes()
        });
        Some((ChartFamily::ThroughputByChunk, stem, chart))
    };
    each_workload(rows, words::by_chunk, words::promise)
        .into_iter()
        .filter_map(chart)
        .collect()
}

/// Lines by label, or by case without chunk if cases differ in more than label and chunk.
fn lines<'r>(rows: &[ChartCase<'r>]) -> Vec<(String, Vec<ChartCase<'r>>)> {
    let case = |row: &ChartCase<'_>| row.case.record.case.name_without(&[Axis::Chunk]);
    let name = |row: &ChartCase<'_>| row.case.record.label.clone().unwrap_or_else(|| case(row));
    let place = |row: &ChartCase<'_>| (name(row), row.chunk_bytes());
    let is_unique = grouped(rows, place).iter().all(|(_, rows)| rows.len() == 1);
    grouped(rows, |row| if is_unique { name(row) } else { case(row) })
}

/// The costs of flags, including those of a stronger workload. None for a single size.
pub(super) fn heat_map(section: &str, target: &str, rows: &[ChartCase<'_>]) -> Option<Chart> {
    let sizes = places(rows, ChartCase::chunk_bytes);
    if sizes.len() < 2 {
        return None;
    }
    let columns = axis::chunks("chunk size", &sizes)
        .ticks
        .into_iter()
        .map(|tick| tick.text);
    let lines = lines(rows).into_iter().map(|(name, rows)| {
        let columns = (0u32..).zip(&sizes);
        let cells = columns.filter_map(|(column, size)| {
            let row = rows.iter().find(|row| row.chunk_bytes() == Some(*size))?;
            Some(throughput_point(f64::from(column), row))
        });
        Series {
            name,
            points: cells.collect::<Vec<Point>>(),
        }
    });
    let mut series: Vec<Series> = lines.collect();
    let common = words::shorten_series(&mut series);
    Some(Chart {
        title: format!("Throughput by chunk size and flags, {target}"),
        subtitle: format!(
            "{section}{common}. Medians, higher is better. Colours compare cells, not workloads.{}",
            words::caution(rows)
        ),
        kind: ChartKind::HeatMap,
        x: axis::categories("chunk size", columns),
        y: YAxis {
            label: "Throughput".to_owned(),
            unit: Unit::BytesPerSecond,
            scale: axis::y_scale(&series),
        },
        series,
        notes: words::causes(rows),
    })
}

fn throughput_point(x: f64, row: &ChartCase<'_>) -> Point {
    point(
        x,
        row,
        row.case
            .estimate
            .as_ref()
            .map(|estimate| &estimate.throughput_bytes_per_s),
        1.0,
    )
}

/// Throughput by `what`, a line for each of `lines`.
fn throughput_lines(
    what: &str,
    subject: &str,
    x: XAxis,
    on: &OfTarget<'_>,
    lines: Vec<(String, Vec<ChartCase<'_>>)>,
    place: impl Fn(&ChartCase<'_>) -> Option<u64>,
) -> (String, Chart) {
    let series = lines.into_iter().map(|(name, rows)| {
        let point = |row: &ChartCase<'_>| Some(throughput_point(as_f64(place(row)?), row));
        line_of(name, rows.iter().map(point))
    });
    let mut series: Vec<Series> = series.collect();
    let common = words::shorten_series(&mut series);
    let chart = Chart {
        title: format!("Throughput by {what}, {}", on.target),
        subtitle: format!("{subject}{common}: {}", figures_are(&on.rows, "higher")),
        kind: ChartKind::Lines,
        x,
        y: YAxis {
            label: "Throughput".to_owned(),
            unit: Unit::BytesPerSecond,
            scale: axis::y_scale(&series),
        },
        series,
        notes: words::causes(&on.rows),
    };
    (format!("throughput-by-{what}{}", on.suffix), chart)
}

struct Writers {
    axis: Axis,
    /// The value of axis `files` for one file per writer.
    own_files: Files,
    family: ChartFamily,
    /// Sizes are per writer.
    grows: bool,
}

/// Throughput by the number of threads, and of ranks. A chart compares a file per writer with one file for all.
pub(super) fn by_writers(section: &str, rows: &[ChartCase<'_>]) -> Vec<ChartData> {
    let threads = (
        Axis::Threads,
        Files::PerThread,
        ChartFamily::ThroughputByThreads,
    );
    let ranks = (Axis::Ranks, Files::PerRank, ChartFamily::ThroughputByRanks);
    let charts = |(axis, own_files, family)| {
        Writers {
            axis,
            own_files,
            family,
            grows: size_grows(axis, rows),
        }
        .charts(section, rows)
    };
    [threads, ranks].into_iter().flat_map(charts).collect()
}

fn number(axis: Axis, row: &ChartCase<'_>) -> Option<u64> {
    row.case_with(axis)?.value(axis).parse().ok()
}

fn size_grows(axis: Axis, rows: &[ChartCase<'_>]) -> bool {
    let sizes = |row: &ChartCase<'_>| {
        let (bytes, number) = (row.case.record.workload.bytes, number(axis, row)?);
        Some((bytes, bytes.checked_rem(number), bytes.checked_div(number)))
    };
    let all: Vec<_> = rows.iter().filter_map(sizes).collect();
    all.iter()
        .all(|(_, rest, share)| *rest == Some(0) && *share == all[0].2)
        && all.iter().any(|(bytes, ..)| *bytes != all[0].0)
}

impl Writers {
    fn charts(&self, section: &str, rows: &[ChartCase<'_>]) -> Vec<ChartData> {
        let what = self.axis.name();
        let count = |row: &ChartCase<'_>| number(self.axis, row);
        let lines = grouped(rows, |row| (row.target, self.name(row)));
        let long = lines
            .into_iter()
            .filter(|(_, rows)| places(rows, count).len() >= FEWEST);
        let long: Vec<ChartCase<'_>> = long.flat_map(|(_, rows)| rows).collect();
        let chart = |(workload, on): (Workload, OfTarget<'_>)| {
            let subject = format!("{section}. {workload}{}", self.remarks(&on.rows));
            let x = axis::counts(what, &places(&on.rows, count));
            let lines = grouped(&on.rows, |row| self.name(row));
            let (stem, chart) = throughput_lines(what, &subject, x, &on, lines, count);
            (self.family, stem, chart)
        };
        let parts = each_workload(&long, |row| self.workload(row), words::promise);
        parts.into_iter().map(chart).collect()
    }

    fn name(&self, row: &ChartCase<'_>) -> String {
        let axes = [self.axis, Axis::Size];
        row.case
            .record
            .case
            .name_without(if self.grows { &axes } else { &axes[..1] })
    }

    fn has_own_files(&self, row: &ChartCase<'_>) -> bool {
        row.case_with(Axis::Files)
            .is_some_and(|case| case.choices().files == self.own_files)
    }

    /// The workload of a chart: one file in place of the writers' files, and the size per writer if sizes grow.
    fn workload(&self, row: &ChartCase<'_>) -> Workload {
        let mut workload = row.case.record.workload.clone();
        let number = number(self.axis, row).unwrap_or(1);
        if self.has_own_files(row) && number == u64::from(workload.files) {
            workload.files = 1;
        }
        if self.grows {
            workload.bytes /= number.max(1);
        }
        workload
    }

    fn remarks(&self, rows: &[ChartCase<'_>]) -> String {
        let one = self.axis.name().trim_end_matches('s');
        let mut remarks = String::new();
        if self.grows {
            remarks += &format!(", size per {one}");
        }
        if rows.iter().any(|row| self.has_own_files(row)) {
            remarks += &format!(", one file or a file per {one}");
        }
        remarks
    }
}
