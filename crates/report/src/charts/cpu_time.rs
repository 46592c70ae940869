//! Elapsed time, user CPU time and system CPU time, by buffer size for each target, and by target for each
//! buffer size.

use writebench_model::Bytes;
use writebench_stats::as_f64;

use super::data::{Chart, Drawn, Kind, Point, Question, Series, Unit, YAxis};
use super::matrix::chunk_sizes;
use super::point::{figures_are, point};
use super::rows::{Row, grouped};
use super::{axis, notes};
use crate::numbers::estimate::{Estimate, Figure};

/// One of the times.
struct Time {
    label: &'static str,
    stem: &'static str,
    figure: fn(&Estimate) -> &Figure,
}

const TIMES: [Time; 3] = [
    Time { label: "Elapsed time", stem: "elapsed", figure: |it| &it.total_ns },
    Time { label: "User CPU time", stem: "user-cpu", figure: |it| &it.user_cpu_figure_ns },
    Time { label: "System CPU time", stem: "system-cpu", figure: |it| &it.system_cpu_figure_ns },
];

/// Two charts of each time, for each combination of the other axes: work that is not the same is not in one
/// chart. A single target has nothing to be compared with, and is drawn by buffer size only.
pub(super) fn charts(rows: &[Row<'_>]) -> Vec<Drawn> {
    let works = grouped(rows, |row| row.name_without("chunk"));
    let several = works.len() > 1;
    let mut charts = Vec::new();
    for (work, rows) in &works {
        let suffix = if several { format!("-{work}") } else { String::new() };
        for time in &TIMES {
            let stem = |by: &str| format!("{}-by-{by}{suffix}", time.stem);
            charts.push(Drawn {
                of: Question::CpuTime,
                stem: stem("buffer-size"),
                chart: by_buffer_size(time, work, rows),
            });
            if notes::targets(rows).len() > 1 {
                charts.push(Drawn {
                    of: Question::CpuTime,
                    stem: stem("target"),
                    chart: by_target(time, work, rows),
                });
            }
        }
    }
    charts
}

fn by_buffer_size(time: &Time, work: &str, rows: &[Row<'_>]) -> Chart {
    let series = grouped(rows, |row| row.target).into_iter().map(|(target, rows)| {
        let mut points: Vec<Point> =
            rows.iter().filter_map(|row| Some(time_point(time, as_f64(row.chunk_bytes()?), row))).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: target.to_owned(), points }
    });
    let series: Vec<Series> = series.collect();
    Chart {
        title: format!("{} by buffer size", time.label),
        kind: Kind::Lines,
        x: axis::chunks("buffer size", &chunk_sizes(rows)),
        series_are_ordered: false,
        ..of_time(time, work, rows, series)
    }
}

fn by_target(time: &Time, work: &str, rows: &[Row<'_>]) -> Chart {
    let targets = notes::targets(rows);
    let series = chunk_sizes(rows).into_iter().map(|size| {
        let points = (0u32..).zip(&targets).filter_map(|(index, target)| {
            let row = rows.iter().find(|row| row.target == *target && row.chunk_bytes() == Some(size))?;
            Some(time_point(time, f64::from(index), row))
        });
        Series { name: Bytes(size).approximate(), points: points.collect() }
    });
    let series: Vec<Series> = series.collect();
    Chart {
        title: format!("{} by target, for each buffer size", time.label),
        kind: Kind::Groups,
        x: axis::categories("target", targets.iter().map(|&target| target.to_owned())),
        series_are_ordered: true,
        ..of_time(time, work, rows, series)
    }
}

/// What both charts of a time have in common.
fn of_time(time: &Time, work: &str, rows: &[Row<'_>], series: Vec<Series>) -> Chart {
    let mut notes = notes::causes(rows);
    notes.extend(notes::cut_short(rows));
    Chart {
        title: String::new(),
        subtitle: format!("{work}: {}", figures_are(rows, "lower")),
        kind: Kind::Lines,
        x: axis::chunks("", &[]),
        y: YAxis { label: time.label.to_owned(), unit: Unit::Seconds, scale: axis::y_scale(&series) },
        series_are_ordered: false,
        series,
        notes,
    }
}

fn time_point(time: &Time, x: f64, row: &Row<'_>) -> Point {
    point(x, row, row.whole_estimate().map(time.figure), 1e9)
}
