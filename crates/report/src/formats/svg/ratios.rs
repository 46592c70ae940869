//! Marks on both sides of 1, from the least to the greatest.

use svg::node::element::Element;
use writebench_stats::as_f64;

use super::canvas::Canvas;
use super::element::*;
use super::rows::Rows;
use super::words::figure_text;

const ROW_HEIGHT: f64 = 24.0;

/// More names are not legible, so only the marks are drawn, at most this high altogether.
const MOST_NAMES: usize = 60;
const HEIGHT_WITHOUT_NAMES: f64 = 900.0;

/// Elements and their lower end.
pub(super) fn draw(canvas: &Canvas<'_>, top: f64) -> (Vec<Element>, f64) {
    let count = canvas.chart.x.ticks.len();
    let equal = [("class", "wb-even"), ("stroke", STRONG[1].1)];
    let equal = [&equal[..], &[("stroke-dasharray", "2 3")]].concat();
    if count <= MOST_NAMES {
        let rows = Rows::on(canvas, top, ROW_HEIGHT, 0.0);
        let marks = marks(canvas, &rows);
        let marks = marks.into_iter().map(|(at, mark)| (at, vec![mark]));
        return rows.finish(Some(rows.across(1.0, &equal)), marks);
    }
    let height = HEIGHT_WITHOUT_NAMES / as_f64(count as u64);
    let rows = Rows::without_names(canvas, top, height);
    let (mut parts, bottom) = rows.finish(Some(rows.across(1.0, &equal)), []);
    parts.extend(marks(canvas, &rows).into_iter().map(|(_, mark)| mark));
    (parts, bottom)
}

/// A mark for each ratio with its place, in the order of the points.
fn marks(canvas: &Canvas<'_>, rows: &Rows<'_>) -> Vec<(f64, Element)> {
    let mut marks = Vec::new();
    for (index, series) in canvas.chart.series.iter().enumerate() {
        for (number, point) in series.points.iter().enumerate() {
            let Some(figure) = &point.figure else {
                continue;
            };
            let place = (rows.x(figure.value), rows.y(point.x));
            let mark = circle(place, 4.5, &QUIET);
            let mark = canvas.told(mark, (index, number), || {
                format!("{}: {}", point.case, figure_text(canvas.chart, figure))
            });
            marks.push((point.x, mark));
        }
    }
    marks.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    marks
}
