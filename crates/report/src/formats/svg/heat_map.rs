use svg::Node;
use svg::node::element::Element;
use writebench_stats::as_f64;

use super::element::*;
use super::words::{axis_title, figure_text};
use crate::charts::scale::{prefixed, symbol};
use crate::charts::{Chart, Interval, Point, Scale};
use crate::formats::palette;

const NAME_SIZE: f64 = 12.0;
const NAME_LIMIT: f64 = 260.0;
const ROW_HEIGHT: f64 = 23.0;

/// The least legible and the largest size.
const FIGURE_SIZES: (f64, f64) = (7.5, 12.0);

/// Wider cells look like bars.
const WIDEST: f64 = 110.0;

/// Width and height of the colours' key.
const KEY: (f64, f64) = (420.0, 12.0);

/// No value, as on the page.
pub(super) const NO_FIGURE: &str = "✕";

struct HeatMap<'c> {
    chart: &'c Chart,
    scale: Scale,
    colours: [palette::Colour<String>; palette::HEAT_STEPS],
    left: f64,
    top: f64,
    width: f64,
    /// The widest value determines the size of all.
    size: f64,
}

/// Elements and their lower end.
pub(super) fn draw(chart: &Chart, top: f64) -> (Vec<Element>, f64) {
    let map = HeatMap::for_chart(chart, top + 44.0);
    let mut parts = map.headings(top + 16.0);
    for (row, series) in (0u32..).zip(&chart.series) {
        let y = map.top + f64::from(row) * ROW_HEIGHT;
        let place = (map.left - 8.0, y + ROW_HEIGHT / 2.0 + 4.0);
        parts.push(name_before(place, NAME_SIZE, &series.name, NAME_LIMIT));
        parts.extend(
            series
                .points
                .iter()
                .map(|point| map.cell(&series.name, point, y)),
        );
    }
    let bottom = map.top + as_f64(chart.series.len() as u64) * ROW_HEIGHT;
    parts.extend(map.key(bottom + 30.0));
    (parts, bottom + 30.0 + KEY.1 + 26.0)
}

impl<'c> HeatMap<'c> {
    fn for_chart(chart: &'c Chart, top: f64) -> Self {
        let names = chart
            .series
            .iter()
            .map(|series| shortened(&series.name, NAME_SIZE, NAME_LIMIT));
        let left = MARGIN + widest(names, NAME_SIZE) + 8.0;
        let columns = as_f64(chart.x.ticks.len().max(1) as u64);
        let cell_width = ((WIDTH - MARGIN - left) / columns).min(WIDEST);
        let figures = chart.points().map(|point| figure(chart, point));
        let size = ((cell_width - 5.0) / widest(figures, 1.0).max(1.0))
            .clamp(FIGURE_SIZES.0, FIGURE_SIZES.1);
        let (scale, colours) = (Scale::for_chart(chart), palette::heat());
        Self {
            chart,
            scale,
            colours,
            left,
            top,
            width: cell_width,
            size,
        }
    }

    fn headings(&self, top: f64) -> Vec<Element> {
        let label = &self.chart.x.label;
        let mut parts = vec![text(self.left, top, NAME_SIZE, STRONG, label, &[])];
        let ticks = self.chart.x.ticks.iter().map(|tick| &tick.text);
        let size =
            ((self.width - 7.0) / widest(ticks, 1.0).max(1.0)).clamp(FIGURE_SIZES.0, NAME_SIZE);
        parts.extend(self.chart.x.ticks.iter().map(|tick| {
            text(
                self.x(tick.at) + self.width / 2.0,
                self.top - 8.0,
                size,
                QUIET,
                &tick.text,
                &MIDDLE,
            )
        }));
        parts
    }

    fn x(&self, column: f64) -> f64 {
        self.left + column * self.width
    }

    fn cell(&self, row: &str, point: &Point, y: f64) -> Element {
        let (x, width, height) = (self.x(point.x), self.width - 1.5, ROW_HEIGHT - 1.5);
        let Some(interval) = &point.figure else {
            let sign = text(
                x + width / 2.0,
                y + height / 2.0 + 4.0,
                NAME_SIZE,
                QUIET,
                NO_FIGURE,
                &MIDDLE,
            );
            return titled(sign, &format!("{row}, {}: no result", point.case));
        };
        let colour = self.colour(interval);
        let mut cell = titled(
            Element::new("g"),
            &format!(
                "{row}, {}: {}",
                point.case,
                figure_text(self.chart, interval)
            ),
        );
        cell.append(filled((x, y), (width, height), colour));
        let words = figure(self.chart, point);
        let (x, y) = (x + width / 2.0, y + height / 2.0 + self.size * 0.36);
        cell.append(text(
            x,
            y,
            self.size,
            palette::ink_on(colour),
            &words,
            &MIDDLE,
        ));
        cell
    }

    fn colour(&self, figure: &Interval) -> &palette::Colour<String> {
        let last = as_f64(self.colours.len() as u64 - 1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a few colours"
        )]
        let step = (self.scale.part(figure.value) * last).round() as usize;
        &self.colours[step.min(self.colours.len() - 1)]
    }

    fn key(&self, top: f64) -> Vec<Element> {
        let title = format!(
            "{} in {}",
            axis_title(self.chart),
            symbol(self.chart.y.unit)
        );
        let left = self.left.min(WIDTH - MARGIN - KEY.0);
        let mut parts = vec![text(
            left - 8.0,
            top + KEY.1 - 1.5,
            NAME_SIZE,
            STRONG,
            &title,
            &END,
        )];
        let width = KEY.0 / as_f64(self.colours.len() as u64);
        // An overlap avoids gaps.
        let places = (0u32..).map(|step| left + f64::from(step) * width);
        parts.extend(
            places
                .zip(&self.colours)
                .map(|(x, colour)| filled((x, top), (width + 0.4, KEY.1), colour)),
        );
        let mut free_from = f64::NEG_INFINITY;
        for (part, words) in self.scale.ticks() {
            let Some(words) = words else { continue };
            let (x, half) = (left + KEY.0 * part, self::width(&words, 11.0) / 2.0);
            parts.push(line((x, top + KEY.1), (x, top + KEY.1 + 4.0), &AXIS));
            if x - half >= free_from {
                parts.push(text(x, top + KEY.1 + 16.0, 11.0, QUIET, &words, &MIDDLE));
                free_from = x + half + 8.0;
            }
        }
        parts
    }
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
            ("stroke-width", "0"),
        ],
    )
}
