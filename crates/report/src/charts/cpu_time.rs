//! Elapsed, user CPU and system CPU time, by buffer size and by target.

use writebench_model::{Axis, Bytes};
use writebench_stats::as_f64;

use super::data::{Chart, ChartData, ChartFamily, ChartKind, Point, Series, Unit, XAxis, YAxis};
use super::point::{figures_are, line_of, point};
use super::rows::{ChartCase, grouped, places};
use super::{axis, words};
use crate::sentences::capitalised;
use crate::sentences::metric::{Metric, TIMES};

/// Cases in one chart differ only in chunk and target. A single target has no chart by target.
pub(super) fn charts(rows: &[ChartCase<'_>]) -> Vec<ChartData> {
    let works = grouped(rows, |row| {
        row.case.record.case.name_without(&[Axis::Chunk])
    });
    let mut charts = Vec::new();
    for (work, rows) in &works {
        let (sizes, targets) = (places(rows, ChartCase::chunk_bytes), words::targets(rows));
        for time in &TIMES {
            let name = time.title.trim_start_matches("total ");
            let label = capitalised(name);
            let mut draw =
                |by: &str, places: &str, (kind, x): (ChartKind, XAxis), series: Vec<Series>| {
                    let suffix = if works.len() > 1 {
                        format!("-{work}")
                    } else {
                        String::new()
                    };
                    let chart = Chart {
                        title: format!("{label} by {places}"),
                        subtitle: format!("{work}: {}", figures_are(rows, "lower")),
                        kind,
                        x,
                        y: YAxis {
                            label: label.clone(),
                            unit: Unit::Seconds,
                            scale: axis::y_scale(&series),
                        },
                        series,
                        notes: [words::causes(rows), words::cut_short(rows)].concat(),
                    };
                    let stem = format!("{}-by-{by}{suffix}", name.trim_end_matches(" time"));
                    charts.push((ChartFamily::CpuTime, stem, chart));
                };
            let x = axis::chunks("buffer size", &sizes);
            draw(
                "buffer-size",
                "buffer size",
                (ChartKind::Lines, x),
                by_buffer_size(time, rows),
            );
            if targets.len() > 1 {
                let x = axis::categories("target", targets.iter().map(|&target| target.to_owned()));
                let series = by_target(time, rows, &targets, &sizes);
                draw(
                    "target",
                    "target, for each buffer size",
                    (ChartKind::Groups, x),
                    series,
                );
            }
        }
    }
    charts
}

fn by_buffer_size(time: &Metric, rows: &[ChartCase<'_>]) -> Vec<Series> {
    let line = |(target, rows): (&str, Vec<ChartCase<'_>>)| {
        let point = |row: &ChartCase<'_>| Some(time_point(time, as_f64(row.chunk_bytes()?), row));
        line_of(target.to_owned(), rows.iter().map(point))
    };
    grouped(rows, |row| row.target)
        .into_iter()
        .map(line)
        .collect()
}

fn by_target(
    time: &Metric,
    rows: &[ChartCase<'_>],
    targets: &[&str],
    sizes: &[u64],
) -> Vec<Series> {
    let group = |&size: &u64| {
        let points = (0u32..).zip(targets).filter_map(|(index, target)| {
            let row = rows
                .iter()
                .find(|row| row.target == *target && row.chunk_bytes() == Some(size))?;
            Some(time_point(time, f64::from(index), row))
        });
        Series {
            name: Bytes(size).approximate(),
            points: points.collect(),
        }
    };
    sizes.iter().map(group).collect()
}

fn time_point(time: &Metric, x: f64, row: &ChartCase<'_>) -> Point {
    point(x, row, row.whole_estimate().and_then(time.figure), 1e9)
}
