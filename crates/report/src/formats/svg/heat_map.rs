use svg::Node;
use svg::node::element::Element;
use writebench_stats::as_f64;

use super::canvas::Canvas;
use super::element::*;
use super::words::{axis_title, figure_text};
use crate::charts::scale::{prefixed, symbol};
use crate::charts::{Chart, Interval, Point};
use crate::formats::palette;

const NAME_SIZE: f64 = 12.0;

/// The size of names that are too long for one line.
const SMALL: f64 = 9.5;

/// The greatest width of a name in a wide and in a narrow drawing.
const NAME_LIMITS: (f64, f64) = (260.0, 150.0);

const ROW_HEIGHT: f64 = 23.0;

/// Upright headings of narrow columns.
const UPRIGHT_SIZE: f64 = 10.0;

/// The least legible and the largest size.
const FIGURE_SIZES: (f64, f64) = (7.5, 12.0);

/// Wider cells look like bars.
const WIDEST: f64 = 110.0;

/// Width and height of the colours' key.
const KEY: (f64, f64) = (420.0, 12.0);

/// No value, as on the page.
pub(super) const NO_FIGURE: &str = "✕";

struct HeatMap<'c> {
    canvas: &'c Canvas<'c>,
    chart: &'c Chart,
    colours: [palette::Colour<String>; palette::HEAT_STEPS],
    left: f64,
    top: f64,
    width: f64,
    /// The widest value determines the size of all. None if no size is legible.
    size: Option<f64>,
    headings: Headings,
}

#[derive(Clone, Copy)]
enum Headings {
    /// Horizontal text of this size.
    Level(f64),
    /// Upright text of this height.
    Upright(f64),
}

/// Elements and their lower end.
pub(super) fn draw(canvas: &Canvas<'_>, top: f64) -> (Vec<Element>, f64) {
    let map = HeatMap::on(canvas, top);
    let mut parts = map.headings(top + 16.0);
    parts.extend((0..canvas.chart.series.len()).map(|row| map.row(row)));
    let rows = as_f64(canvas.chart.series.len() as u64);
    let (key, bottom) = map.key(map.top + rows * ROW_HEIGHT + 30.0);
    let foot = group("wb-foot", key);
    parts.push(canvas.keyed(foot, "data-row-height", &px(ROW_HEIGHT)));
    (parts, bottom)
}

impl<'c> HeatMap<'c> {
    fn on(canvas: &'c Canvas<'c>, top: f64) -> Self {
        let chart = canvas.chart;
        let limit = name_limit(canvas);
        let names = chart.series.iter();
        let names = names.map(|series| shortened(&series.name, NAME_SIZE, limit));
        let left = canvas.margin + widest(names, NAME_SIZE) + 8.0;
        let columns = as_f64(chart.x.ticks.len().max(1) as u64);
        let cell_width = ((canvas.width - canvas.margin - left) / columns).min(WIDEST);
        let figures = chart.points().map(|point| figure(chart, point));
        let size = (cell_width - 5.0) / widest(figures, 1.0).max(1.0);
        let headings = Headings::for_columns(chart, cell_width);
        let room = match headings {
            Headings::Level(_) => 0.0,
            Headings::Upright(height) => height - UPRIGHT_SIZE,
        };
        Self {
            canvas,
            chart,
            colours: palette::heat(),
            left,
            top: top + 44.0 + room,
            width: cell_width,
            size: Some(size.min(FIGURE_SIZES.1)).filter(|&size| size >= FIGURE_SIZES.0),
            headings,
        }
    }

    fn headings(&self, top: f64) -> Vec<Element> {
        let label = &self.chart.x.label;
        let mut parts = vec![text(self.left, top, NAME_SIZE, STRONG, label, &[])];
        parts.extend(self.chart.x.ticks.iter().map(|tick| {
            let x = self.x(tick.at) + self.width / 2.0;
            let y = self.top - 8.0;
            match self.headings {
                Headings::Level(size) => text(x, y, size, QUIET, &tick.text, &MIDDLE),
                Headings::Upright(_) => {
                    let x = x + UPRIGHT_SIZE * 0.36;
                    let turn = format!("rotate(-90 {} {})", px(x), px(y));
                    text(
                        x,
                        y,
                        UPRIGHT_SIZE,
                        QUIET,
                        &tick.text,
                        &[("transform", &turn)],
                    )
                }
            }
        }));
        parts
    }

    fn row(&self, index: usize) -> Element {
        let series = &self.chart.series[index];
        let y = self.top + as_f64(index as u64) * ROW_HEIGHT;
        let cells = (0..series.points.len()).map(|number| self.cell((index, number), y));
        group(
            "wb-row",
            self.name(&series.name, y).into_iter().chain(cells),
        )
    }

    fn name(&self, name: &str, y: f64) -> Vec<Element> {
        let limit = name_limit(self.canvas);
        let (end, middle) = (self.left - 8.0, y + ROW_HEIGHT / 2.0);
        match in_two_lines(name, NAME_SIZE, limit) {
            // One long word is smaller instead.
            None if width(name, NAME_SIZE) > limit => {
                vec![name_before((end, middle + 3.5), SMALL, name, limit)]
            }
            None => vec![name_before((end, middle + 4.0), NAME_SIZE, name, limit)],
            Some([above, below]) => vec![
                name_before((end, middle - 1.5), SMALL, &above, limit),
                titled(name_before((end, middle + 8.5), SMALL, &below, limit), name),
            ],
        }
    }

    fn x(&self, column: f64) -> f64 {
        self.left + column * self.width
    }

    fn cell(&self, place: (usize, usize), y: f64) -> Element {
        let series = &self.chart.series[place.0];
        let point = &series.points[place.1];
        let words = |figure: &str| format!("{}, {}: {figure}", series.name, point.case);
        let (x, width, height) = (self.x(point.x), self.width - 1.5, ROW_HEIGHT - 1.5);
        let middle = (x + width / 2.0, y + height / 2.0);
        let Some(interval) = &point.figure else {
            let (x, y) = (middle.0, middle.1 + 4.0);
            let sign = text(x, y, NAME_SIZE, QUIET, NO_FIGURE, &MIDDLE);
            return self.canvas.told(sign, place, || words("no result"));
        };
        let colour = self.colour(interval);
        let cell = Element::new("g");
        let mut cell = self
            .canvas
            .told(cell, place, || words(&figure_text(self.chart, interval)));
        cell.append(filled((x, y), (width, height), colour));
        if let Some(size) = self.size {
            let words = figure(self.chart, point);
            let (x, y) = (middle.0, middle.1 + size * 0.36);
            cell.append(text(x, y, size, palette::ink_on(colour), &words, &MIDDLE));
        }
        cell
    }

    fn colour(&self, figure: &Interval) -> &palette::Colour<String> {
        let last = as_f64(self.colours.len() as u64 - 1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a few colours"
        )]
        let step = (self.canvas.scale.part(figure.value) * last).round() as usize;
        &self.colours[step.min(self.colours.len() - 1)]
    }

    /// The colours' key, and its lower end.
    fn key(&self, top: f64) -> (Vec<Element>, f64) {
        let scale = &self.canvas.scale;
        let title = axis_title(self.chart, scale);
        let title = format!("{title} in {}", symbol(self.chart.y.unit));
        let (left, title, top) = self.key_title(&title, top);
        let mut parts = vec![title];
        let whole = self.key_width();
        let width = whole / as_f64(self.colours.len() as u64);
        let places = (0u32..).map(|step| left + f64::from(step) * width);
        // An overlap avoids gaps.
        let colours = places.zip(&self.colours);
        parts.extend(colours.map(|(x, colour)| filled((x, top), (width + 0.4, KEY.1), colour)));
        let mut free_from = f64::NEG_INFINITY;
        for (part, words) in scale.ticks() {
            let Some(words) = words else { continue };
            let (x, half) = (left + whole * part, self::width(&words, 11.0) / 2.0);
            parts.push(line((x, top + KEY.1), (x, top + KEY.1 + 4.0), &AXIS));
            if x - half >= free_from {
                parts.push(text(x, top + KEY.1 + 16.0, 11.0, QUIET, &words, &MIDDLE));
                free_from = x + half + 8.0;
            }
        }
        (parts, top + KEY.1 + 26.0)
    }

    fn key_width(&self) -> f64 {
        // Labels at the ends are wider than the colours.
        KEY.0
            .min(self.canvas.width - 2.0 * self.canvas.margin - 40.0)
    }

    /// The left end of the colours, the title before or above them, and their upper end.
    fn key_title(&self, title: &str, top: f64) -> (f64, Element, f64) {
        let Canvas { width, margin, .. } = *self.canvas;
        if self.canvas.is_narrow() {
            let title = text(margin, top, NAME_SIZE, STRONG, title, &[]);
            return (margin + 20.0, title, top + 8.0);
        }
        let left = self.left.max(margin + self::width(title, NAME_SIZE) + 8.0);
        let left = left.min(width - margin - KEY.0);
        let place = (left - 8.0, top + KEY.1 - 1.5);
        let title = text(place.0, place.1, NAME_SIZE, STRONG, title, &END);
        (left, title, top)
    }
}

impl Headings {
    fn for_columns(chart: &Chart, cell_width: f64) -> Self {
        let texts = || chart.x.ticks.iter().map(|tick| &tick.text);
        let size = (cell_width - 7.0) / widest(texts(), 1.0).max(1.0);
        if size < FIGURE_SIZES.0 {
            Self::Upright(widest(texts(), UPRIGHT_SIZE))
        } else {
            Self::Level(size.min(NAME_SIZE))
        }
    }
}

fn name_limit(canvas: &Canvas<'_>) -> f64 {
    let (wide, narrow) = NAME_LIMITS;
    if canvas.is_narrow() { narrow } else { wide }
}

/// Three digits and a prefix: all cells have the same unit.
fn figure(chart: &Chart, point: &Point) -> String {
    let Some(figure) = &point.figure else {
        return String::new();
    };
    let tilde = if point.all_disturbed { "~" } else { "" };
    format!("{tilde}{}", prefixed(figure.value, chart.y.unit).trim_end())
}

fn filled(place: (f64, f64), size: (f64, f64), colour: &palette::Colour<String>) -> Element {
    let class = palette::class(colour);
    rect(
        place,
        size,
        &[
            ("class", &class),
            ("fill", &colour.light),
            ("stroke-width", NO_STROKE),
        ],
    )
}
