use writebench_stats::CONFIDENCE;

use super::data::{Interval, Point, Series};
use super::rows::ChartCase;
use crate::numbers::Figure;

/// `per`: units of the value in one unit of the chart.
pub(super) fn point(x: f64, row: &ChartCase<'_>, figure: Option<&Figure>, per: f64) -> Point {
    let interval = |figure: &Figure| {
        let (low, high) = figure.ends();
        Interval {
            value: figure.value / per,
            low: low / per,
            high: high / per,
        }
    };
    Point {
        x,
        figure: figure.map(interval),
        all_disturbed: row
            .case
            .estimate
            .as_ref()
            .is_some_and(|estimate| estimate.all_disturbed),
        case: row.case.record.case.to_string(),
        row: row.number,
        dots: Vec::new(),
        words: None,
        samples: 0,
        plain: None,
    }
}

/// A series of the points in the order of their places. Rows without a place are left out.
pub(super) fn line_of(name: String, points: impl Iterator<Item = Option<Point>>) -> Series {
    let mut points: Vec<Point> = points.flatten().collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Series { name, points }
}

/// What a subtitle says of the values, such as `values with 95% CI, lower is better`.
pub(super) fn figures_are(rows: &[ChartCase<'_>], better: &str) -> String {
    let reached = rows
        .iter()
        .filter_map(|row| Some(row.case.estimate.as_ref()?.confidence));
    let least = reached.fold(1.0, f64::min);
    let percent = CONFIDENCE * 100.0;
    let intervals = if least < CONFIDENCE - 1e-9 {
        format!("{percent:.0}% CI, or the range of fewer than 6 samples")
    } else {
        format!("{percent:.0}% CI")
    };
    format!("values with {intervals}, {better} is better")
}
