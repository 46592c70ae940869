use svg::Node;
use svg::node::element::Element;

use super::element::*;
use super::legend::series_group;
use super::rows::{Rows, SIZE};
use super::words::figure_text;
use crate::charts::scale::stacked;
use crate::charts::{Chart, value_text};

const ROW_HEIGHT: f64 = 22.0;
const BAR_HEIGHT: f64 = 15.0;

/// Elements and their lower end.
pub(super) fn draw(chart: &Chart, top: f64) -> (Vec<Element>, f64) {
    let rows = Rows::for_chart(chart, top, ROW_HEIGHT, 0.0);
    let mut parts = rows.grid();
    for (at, whole) in stacked(chart) {
        parts.extend(bar(chart, at, &rows));
        let points = || chart.points().filter(|point| point.x.total_cmp(&at).is_eq());
        let y = rows.y(at) + 4.5;
        if points().all(|point| point.figure.is_none()) {
            parts.push(text(rows.left + 7.0, y, SIZE, QUIET, "no result", &[]));
            continue;
        }
        let tilde = if points().any(|point| point.only_disturbed) { "~" } else { "" };
        let words = format!("{tilde}{}", value_text(whole, chart.y.unit));
        parts.push(text(rows.x(whole) + 7.0, y, SIZE, STRONG, &words, &[]));
    }
    parts.extend(rows.names());
    (parts, rows.end())
}

fn bar(chart: &Chart, at: f64, rows: &Rows<'_>) -> Vec<Element> {
    let mut parts = Vec::new();
    let mut begin = 0.0;
    for (index, series) in chart.series.iter().enumerate() {
        let Some(point) = series.points.iter().find(|point| point.x.total_cmp(&at).is_eq()) else { continue };
        let Some(figure) = &point.figure else { continue };
        let (from, to) = (rows.x(begin), rows.x(begin + figure.value));
        begin += figure.value;
        let words = format!("{}, {}: {}", point.case, series.name, figure_text(chart, figure));
        let mut part = titled(series_group(chart, index), &words);
        let (place, size) = ((from, rows.y(at) - BAR_HEIGHT / 2.0), (to - from, BAR_HEIGHT));
        part.append(rect(place, size, &[("stroke", "none")]));
        parts.push(part);
    }
    parts
}
