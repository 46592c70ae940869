use writebench_stats::{CONFIDENCE, as_f64};

use super::data::{Chart, ChartKind, Interval, Point, Series, Unit, XAxis, YAxis};
use super::rows::{ChartCase, OfTarget};
use super::{axis, names, notes};
use crate::numbers::Figure;

/// `per`: units of the value in one unit of the chart.
pub(super) fn point(x: f64, row: &ChartCase<'_>, figure: Option<&Figure>, per: f64) -> Point {
    let interval = |figure: &Figure| {
        let (low, high) = figure.ends();
        Interval { value: figure.value / per, low: low / per, high: high / per }
    };
    Point {
        x,
        figure: figure.map(interval),
        only_disturbed: row.case.estimate.as_ref().is_some_and(|estimate| estimate.only_disturbed),
        case: row.case.record.case.to_string(),
        row: row.number,
        dots: Vec::new(),
    }
}

pub(super) fn throughput_point(x: f64, row: &ChartCase<'_>) -> Point {
    point(x, row, row.case.estimate.as_ref().map(|estimate| &estimate.throughput_bytes_per_s), 1.0)
}

/// In the order of places. Rows without a place are left out.
pub(super) fn line_of(name: String, points: impl Iterator<Item = Option<Point>>) -> Series {
    let mut points: Vec<Point> = points.flatten().collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Series { name, points }
}

/// Throughput by `what`, a line for each of `lines`.
pub(super) fn throughput_lines(
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
    let common = names::shorten_series(&mut series);
    let chart = Chart {
        title: format!("Throughput by {what}, {}", on.target),
        subtitle: format!("{subject}{common}: {}", figures_are(&on.rows, "higher")),
        kind: ChartKind::Lines,
        x,
        y: YAxis { label: "Throughput".to_owned(), unit: Unit::BytesPerSecond, scale: axis::y_scale(&series) },
        series,
        notes: notes::causes(&on.rows),
    };
    (format!("throughput-by-{what}{}", on.suffix), chart)
}

/// Such as `values with 95% CI, lower is better`.
pub(super) fn figures_are(rows: &[ChartCase<'_>], better: &str) -> String {
    let reached = rows.iter().filter_map(|row| Some(row.case.estimate.as_ref()?.confidence));
    let least = reached.fold(1.0, f64::min);
    let percent = CONFIDENCE * 100.0;
    let intervals = if least < CONFIDENCE - 1e-9 {
        format!("{percent:.0}% CI, or the range of fewer than 6 samples")
    } else {
        format!("{percent:.0}% CI")
    };
    format!("values with {intervals}, {better} is better")
}
