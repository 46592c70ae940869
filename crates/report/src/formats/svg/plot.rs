//! Lines with their bands, and groups of marks with their whiskers, on two axes.

use svg::Node;
use svg::node::element::Element;

use super::element::{Ink, WIDTH, element, line, px, shortened, text, titled, width};
use super::legend::series_group;
use super::{MARGIN, axis_title, marker, palette};
use crate::chart::{Chart, Interval, Kind, Point, Scale, Tick, XScale, value_text};

const HEIGHT: f64 = 400.0;
const SIZE: f64 = 12.0;

/// A text that is turned takes that part of its width in each direction (40 degrees).
const TURNED: (f64, f64) = (0.766, 0.643);

/// Words that are turned are cut where they are wider.
const TURNED_LIMIT: f64 = 210.0;

/// The share of a category's width that its marks take.
const GROUP_PART: f64 = 0.82;

/// The most that a mark takes: what belongs together stands together.
const MARK_ROOM: f64 = 22.0;

/// Bands of more series than that are fainter, since they lie on each other.
const MANY: usize = 3;

/// The axes, and what is between them.
struct Plot<'c> {
    chart: &'c Chart,
    scale: Scale,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// The picture below `top`, and where it ends.
pub(super) fn draw(chart: &Chart, top: f64) -> (Vec<Element>, f64) {
    let scale = Scale::of(chart);
    let texts = scale.ticks();
    let widest =
        texts.iter().filter_map(|tick| tick.text.as_deref()).map(|it| width(it, SIZE)).fold(0.0, f64::max);
    let top = top + 30.0;
    let mut plot =
        Plot { chart, scale, left: MARGIN + widest + 8.0, right: WIDTH - MARGIN, top, bottom: top + HEIGHT };
    let is_turned = plot.x_texts_collide();
    if is_turned {
        plot.make_room_for_turned_texts();
    }
    let mut parts = vec![text(MARGIN, top - 12.0, SIZE, Ink::Strong, &axis_title(chart), &[])];
    parts.extend(plot.stripes());
    parts.extend(plot.y_axis());
    let (x_axis, bottom) = plot.x_axis(is_turned);
    parts.extend(x_axis);
    if chart.kind == Kind::Lines {
        // All bands below all lines.
        parts.extend((0..chart.series.len()).map(|index| plot.bands(index)));
        parts.extend((0..chart.series.len()).map(|index| plot.line_of(index)));
    } else {
        parts.extend((0..chart.series.len()).map(|index| plot.marks(index)));
    }
    (parts, bottom)
}

impl Plot<'_> {
    fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.scale.part(value)
    }

    fn category_width(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a few categories")]
        let count = self.chart.x.ticks.len().max(1) as f64;
        (self.right - self.left) / count
    }

    fn x(&self, at: f64) -> f64 {
        if self.chart.x.scale == XScale::Categories {
            return self.left + self.category_width() * (at + 0.5);
        }
        let ends = self.chart.x.ticks.first().zip(self.chart.x.ticks.last());
        let (first, last) = ends.map_or((1.0, 1.0), |(first, last)| (first.at, last.at));
        let part = if last > first { (at / first).log2() / (last / first).log2() } else { 0.5 };
        let (left, right) = (self.left + 26.0, self.right - 26.0);
        left + (right - left) * part
    }

    fn x_texts_collide(&self) -> bool {
        let is_near = |pair: &[Tick]| {
            let needed = (width(&pair[0].text, SIZE) + width(&pair[1].text, SIZE)) / 2.0 + 6.0;
            self.x(pair[1].at) - self.x(pair[0].at) < needed
        };
        self.chart.x.ticks.windows(2).any(is_near)
    }

    /// Turned words end at their tick, and begin to the left of it.
    fn make_room_for_turned_texts(&mut self) {
        let reach = |tick: &Tick| {
            let text = shortened(&tick.text, SIZE, TURNED_LIMIT);
            MARGIN + width(&text, SIZE) * TURNED.0 - (self.x(tick.at) - self.left)
        };
        self.left = self.chart.x.ticks.iter().map(reach).fold(self.left, f64::max);
    }

    /// Every other category is shaded.
    fn stripes(&self) -> Vec<Element> {
        if self.chart.kind != Kind::Groups {
            return Vec::new();
        }
        let (width, height) = (px(self.category_width()), px(self.bottom - self.top));
        let stripe = |tick: &Tick| {
            let (x, y) = (px(self.x(tick.at) - self.category_width() / 2.0), px(self.top));
            let place = [("x", x.as_str()), ("y", &y), ("width", &width), ("height", &height)];
            let colour = [("class", "wb-stripe"), ("fill", palette::STRIPE.light)];
            element("rect", &[&place[..], &colour].concat(), Vec::new())
        };
        self.chart.x.ticks.iter().skip(1).step_by(2).map(stripe).collect()
    }

    fn y_axis(&self) -> Vec<Element> {
        let mut parts = Vec::new();
        for tick in self.scale.ticks() {
            let y = self.bottom - (self.bottom - self.top) * tick.part;
            let faint = if tick.text.is_some() { "1" } else { "0.5" };
            let style = [("class", "wb-grid"), ("stroke", palette::GRID.light), ("stroke-width", faint)];
            parts.push(line((self.left, y), (self.right, y), &style));
            if let Some(words) = &tick.text {
                let end = [("text-anchor", "end")];
                parts.push(text(self.left - 7.0, y + 4.0, SIZE, Ink::Quiet, words, &end));
            }
        }
        let style = [("class", "wb-axis"), ("stroke", palette::AXIS.light)];
        if self.scale.has_break() {
            let y = self.bottom - (self.bottom - self.top) * self.scale.break_part();
            parts.push(line((self.left, self.top), (self.left, y - 2.0), &style));
            parts.push(line((self.left, self.bottom), (self.left, y + 4.0), &style));
            for y in [y - 2.0, y + 4.0] {
                parts.push(line((self.left - 5.0, y + 2.5), (self.left + 5.0, y - 2.5), &style));
            }
        } else {
            parts.push(line((self.left, self.top), (self.left, self.bottom), &style));
        }
        parts
    }

    /// The axis, and where its words end.
    fn x_axis(&self, is_turned: bool) -> (Vec<Element>, f64) {
        let style = [("class", "wb-axis"), ("stroke", palette::AXIS.light)];
        let mut parts = vec![line((self.left, self.bottom), (self.right, self.bottom), &style)];
        let mut height = 20.0;
        let mut last_x = f64::NEG_INFINITY;
        for tick in &self.chart.x.ticks {
            let x = self.x(tick.at);
            if self.chart.x.scale == XScale::Log2 {
                parts.push(line((x, self.bottom), (x, self.bottom + 5.0), &style));
            }
            // Where numbers are as near as that, some of them say enough.
            let is_crowded = x - last_x < 14.0 && self.chart.x.scale == XScale::Log2;
            if is_crowded {
                continue;
            }
            last_x = x;
            let words = shortened(&tick.text, SIZE, TURNED_LIMIT);
            let words = if is_turned { words } else { tick.text.clone() };
            let y = self.bottom + if is_turned { 15.0 } else { 20.0 };
            let turn = format!("rotate(-40 {} {})", px(x + 3.0), px(y));
            let turned = [("text-anchor", "end"), ("transform", turn.as_str())];
            let (x, attributes) =
                if is_turned { (x + 3.0, &turned[..]) } else { (x, &[("text-anchor", "middle")][..]) };
            let label = text(x, y, SIZE, Ink::Quiet, &words, attributes);
            parts.push(if words == tick.text { label } else { titled(label, &tick.text) });
            height = if is_turned { f64::max(height, 15.0 + width(&words, SIZE) * TURNED.1) } else { height };
        }
        let bottom = self.bottom + height + 18.0;
        let middle = [("text-anchor", "middle")];
        parts.push(text(
            (self.left + self.right) / 2.0,
            bottom,
            SIZE,
            Ink::Strong,
            &self.chart.x.label,
            &middle,
        ));
        (parts, bottom + 8.0)
    }

    /// The points of a series between those that have no figure.
    fn stretches(&self, index: usize) -> impl Iterator<Item = Vec<(f64, Interval)>> + '_ {
        let points = &self.chart.series[index].points;
        let stretches = points.split(|point| point.figure.is_none());
        let placed = |point: &Point| Some((self.x(point.x), point.figure?));
        stretches.map(move |points| points.iter().filter_map(placed).collect())
    }

    /// From the lower to the upper ends of the intervals; a point that stands alone has a whisker.
    fn bands(&self, index: usize) -> Element {
        let mut group = series_group(self.chart, index);
        for stretch in self.stretches(index) {
            if let [(x, figure)] = stretch.as_slice() {
                group.append(self.whisker(*x, figure));
                continue;
            }
            let corner = |x: f64, value: f64| format!("{},{}", px(x), px(self.y(value)));
            let there = stretch.iter().map(|(x, figure)| corner(*x, figure.high));
            let back = stretch.iter().rev().map(|(x, figure)| corner(*x, figure.low));
            let corners: Vec<String> = there.chain(back).collect();
            if !corners.is_empty() {
                let path = format!("M{}Z", corners.join("L"));
                let faint = if self.chart.series.len() > MANY { "0.09" } else { "0.18" };
                let style = [("d", path.as_str()), ("fill-opacity", faint), ("stroke", "none")];
                group.append(element("path", &style, Vec::new()));
            }
        }
        group
    }

    fn line_of(&self, index: usize) -> Element {
        let mut group = series_group(self.chart, index);
        for stretch in self.stretches(index).filter(|stretch| stretch.len() > 1) {
            let corner = |(x, figure): &(f64, Interval)| format!("{},{}", px(*x), px(self.y(figure.median)));
            let path = format!("M{}", stretch.iter().map(corner).collect::<Vec<_>>().join("L"));
            let mut style = vec![("d", path.as_str()), ("fill", "none"), ("stroke-width", "1.8")];
            if !marker::dashes(index).is_empty() {
                style.push(("stroke-dasharray", marker::dashes(index)));
            }
            group.append(element("path", &style, Vec::new()));
        }
        for point in &self.chart.series[index].points {
            group.append(self.mark(index, point, self.x(point.x), 3.8));
        }
        group
    }

    /// The series' marks in all categories, beside those of the other series.
    fn marks(&self, index: usize) -> Element {
        let mut group = series_group(self.chart, index);
        #[expect(clippy::cast_precision_loss, reason = "a few series")]
        let (index_part, count) = (index as f64 + 0.5, self.chart.series.len() as f64);
        let room = (self.category_width() * GROUP_PART).min(MARK_ROOM * count);
        let aside = room * (index_part / count - 0.5);
        let radius = (room / count / 1.4).clamp(2.6, 4.2);
        for point in &self.chart.series[index].points {
            let x = self.x(point.x) + aside;
            if let Some(figure) = &point.figure {
                group.append(self.whisker(x, figure));
            }
            group.append(self.mark(index, point, x, radius));
        }
        group
    }

    fn whisker(&self, x: f64, figure: &Interval) -> Element {
        line((x, self.y(figure.low)), (x, self.y(figure.high)), &[])
    }

    /// The mark of a point, with its figures for those who point at it; nothing where there is no figure.
    fn mark(&self, index: usize, point: &Point, x: f64, radius: f64) -> Element {
        let mut group = Element::new("g");
        let Some(figure) = &point.figure else { return group };
        let place = (x, self.y(figure.median));
        let name = &self.chart.series[index].name;
        group = titled(group, &format!("{name}, {}: {}", point.case, figure_text(self.chart, figure)));
        group.append(marker::marker(index, place, radius));
        if point.only_disturbed {
            group.append(marker::ring(place));
        }
        group
    }
}

/// A figure with its interval.
pub(super) fn figure_text(chart: &Chart, figure: &Interval) -> String {
    let text = |value| value_text(value, chart.y.unit);
    format!("{} ({} to {})", text(figure.median), text(figure.low), text(figure.high))
}
