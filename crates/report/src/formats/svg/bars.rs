//! Bars, with a strip of dots for samples below each.

use std::collections::HashSet;

use svg::Node;
use svg::node::element::Element;

use super::element::*;
use super::legend::series_group;
use super::rows::{Rows, SIZE};
use super::words::figure_text;
use crate::charts::{Chart, Dot, Interval, Point, Scale, value_text};
use crate::sentences::counted;

const ROW_HEIGHT: f64 = 24.0;
const BAR_HEIGHT: f64 = 14.0;

/// A separate strip: dots cover neither the bar's end nor its interval.
const STRIP_HEIGHT: f64 = 7.0;

/// From the bar's middle to the strip.
const STRIP_BELOW: f64 = BAR_HEIGHT / 2.0 + 3.5;

/// With more dots, those on the same pixel are drawn once.
const MANY_DOTS: usize = 4000;

/// Elements and their lower end.
pub(super) fn draw(chart: &Chart, top: f64) -> (Vec<Element>, f64) {
    let has_dots = dots(chart).next().is_some();
    let strip = if has_dots { STRIP_HEIGHT + 2.0 } else { 0.0 };
    let rows = Rows::for_chart(chart, top, ROW_HEIGHT + strip, strip);
    let mut parts = rows.grid();
    for (index, series) in chart.series.iter().enumerate() {
        for point in &series.points {
            let y = rows.y(point.x);
            parts.extend(has_dots.then(|| dots_of(chart, index, point, &rows, y + STRIP_BELOW)));
            let Some(figure) = &point.figure else { continue };
            parts.push(bar(chart, index, point, figure, &rows, y));
            let tilde = if point.only_disturbed { "~" } else { "" };
            let words = format!("{tilde}{}", value_text(figure.value, chart.y.unit));
            let end = rows.x(figure.value).max(rows.x(figure.high));
            parts.push(text(end + 7.0, y + 4.5, SIZE, STRONG, &words, &[]));
        }
    }
    parts.extend(rows.names());
    (parts, rows.end())
}

fn dots(chart: &Chart) -> impl Iterator<Item = &Dot> {
    chart.points().flat_map(|point| &point.dots)
}

pub(super) fn marks(chart: &Chart, scale: &Scale) -> Vec<String> {
    let mut marks = Vec::new();
    if dots(chart).next().is_some() {
        let cross = if dots(chart).any(|dot| dot.is_disturbed) { ", cross: a disturbed sample" } else { "" };
        marks.push(format!("Dot below a bar: a sample{cross}."));
    }
    let beyond = dots(chart).filter(|dot| !scale.holds(dot.value)).count();
    if beyond > 0 {
        marks.push(format!("Outside the picture: {}.", counted(beyond, "sample")));
    }
    marks
}

/// Spread by a rule, for the same picture every time.
fn dots_of(chart: &Chart, index: usize, point: &Point, rows: &Rows<'_>, top: f64) -> Element {
    // Multiples of the golden ratio are spread evenly, however many.
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let are_many = dots(chart).count() > MANY_DOTS;
    let mut met = HashSet::new();
    let (mut calm, mut disturbed) = (String::new(), String::new());
    for (number, dot) in (0u32..).zip(&point.dots).filter(|(_, dot)| rows.scale.holds(dot.value)) {
        let (x, y) = (rows.x(dot.value), top + (f64::from(number) * GOLDEN).fract() * STRIP_HEIGHT);
        let pixel = (px(x.round()), px(y.round()), dot.is_disturbed);
        if are_many && !met.insert(pixel) {
            continue;
        }
        if dot.is_disturbed {
            disturbed += &format!("M{},{}l4,4m0,-4l-4,4", px(x - 2.0), px(y - 2.0));
        } else {
            // A zero-length line with round ends.
            calm += &format!("M{},{}h0", px(x), px(y));
        }
    }
    let mut group = series_group(chart, index);
    for (path, stroke_width) in [(calm, "3.8"), (disturbed, "1.1")] {
        if !path.is_empty() {
            let style = [
                ("fill", "none"),
                ("stroke-width", stroke_width),
                ("stroke-linecap", "round"),
                ("stroke-opacity", "0.8"),
            ];
            group.append(self::path(&path, &style));
        }
    }
    group
}

fn bar(chart: &Chart, index: usize, point: &Point, figure: &Interval, rows: &Rows<'_>, y: f64) -> Element {
    let [end, low, high] = [figure.value, figure.low, figure.high].map(|value| rows.x(value));
    let mut group =
        titled(series_group(chart, index), &format!("{}: {}", point.case, figure_text(chart, figure)));
    let style = match point.only_disturbed {
        true => [("fill-opacity", "0.12"), ("stroke-dasharray", "3 2")],
        false => [("fill-opacity", "0.45"), ("stroke-width", "1")],
    };
    group.append(rect((rows.left, y - BAR_HEIGHT / 2.0), (end - rows.left, BAR_HEIGHT), &style));
    group.append(line((low, y), (high, y), &[("stroke-width", "2")]));
    let cap = |x: f64| line((x, y - 4.0), (x, y + 4.0), &[("stroke-width", "2")]);
    group.append(cap(low));
    if rows.scale.holds(figure.high) {
        group.append(cap(high));
    } else {
        let arrow = [(-7.0, -5.0), (1.0, 0.0), (-7.0, 5.0)];
        let corners = arrow.map(|(dx, dy)| (high + dx, y + dy));
        group.append(path(&format!("{}Z", through(corners)), &[]));
    }
    group
}
