//! Horizontal bars in rows: whole ones with a strip of dots for samples below each, and ones of parts.

use std::collections::HashSet;

use svg::Node;
use svg::node::element::Element;
use writebench_stats::as_f64;

use super::element::*;
use super::legend::series_group;
use super::words::{axis_title, figure_text};
use crate::charts::scale::stacked;
use crate::charts::{Chart, Dot, Interval, Point, Scale, value_text};
use crate::sentences::counted;

const SIZE: f64 = 12.5;

/// Of names in two lines.
const SMALL: f64 = 10.5;

/// Wider names have two lines.
const NAME_LIMIT: f64 = 400.0;

/// Space for the value after a bar.
const FIGURE_WIDTH: f64 = 76.0;

const ROW_HEIGHT: f64 = 24.0;
const BAR_HEIGHT: f64 = 14.0;

/// Of bars of parts.
const STACKED_HEIGHTS: (f64, f64) = (22.0, 15.0);

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
            let Some(figure) = &point.figure else {
                continue;
            };
            parts.push(bar(chart, index, point, figure, &rows, y));
            let end = rows.x(figure.value).max(rows.x(figure.high));
            parts.push(rows.value(end, point.x, figure.value, point.all_disturbed));
        }
    }
    rows.finish(parts)
}

/// Bars of parts.
pub(super) fn draw_stacked(chart: &Chart, top: f64) -> (Vec<Element>, f64) {
    let (row_height, height) = STACKED_HEIGHTS;
    let rows = Rows::for_chart(chart, top, row_height, 0.0);
    let mut parts = rows.grid();
    for (at, whole) in stacked(chart) {
        let y = rows.y(at);
        let mut begin = 0.0;
        let (mut is_empty, mut all_disturbed) = (true, false);
        for (index, series) in chart.series.iter().enumerate() {
            for point in series
                .points
                .iter()
                .filter(|point| point.x.total_cmp(&at).is_eq())
            {
                all_disturbed |= point.all_disturbed;
                let Some(figure) = &point.figure else {
                    continue;
                };
                let (from, to) = (rows.x(begin), rows.x(begin + figure.value));
                (begin, is_empty) = (begin + figure.value, false);
                let words = format!(
                    "{}, {}: {}",
                    point.case,
                    series.name,
                    figure_text(chart, figure)
                );
                let mut part = titled(series_group(chart, index), &words);
                part.append(rect(
                    (from, y - height / 2.0),
                    (to - from, height),
                    &[("stroke", "none")],
                ));
                parts.push(part);
            }
        }
        parts.push(match is_empty {
            true => text(rows.left + 7.0, y + 4.5, SIZE, QUIET, "no result", &[]),
            false => rows.value(rows.x(whole), at, whole, all_disturbed),
        });
    }
    rows.finish(parts)
}

fn dots(chart: &Chart) -> impl Iterator<Item = &Dot> {
    chart.points().flat_map(|point| &point.dots)
}

pub(super) fn marks(chart: &Chart, scale: &Scale) -> Vec<String> {
    let mut marks = Vec::new();
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

/// Spread by a rule, for the same picture every time.
fn dots_of(chart: &Chart, index: usize, point: &Point, rows: &Rows<'_>, top: f64) -> Element {
    // Multiples of the golden ratio are spread evenly, however many.
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let are_many = dots(chart).count() > MANY_DOTS;
    let mut met = HashSet::new();
    let (mut calm, mut disturbed) = (String::new(), String::new());
    let shown = (0u32..)
        .zip(&point.dots)
        .filter(|(_, (value, _))| rows.scale.holds(*value));
    for (number, &(value, is_disturbed)) in shown {
        let (x, y) = (
            rows.x(value),
            top + (f64::from(number) * GOLDEN).fract() * STRIP_HEIGHT,
        );
        let pixel = (px(x.round()), px(y.round()), is_disturbed);
        if are_many && !met.insert(pixel) {
            continue;
        }
        if is_disturbed {
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

fn bar(
    chart: &Chart,
    index: usize,
    point: &Point,
    figure: &Interval,
    rows: &Rows<'_>,
    y: f64,
) -> Element {
    let [end, low, high] = [figure.value, figure.low, figure.high].map(|value| rows.x(value));
    let mut group = titled(
        series_group(chart, index),
        &format!("{}: {}", point.case, figure_text(chart, figure)),
    );
    let style = match point.all_disturbed {
        true => [("fill-opacity", "0.12"), ("stroke-dasharray", "3 2")],
        false => [("fill-opacity", "0.45"), ("stroke-width", "1")],
    };
    group.append(rect(
        (rows.left, y - BAR_HEIGHT / 2.0),
        (end - rows.left, BAR_HEIGHT),
        &style,
    ));
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

struct Rows<'c> {
    chart: &'c Chart,
    scale: Scale,
    left: f64,
    right: f64,
    top: f64,
    row_height: f64,
    room_below: f64,
}

impl<'c> Rows<'c> {
    /// `room_below`: space below the bar and name.
    fn for_chart(chart: &'c Chart, top: f64, row_height: f64, room_below: f64) -> Self {
        let names = chart
            .x
            .ticks
            .iter()
            .map(|tick| shortened(&tick.text, SIZE, NAME_LIMIT));
        let left = MARGIN + widest(names, SIZE) + 8.0;
        let right = WIDTH - MARGIN - FIGURE_WIDTH;
        Self {
            chart,
            scale: Scale::for_chart(chart),
            left,
            right,
            top: top + 6.0,
            row_height,
            room_below,
        }
    }

    fn x(&self, value: f64) -> f64 {
        self.x_of_part(self.scale.part(value))
    }

    fn x_of_part(&self, part: f64) -> f64 {
        self.left + (self.right - self.left) * part
    }

    fn y(&self, at: f64) -> f64 {
        self.top + at * self.row_height + (self.row_height - self.room_below) / 2.0
    }

    fn bottom(&self) -> f64 {
        self.top + as_f64(self.chart.x.ticks.len() as u64) * self.row_height
    }

    fn grid(&self) -> Vec<Element> {
        let bottom = self.bottom();
        let mut parts = Vec::new();
        for (part, text_of_tick) in self.scale.ticks() {
            let x = self.x_of_part(part);
            parts.push(line((x, self.top), (x, bottom + 4.0), &GRID));
            if let Some(words) = text_of_tick {
                parts.push(text(x, bottom + 19.0, 12.0, QUIET, &words, &MIDDLE));
            }
        }
        let title = axis_title(self.chart);
        parts.push(text(
            (self.left + self.right) / 2.0,
            bottom + 38.0,
            12.0,
            STRONG,
            &title,
            &MIDDLE,
        ));
        parts
    }

    /// After its bar.
    fn value(&self, end: f64, at: f64, value: f64, all_disturbed: bool) -> Element {
        let tilde = if all_disturbed { "~" } else { "" };
        let words = format!("{tilde}{}", value_text(value, self.chart.y.unit));
        text(end + 7.0, self.y(at) + 4.5, SIZE, STRONG, &words, &[])
    }

    /// Adds the names. Elements and their lower end, with the axis.
    fn finish(&self, mut parts: Vec<Element>) -> (Vec<Element>, f64) {
        let end = self.left - 8.0;
        for tick in &self.chart.x.ticks {
            let y = self.y(tick.at) + 4.5;
            match in_two_lines(&tick.text, SIZE, NAME_LIMIT) {
                None => parts.push(name_before((end, y), SIZE, &tick.text, NAME_LIMIT)),
                Some([above, below]) => {
                    parts.push(text(end, y - 6.0, SMALL, STRONG, &above, &END));
                    parts.push(titled(
                        name_before((end, y + 5.0), SMALL, &below, NAME_LIMIT),
                        &tick.text,
                    ));
                }
            }
        }
        (parts, self.bottom() + 46.0)
    }
}
