//! Bars from top to bottom, with their names before and their figures behind them.

use svg::Node;
use svg::node::element::Element;

use super::element::{Ink, WIDTH, element, line, px, shortened, text, titled, width};
use super::legend::series_group;
use super::plot::figure_text;
use super::{MARGIN, axis_title, palette};
use crate::chart::{Chart, Interval, Point, Scale, value_text};

const SIZE: f64 = 12.5;
const ROW_HEIGHT: f64 = 24.0;
const BAR_HEIGHT: f64 = 14.0;

/// Names are cut where they are wider.
const NAME_LIMIT: f64 = 400.0;

/// What a figure behind its bar needs.
const FIGURE_WIDTH: f64 = 76.0;

/// The picture below `top`, and where it ends.
pub(super) fn draw(chart: &Chart, top: f64) -> (Vec<Element>, f64) {
    let names: Vec<String> = chart.x.ticks.iter().map(|tick| shortened(&tick.text, SIZE, NAME_LIMIT)).collect();
    let left = MARGIN + names.iter().map(|name| width(name, SIZE)).fold(0.0, f64::max) + 8.0;
    let right = WIDTH - MARGIN - FIGURE_WIDTH;
    let top = top + 6.0;
    #[expect(clippy::cast_precision_loss, reason = "a few rows")]
    let bottom = top + names.len() as f64 * ROW_HEIGHT;
    let scale = Scale::of(chart);
    let x = |part: f64| left + (right - left) * part;
    let mut parts = Vec::new();
    for tick in scale.ticks() {
        let (x, style) = (x(tick.part), [("class", "wb-grid"), ("stroke", palette::GRID.light)]);
        parts.push(line((x, top), (x, bottom + 4.0), &style));
        if let Some(words) = &tick.text {
            parts.push(text(x, bottom + 19.0, 12.0, Ink::Quiet, words, &[("text-anchor", "middle")]));
        }
    }
    let middle = (left + right) / 2.0;
    parts.push(text(
        middle,
        bottom + 38.0,
        12.0,
        Ink::Strong,
        &axis_title(chart),
        &[("text-anchor", "middle")],
    ));
    for (index, series) in chart.series.iter().enumerate() {
        for point in &series.points {
            let Some(figure) = &point.figure else { continue };
            let y = top + (point.x + 0.5) * ROW_HEIGHT;
            let ends = [figure.median, figure.low, figure.high].map(|value| x(scale.part(value)));
            let bar = bar(chart, index, point, figure, (left, y), ends, !scale.holds(figure.high));
            parts.push(bar);
            let tilde = if point.only_disturbed { "~" } else { "" };
            let words = format!("{tilde}{}", value_text(figure.median, chart.y.unit));
            parts.push(text(ends[0].max(ends[2]) + 7.0, y + 4.5, SIZE, Ink::Strong, &words, &[]));
        }
    }
    for (tick, name) in chart.x.ticks.iter().zip(&names) {
        let y = top + (tick.at + 0.5) * ROW_HEIGHT + 4.5;
        let label = text(left - 8.0, y, SIZE, Ink::Strong, name, &[("text-anchor", "end")]);
        parts.push(if *name == tick.text { label } else { titled(label, &tick.text) });
    }
    (parts, bottom + 46.0)
}

/// `ends`: of the bar, and of its whisker.
fn bar(
    chart: &Chart,
    index: usize,
    point: &Point,
    figure: &Interval,
    (left, y): (f64, f64),
    [end, low, high]: [f64; 3],
    is_cut: bool,
) -> Element {
    let mut group =
        titled(series_group(chart, index), &format!("{}: {}", point.case, figure_text(chart, figure)));
    let (x, top, length, height) = (px(left), px(y - BAR_HEIGHT / 2.0), px(end - left), px(BAR_HEIGHT));
    let mut style = vec![("x", x.as_str()), ("y", &top), ("width", &length), ("height", &height)];
    style.extend(match point.only_disturbed {
        true => [("fill-opacity", "0.12"), ("stroke-dasharray", "3 2")],
        false => [("fill-opacity", "0.45"), ("stroke-width", "1")],
    });
    group.append(element("rect", &style, Vec::new()));
    group.append(line((low, y), (high, y), &[("stroke-width", "2")]));
    let cap = |x: f64| line((x, y - 4.0), (x, y + 4.0), &[("stroke-width", "2")]);
    group.append(cap(low));
    if is_cut {
        let arrow = [(-7.0, -5.0), (1.0, 0.0), (-7.0, 5.0)];
        let corner = |(dx, dy): (f64, f64)| format!("{},{}", px(high + dx), px(y + dy));
        group.append(element("path", &[("d", &format!("M{}Z", arrow.map(corner).join("L")))], Vec::new()));
    } else {
        group.append(cap(high));
    }
    group
}
