//! Elapsed time, user CPU time and system CPU time, by buffer size for each target, and by target for each
//! buffer size.

use writebench_model::{Axis, Bytes};
use writebench_stats::as_f64;

use super::data::{Chart, ChartData, ChartFamily, ChartKind, Point, Series, Unit, XAxis, YAxis};
use super::matrix::chunk_sizes;
use super::point::{figures_are, line_of, point};
use super::rows::{ChartCase, grouped};
use super::{axis, notes};
use crate::numbers::{Estimate, Figure};

/// One of the times.
struct Time {
    label: &'static str,
    stem: &'static str,
    figure: fn(&Estimate) -> &Figure,
}

const TIMES: [Time; 3] = [
    Time { label: "Elapsed time", stem: "elapsed", figure: |estimate| &estimate.total_ns },
    Time { label: "User CPU time", stem: "user-cpu", figure: |estimate| &estimate.user_cpu_figure_ns },
    Time { label: "System CPU time", stem: "system-cpu", figure: |estimate| &estimate.system_cpu_figure_ns },
];

/// Two charts of each time, for each combination of the other axes, since different work is not in one chart.
/// A single target is drawn by buffer size only, as it has no other to compare with.
pub(super) fn charts(rows: &[ChartCase<'_>]) -> Vec<ChartData> {
    let works = grouped(rows, |row| row.name_without(&[Axis::Chunk]));
    let several = works.len() > 1;
    let mut charts = Vec::new();
    for (work, rows) in &works {
        let suffix = if several { format!("-{work}") } else { String::new() };
        for time in &TIMES {
            let mut draw = |by: &str, chart: Chart| {
                let stem = format!("{}-by-{by}{suffix}", time.stem);
                charts.push(ChartData { family: ChartFamily::CpuTime, stem, chart });
            };
            draw("buffer-size", by_buffer_size(time, work, rows));
            if notes::targets(rows).len() > 1 {
                draw("target", by_target(time, work, rows));
            }
        }
    }
    charts
}

fn by_buffer_size(time: &Time, work: &str, rows: &[ChartCase<'_>]) -> Chart {
    let series = grouped(rows, |row| row.target).into_iter().map(|(target, rows)| {
        let point = |row: &ChartCase<'_>| Some(time_point(time, as_f64(row.chunk_bytes()?), row));
        line_of(target.to_owned(), rows.iter().map(point))
    });
    let title = format!("{} by buffer size", time.label);
    let x = axis::chunks("buffer size", &chunk_sizes(rows));
    chart(time, title, (ChartKind::Lines, x), work, rows, series.collect())
}

fn by_target(time: &Time, work: &str, rows: &[ChartCase<'_>]) -> Chart {
    let targets = notes::targets(rows);
    let series = chunk_sizes(rows).into_iter().map(|size| {
        let points = (0u32..).zip(&targets).filter_map(|(index, target)| {
            let row = rows.iter().find(|row| row.target == *target && row.chunk_bytes() == Some(size))?;
            Some(time_point(time, f64::from(index), row))
        });
        Series { name: Bytes(size).approximate(), points: points.collect() }
    });
    let title = format!("{} by target, for each buffer size", time.label);
    let x = axis::categories("target", targets.iter().map(|&target| target.to_owned()));
    chart(time, title, (ChartKind::Groups, x), work, rows, series.collect())
}

fn chart(
    time: &Time,
    title: String,
    (kind, x): (ChartKind, XAxis),
    work: &str,
    rows: &[ChartCase<'_>],
    series: Vec<Series>,
) -> Chart {
    Chart {
        title,
        subtitle: format!("{work}: {}", figures_are(rows, "lower")),
        kind,
        x,
        y: YAxis { label: time.label.to_owned(), unit: Unit::Seconds, scale: axis::y_scale(&series) },
        series,
        notes: [notes::causes(rows), notes::cut_short(rows)].concat(),
    }
}

fn time_point(time: &Time, x: f64, row: &ChartCase<'_>) -> Point {
    point(x, row, row.whole_estimate().map(time.figure), 1e9)
}
