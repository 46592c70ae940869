//! Horizontal bars in rows: whole ones with a strip of dots for samples below each, and ones of parts.

use std::collections::HashSet;

use svg::Node;
use svg::node::element::Element;

use super::canvas::{Canvas, key};
use super::element::*;
use super::legend::series_group;
use super::rows::{Rows, SIZE};
use super::words::figure_text;
use crate::charts::scale::stacked;
use crate::charts::{Chart, Dot, Interval, Point, Scale, Series};
use crate::formats::palette;
use crate::sentences::counted;

/// The height of a row in a chart of bars alone, and in a part of several charts.
const ROW_HEIGHTS: (f64, f64) = (24.0, 18.0);
const BAR_HEIGHT: f64 = 14.0;

/// The heights of a row and its bar, if the bar has parts.
const STACKED_HEIGHTS: (f64, f64) = (22.0, 15.0);

/// A separate strip: dots cover neither the bar's end nor its interval.
const STRIP_HEIGHT: f64 = 7.0;

/// The distance from the bar's middle to the strip.
const STRIP_BELOW: f64 = BAR_HEIGHT / 2.0 + 3.5;

/// The most dots that are all drawn. If there are more, those on the same pixel are drawn once.
const MANY_DOTS: usize = 4000;

/// Elements and their lower end.
pub(super) fn draw(canvas: &Canvas<'_>, top: f64) -> (Vec<Element>, f64) {
    let chart = canvas.chart;
    let has_dots = dots(chart).next().is_some();
    let strip = if has_dots { STRIP_HEIGHT + 2.0 } else { 0.0 };
    let (alone, of_part) = ROW_HEIGHTS;
    let height = if canvas.is_part { of_part } else { alone };
    let bars = Bars {
        canvas,
        rows: Rows::on(canvas, top, height + strip, strip),
        are_many_dots: dots(chart).count() > MANY_DOTS,
    };
    let points = chart.series.iter().enumerate().flat_map(|(index, series)| {
        let numbers = 0..series.points.len();
        numbers.map(move |number| (index, number))
    });
    let mut rows: Vec<(f64, Vec<Element>)> = points.map(|place| bars.row(place)).collect();
    // The page closes up rows in their order, whatever their series.
    rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    bars.rows.finish(None, rows)
}

/// Bars of parts.
pub(super) fn draw_stacked(canvas: &Canvas<'_>, top: f64) -> (Vec<Element>, f64) {
    let rows = Rows::on(canvas, top, STACKED_HEIGHTS.0, 0.0);
    let bars = stacked(canvas.chart).into_iter();
    let bars = bars.map(|bar| (bar.0, parts_of(canvas, &rows, bar)));
    rows.finish(None, bars)
}

/// The parts of a place, then its whole.
fn parts_of(canvas: &Canvas<'_>, rows: &Rows<'_>, (at, whole): (f64, f64)) -> Vec<Element> {
    let (y, height) = (rows.y(at), STACKED_HEIGHTS.1);
    let points = points_at(canvas.chart, at);
    let mut parts = Vec::new();
    let mut begin = 0.0;
    for &(place, point) in &points {
        let Some(figure) = &point.figure else {
            continue;
        };
        let (from, to) = (rows.x(begin), rows.x(begin + figure.value));
        begin += figure.value;
        let colour = palette::colour(canvas.chart, place.0);
        let class = palette::class(&colour);
        let style = [
            ("class", class.as_str()),
            ("fill", &colour.light),
            ("stroke-width", NO_STROKE),
        ];
        let part = rect((from, y - height / 2.0), (to - from, height), &style);
        parts.push(canvas.told(part, place, || {
            let series = &canvas.chart.series[place.0].name;
            let value = figure_text(canvas.chart, figure);
            format!("{}, {series}: {value}", point.case)
        }));
    }
    if parts.is_empty() {
        let words = text(rows.left + 7.0, y + 4.5, SIZE, QUIET, "no result", &[]);
        let first = points
            .first()
            .map_or(String::new(), |(place, _)| key(*place));
        return vec![canvas.keyed(words, "data-point", &first)];
    }
    let all_disturbed = points.iter().any(|(_, point)| point.all_disturbed);
    parts.push(rows.value(rows.x(whole), at, whole, all_disturbed));
    parts
}

/// The points at a place, with the numbers of their series and of themselves.
fn points_at(chart: &Chart, at: f64) -> Vec<((usize, usize), &Point)> {
    let of_series = |(index, series): (usize, &'_ Series)| {
        let number = series
            .points
            .iter()
            .position(|point| point.x.total_cmp(&at).is_eq())?;
        Some((index, number))
    };
    let places = chart.series.iter().enumerate().filter_map(of_series);
    places
        .map(|place| (place, &chart.series[place.0].points[place.1]))
        .collect()
}

fn dots(chart: &Chart) -> impl Iterator<Item = &Dot> {
    chart.points().flat_map(|point| &point.dots)
}

pub(super) fn marks(chart: &Chart, scale: &Scale) -> Vec<String> {
    let mut marks = Vec::new();
    if chart
        .points()
        .any(|point| point.is_single() && point.figure.is_some())
    {
        marks.push("Empty bar: one sample, which proves nothing.".to_owned());
    }
    if chart.points().any(|point| point.plain.is_some()) {
        marks.push("Dotted line: plain write on the same target.".to_owned());
    }
    if dots(chart).next().is_some() {
        let cross = if dots(chart).any(|(_, is_disturbed)| *is_disturbed) {
            ", cross: a disturbed sample"
        } else {
            ""
        };
        marks.push(format!("Dot below a bar: a sample{cross}."));
    }
    let beyond = dots(chart)
        .filter(|(value, _)| !scale.holds(*value))
        .count();
    if beyond > 0 {
        marks.push(format!(
            "Outside the picture: {}.",
            counted(beyond, "sample")
        ));
    }
    marks
}

struct Bars<'c> {
    canvas: &'c Canvas<'c>,
    rows: Rows<'c>,
    are_many_dots: bool,
}

impl Bars<'_> {
    fn row(&self, place: (usize, usize)) -> (f64, Vec<Element>) {
        let (index, number) = place;
        let point = &self.canvas.chart.series[index].points[number];
        let y = self.rows.y(point.x);
        let mut parts = Vec::new();
        if !point.dots.is_empty() {
            parts.push(self.dots_of(place, point, y + STRIP_BELOW));
        }
        if let Some(figure) = &point.figure {
            parts.push(self.bar(place, point, figure, y));
            let end = self.rows.x(figure.value).max(self.rows.x(figure.high));
            let value = match &point.words {
                Some(words) => self.rows.words(end, point.x, words),
                None => self
                    .rows
                    .value(end, point.x, figure.value, point.all_disturbed),
            };
            parts.push(value);
        }
        (point.x, parts)
    }

    /// Spread by a rule, for the same picture every time.
    fn dots_of(&self, place: (usize, usize), point: &Point, top: f64) -> Element {
        // Multiples of the golden ratio are spread evenly, however many.
        const GOLDEN: f64 = 0.618_033_988_749_895;
        let scale = &self.canvas.scale;
        let mut met = HashSet::new();
        let mut calm = Dots::default();
        let mut disturbed = Dots::default();
        let dots = (0u32..).zip(&point.dots);
        for (number, &(value, is_disturbed)) in dots.filter(|(_, (value, _))| scale.holds(*value)) {
            let x = self.rows.x(value);
            let y = top + (f64::from(number) * GOLDEN).fract() * STRIP_HEIGHT;
            let pixel = (px(x.round()), px(y.round()), is_disturbed);
            if self.are_many_dots && !met.insert(pixel) {
                continue;
            }
            if is_disturbed {
                let cross = format!("M{},{}l4,4m0,-4l-4,4", px(x - 2.0), px(y - 2.0));
                disturbed.add(number, &cross);
            } else {
                // A zero-length line with round ends.
                calm.add(number, &format!("M{},{}h0", px(x), px(y)));
            }
        }
        let group = series_group(self.canvas, place.0);
        let mut group = self.canvas.keyed(group, "data-dots", &key(place));
        for (dots, class, stroke_width) in
            [(calm, "wb-dots", "3.8"), (disturbed, "wb-crosses", "1.1")]
        {
            if !dots.path.is_empty() {
                let style = [
                    ("class", class),
                    ("fill", "none"),
                    ("stroke-width", stroke_width),
                    ("stroke-linecap", "round"),
                    ("stroke-opacity", "0.8"),
                ];
                let path = path(&dots.path, &style);
                group.append(match dots.numbers() {
                    Some(numbers) => self.canvas.keyed(path, "data-samples", &numbers),
                    None => path,
                });
            }
        }
        group
    }

    fn bar(&self, place: (usize, usize), point: &Point, figure: &Interval, y: f64) -> Element {
        let rows = &self.rows;
        let [end, low, high] = [figure.value, figure.low, figure.high].map(|value| rows.x(value));
        let group = series_group(self.canvas, place.0);
        let mut group = self.canvas.told(group, place, || {
            let words = point.words.clone();
            let words = words.unwrap_or_else(|| figure_text(self.canvas.chart, figure));
            format!("{}: {words}", point.case)
        });
        let style = match point {
            Point {
                all_disturbed: true,
                ..
            } => [("fill-opacity", "0.12"), ("stroke-dasharray", "3 2")],
            point if point.is_single() => [("fill-opacity", "0"), ("stroke-width", "1")],
            _ => [("fill-opacity", "0.45"), ("stroke-width", "1")],
        };
        let corner = (rows.left, y - BAR_HEIGHT / 2.0);
        group.append(rect(corner, (end - rows.left, BAR_HEIGHT), &style));
        if let Some(plain) = point.plain {
            group.append(self.plain_mark(plain, y));
        }
        // One sample has no interval.
        if !figure.has_width() && self.canvas.scale.holds(figure.high) {
            return group;
        }
        // The lower end, the interval, and the higher end or an arrow.
        let is_whole = self.canvas.scale.holds(figure.high);
        let end = if is_whole { "m0,-4v8" } else { "" };
        let (from, to) = (px(low), px(high));
        let whisker = format!("M{from},{}v8m0,-4H{to}{end}", px(y - 4.0));
        group.append(path(&whisker, &[("fill", "none"), ("stroke-width", "2")]));
        if !is_whole {
            let arrow = [(-7.0, -5.0), (1.0, 0.0), (-7.0, 5.0)];
            let corners = arrow.map(|(dx, dy)| (high + dx, y + dy));
            group.append(path(&format!("{}Z", through(corners)), &[]));
        }
        group
    }

    /// The value of plain write, across the bar.
    fn plain_mark(&self, value: f64, y: f64) -> Element {
        let (x, half) = (self.rows.x(value), BAR_HEIGHT / 2.0 + 3.0);
        let style = [
            ("class", "wb-even"),
            ("stroke", STRONG[1].1),
            ("stroke-width", "1.5"),
            ("stroke-dasharray", "2 2"),
        ];
        line((x, y - half), (x, y + half), &style)
    }
}

/// Samples of one look.
#[derive(Default)]
struct Dots {
    path: String,
    /// The numbers of the samples, in the order of the path.
    numbers: Vec<u32>,
}

impl Dots {
    fn add(&mut self, number: u32, dot: &str) {
        self.path += dot;
        self.numbers.push(number);
    }

    /// The numbers as text. None if they are the first ones, in order, which is usual.
    fn numbers(&self) -> Option<String> {
        if (0..)
            .zip(&self.numbers)
            .all(|(index, number)| index == *number)
        {
            return None;
        }
        let numbers = self.numbers.iter().map(u32::to_string);
        Some(numbers.collect::<Vec<_>>().join(" "))
    }
}
