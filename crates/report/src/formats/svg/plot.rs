//! Lines with bands, and groups of marks with whiskers.

use svg::Node;
use svg::node::element::Element;
use writebench_stats::as_f64;

use super::canvas::{Canvas, key};
use super::element::*;
use super::legend::{marker, ring, series_group, stroke};
use super::words::{axis_title, figure_text, place_text};
use crate::charts::{Chart, ChartKind, Interval, Point, Tick, XScale, value_text};
use crate::formats::palette;
use crate::numbers::least_and_most;

/// The height of the plot in a wide and in a narrow drawing.
const HEIGHTS: (f64, f64) = (400.0, 300.0);

/// The space before the first place and after the last one, in a wide and in a narrow drawing.
const INSETS: (f64, f64) = (26.0, 12.0);

const SIZE: f64 = 12.5;

/// Width and height of text at 40 degrees, as parts of its length.
const TURNED: (f64, f64) = (0.766, 0.643);

/// Wider rotated text is cut.
const TURNED_LIMITS: (f64, f64) = (210.0, 120.0);

/// The share of a category's width for its marks.
const GROUP_PART: f64 = 0.82;

/// The most space for a mark: groups remain close.
const MARK_ROOM: f64 = 22.0;

/// More series have fainter bands, because they overlap.
const MANY: usize = 3;

/// Between marks of a line with many points.
const MARKS_APART: f64 = 70.0;

/// The number of lines after which marks start at the same place again.
const MARKS_ASIDE: u64 = 6;

struct Plot<'c> {
    canvas: &'c Canvas<'c>,
    chart: &'c Chart,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// The first and the last place, in steps of [`evenly`].
    ends: (f64, f64),
}

/// Consecutive points: the number of the first, and the place and the interval of each.
struct Stretch {
    first: usize,
    places: Vec<(f64, Interval)>,
}

/// Elements and their lower end.
pub(super) fn draw(canvas: &Canvas<'_>, top: f64) -> (Vec<Element>, f64) {
    let mut plot = Plot::on(canvas, top + 30.0);
    let is_turned = plot.x_texts_collide();
    if is_turned {
        plot.make_room_for_turned_texts();
    }
    let title = axis_title(canvas.chart, &canvas.scale);
    let title_y = plot.top - 12.0;
    let mut parts = vec![text(canvas.margin, title_y, SIZE, STRONG, &title, &[])];
    parts.extend(plot.stripes());
    parts.extend(plot.y_axis());
    let (x_axis, bottom) = plot.x_axis(is_turned);
    parts.extend(x_axis);
    let series = 0..canvas.chart.series.len();
    if canvas.chart.kind == ChartKind::Lines {
        // Bands are below all lines.
        parts.extend(series.clone().map(|index| plot.bands(index)));
        parts.extend(series.map(|index| plot.line_of(index)));
    } else {
        parts.extend(series.map(|index| plot.marks(index)));
    }
    (parts, bottom)
}

fn of_width(canvas: &Canvas<'_>, (wide, narrow): (f64, f64)) -> f64 {
    if canvas.is_narrow() { narrow } else { wide }
}

impl<'c> Plot<'c> {
    fn on(canvas: &'c Canvas<'c>, top: f64) -> Self {
        let texts = canvas.scale.ticks().into_iter();
        let texts = texts.filter_map(|(_, text)| text);
        Self {
            canvas,
            chart: canvas.chart,
            left: canvas.margin + widest(texts, SIZE) + 8.0,
            right: canvas.width - canvas.margin,
            top,
            bottom: top + of_width(canvas, HEIGHTS),
            ends: ends(canvas.chart),
        }
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.canvas.scale.part(value)
    }

    fn inset(&self) -> f64 {
        of_width(self.canvas, INSETS)
    }

    fn turned_limit(&self) -> f64 {
        of_width(self.canvas, TURNED_LIMITS)
    }

    fn category_width(&self) -> f64 {
        (self.right - self.left) / as_f64(self.chart.x.ticks.len().max(1) as u64)
    }

    fn x(&self, at: f64) -> f64 {
        if self.chart.x.scale == XScale::Categories {
            return self.left + self.category_width() * (at + 0.5);
        }
        let (first, last) = self.ends;
        let part = if last > first {
            (evenly(self.chart.x.scale, at) - first) / (last - first)
        } else {
            0.5
        };
        let (left, right) = (self.left + self.inset(), self.right - self.inset());
        left + (right - left) * part
    }

    fn x_texts_collide(&self) -> bool {
        let is_near = |pair: &[Tick]| {
            let needed = (width(&pair[0].text, SIZE) + width(&pair[1].text, SIZE)) / 2.0 + 6.0;
            self.x(pair[1].at) - self.x(pair[0].at) < needed
        };
        self.chart.x.ticks.windows(2).any(is_near)
    }

    /// Rotated text ends at its tick, and begins left of it.
    fn make_room_for_turned_texts(&mut self) {
        let reach = |tick: &Tick| {
            let text = shortened(&tick.text, SIZE, self.turned_limit());
            self.canvas.margin + width(&text, SIZE) * TURNED.0 - (self.x(tick.at) - self.left)
        };
        self.left = self
            .chart
            .x
            .ticks
            .iter()
            .map(reach)
            .fold(self.left, f64::max);
    }

    /// Shades every other category.
    fn stripes(&self) -> Vec<Element> {
        if self.chart.kind != ChartKind::Groups {
            return Vec::new();
        }
        let size = (self.category_width(), self.bottom - self.top);
        let stripe = |tick: &Tick| {
            let place = (self.x(tick.at) - self.category_width() / 2.0, self.top);
            rect(
                place,
                size,
                &[("class", "wb-stripe"), ("fill", palette::STRIPE.light)],
            )
        };
        self.chart
            .x
            .ticks
            .iter()
            .skip(1)
            .step_by(2)
            .map(stripe)
            .collect()
    }

    fn y_axis(&self) -> Vec<Element> {
        let mut parts = Vec::new();
        let (mut named, mut between) = (Vec::new(), Vec::new());
        for (part, words) in self.canvas.scale.ticks() {
            let y = self.bottom - (self.bottom - self.top) * part;
            let Some(words) = words else {
                between.push(y);
                continue;
            };
            named.push(y);
            parts.push(text(self.left - 7.0, y + 4.0, SIZE, QUIET, &words, &END));
        }
        parts.extend(self.grid(&between, "0.5"));
        parts.extend(self.grid(&named, "1"));
        if self.canvas.scale.has_break {
            let y = self.bottom - (self.bottom - self.top) * self.canvas.scale.break_part();
            parts.push(line((self.left, self.top), (self.left, y - 2.0), &AXIS));
            parts.push(line((self.left, self.bottom), (self.left, y + 4.0), &AXIS));
            for y in [y - 2.0, y + 4.0] {
                parts.push(line(
                    (self.left - 5.0, y + 2.5),
                    (self.left + 5.0, y - 2.5),
                    &AXIS,
                ));
            }
        } else {
            parts.push(line((self.left, self.top), (self.left, self.bottom), &AXIS));
        }
        parts
    }

    fn grid(&self, places: &[f64], width: &str) -> Option<Element> {
        let (left, right) = (px(self.left), px(self.right));
        let lines = places.iter();
        let lines: String = lines
            .map(|y| format!("M{left},{}H{right}", px(*y)))
            .collect();
        let style = [&GRID[..], &[("stroke-width", width)]].concat();
        (!places.is_empty()).then(|| path(&lines, &style))
    }

    /// The axis with its text, and the text's lower end.
    fn x_axis(&self, is_turned: bool) -> (Vec<Element>, f64) {
        let mut parts = Vec::new();
        let (left, y) = (px(self.left), px(self.bottom));
        let mut marks = format!("M{left},{y}H{}", px(self.right));
        let mut height = 20.0;
        let mut last_x = f64::NEG_INFINITY;
        for tick in &self.chart.x.ticks {
            let x = self.x(tick.at);
            if self.chart.x.scale != XScale::Categories {
                marks += &format!("M{},{}v5", px(x), px(self.bottom));
                // Some of such close numbers are enough.
                if x - last_x < 14.0 {
                    continue;
                }
            }
            last_x = x;
            let limit = if is_turned {
                self.turned_limit()
            } else {
                f64::INFINITY
            };
            let words = shortened(&tick.text, SIZE, limit);
            let y = self.bottom + if is_turned { 15.0 } else { 20.0 };
            let turn = format!("rotate(-40 {} {})", px(x + 3.0), px(y));
            let turned = [("text-anchor", "end"), ("transform", turn.as_str())];
            let (x, attributes) = if is_turned {
                (x + 3.0, &turned[..])
            } else {
                (x, &MIDDLE[..])
            };
            let label = text(x, y, SIZE, QUIET, &words, attributes);
            parts.push(if words == tick.text {
                label
            } else {
                titled(label, &tick.text)
            });
            height = if is_turned {
                f64::max(height, 15.0 + width(&words, SIZE) * TURNED.1)
            } else {
                height
            };
        }
        parts.push(path(&marks, &AXIS));
        let bottom = self.bottom + height + 18.0;
        let middle = (self.left + self.right) / 2.0;
        parts.push(text(
            middle,
            bottom,
            SIZE,
            STRONG,
            &self.chart.x.label,
            &MIDDLE,
        ));
        (parts, bottom + 8.0)
    }

    /// Consecutive points with values.
    fn stretches(&self, index: usize) -> impl Iterator<Item = Stretch> + '_ {
        let points = self.chart.series[index].points.iter().enumerate();
        let points: Vec<_> = points.collect();
        let stretches = points
            .split(|(_, point)| point.figure.is_none())
            .map(|points| self.stretch(points));
        stretches.flatten().collect::<Vec<_>>().into_iter()
    }

    fn stretch(&self, points: &[(usize, &Point)]) -> Option<Stretch> {
        let placed = |(_, point): &(usize, &Point)| Some((self.x(point.x), point.figure?));
        Some(Stretch {
            first: points.first()?.0,
            places: points.iter().filter_map(placed).collect(),
        })
    }

    /// Between the ends of intervals. An isolated point has a whisker.
    fn bands(&self, index: usize) -> Element {
        let mut group = series_group(self.canvas, index);
        let faint = match self.chart.x.scale {
            _ if self.chart.series.len() <= MANY => "0.18",
            // The range of all samples is wide.
            XScale::Percentile => "0.04",
            _ => "0.09",
        };
        for Stretch { first, places } in self.stretches(index) {
            let place = key((index, first));
            let there = places.iter().map(|(x, figure)| (*x, self.y(figure.high)));
            let back = places
                .iter()
                .rev()
                .map(|(x, figure)| (*x, self.y(figure.low)));
            group.append(match places.as_slice() {
                [(x, figure)] => {
                    let whisker = self.whisker(*x, figure);
                    self.canvas.keyed(whisker, "data-point", &place)
                }
                _ => {
                    let band = format!("{}Z", through(there.chain(back)));
                    let band = path(&band, &[("fill-opacity", faint), ("stroke", "none")]);
                    self.canvas.keyed(band, "data-band", &place)
                }
            });
        }
        group
    }

    fn line_of(&self, index: usize) -> Element {
        let mut group = series_group(self.canvas, index);
        for Stretch { first, places } in self.stretches(index) {
            if places.len() > 1 {
                let style = [stroke(index, "1.8"), vec![("fill", "none")]].concat();
                let corners = places.iter().map(|(x, figure)| (*x, self.y(figure.value)));
                let line = path(&through(corners), &style);
                let place = key((index, first));
                group.append(self.canvas.keyed(line, "data-line", &place));
            }
        }
        for number in self.marked(index) {
            let point = &self.chart.series[index].points[number];
            let x = self.x(point.x);
            if let Some(mark) = self.mark((index, number), x, 3.8) {
                group.append(mark);
            }
        }
        group
    }

    /// The numbers of all points, or of many along time or shares only some, away from other lines' marks.
    fn marked(&self, index: usize) -> Vec<usize> {
        let points = &self.chart.series[index].points;
        if matches!(self.chart.x.scale, XScale::Log2 | XScale::Categories) {
            return (0..points.len()).collect();
        }
        let aside = as_f64(index as u64 % MARKS_ASIDE) * MARKS_APART / as_f64(MARKS_ASIDE);
        let mut free_from = self.left + self.inset() + aside;
        let last = points.len().saturating_sub(1);
        let mut marked = Vec::new();
        for (place, point) in points.iter().enumerate() {
            // The last is the longest call, or the end.
            if self.x(point.x) >= free_from || place == last {
                free_from = self.x(point.x) + MARKS_APART;
                marked.push(place);
            }
        }
        marked
    }

    fn marks(&self, index: usize) -> Element {
        let mut group = series_group(self.canvas, index);
        let (index_part, count) = (
            as_f64(index as u64) + 0.5,
            as_f64(self.chart.series.len() as u64),
        );
        let room = (self.category_width() * GROUP_PART).min(MARK_ROOM * count);
        let aside = room * (index_part / count - 0.5);
        let radius = (room / count / 1.4).clamp(2.6, 4.2);
        for (number, point) in self.chart.series[index].points.iter().enumerate() {
            let x = self.x(point.x) + aside;
            if let Some(figure) = point.figure.as_ref().filter(|figure| figure.has_width()) {
                let whisker = self.whisker(x, figure);
                let place = key((index, number));
                group.append(self.canvas.keyed(whisker, "data-point", &place));
            }
            if let Some(mark) = self.mark((index, number), x, radius) {
                group.append(mark);
            }
        }
        group
    }

    fn whisker(&self, x: f64, figure: &Interval) -> Element {
        line((x, self.y(figure.low)), (x, self.y(figure.high)), &[])
    }

    /// The mark of a point with its tooltip. None if the point has no value.
    fn mark(&self, (index, number): (usize, usize), x: f64, radius: f64) -> Option<Element> {
        let series = &self.chart.series[index];
        let point = &series.points[number];
        let figure = point.figure.as_ref()?;
        let mut group = self.canvas.told(Element::new("g"), (index, number), || {
            self.words(&series.name, point, figure)
        });
        let place = (x, self.y(figure.value));
        group.append(marker(index, place, radius));
        if point.all_disturbed {
            group.append(ring(place));
        }
        Some(group)
    }

    fn words(&self, name: &str, point: &Point, figure: &Interval) -> String {
        let value = figure_text(self.chart, figure);
        let place = place_text(self.chart, point.x);
        let words = match self.chart.x.scale {
            // The case's name includes the place.
            XScale::Log2 | XScale::Categories => format!(": {value}"),
            XScale::Percentile => format!(" at {place}: {value}"),
            // A moment of one sample has no interval.
            XScale::Linear => format!(
                " at {place}: {}",
                value_text(figure.value, self.chart.y.unit)
            ),
        };
        format!("{name}, {}{words}", point.case)
    }
}

/// Places in steps of even width.
fn evenly(scale: XScale, at: f64) -> f64 {
    match scale {
        XScale::Log2 => at.log2(),
        XScale::Linear | XScale::Percentile | XScale::Categories => at,
    }
}

/// The first and the last place that has a name or a value.
fn ends(chart: &Chart) -> (f64, f64) {
    let places = chart
        .x
        .ticks
        .iter()
        .map(|tick| tick.at)
        .chain(chart.points().map(|point| point.x));
    least_and_most(places.map(|at| evenly(chart.x.scale, at))).unwrap_or_default()
}
