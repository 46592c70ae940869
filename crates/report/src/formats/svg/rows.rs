//! Rows of a picture whose figures are lengths to the right: their names, and the axis below them.

use svg::node::element::Element;

use super::element::{Ink, WIDTH, line, shortened, text, titled, width};
use super::{MARGIN, axis_title, palette};
use crate::charts::{Chart, Scale};

/// How large words beside bars are.
pub(super) const SIZE: f64 = 12.5;

/// Names are cut where they are wider.
const NAME_LIMIT: f64 = 400.0;

/// What a figure behind its bar needs.
const FIGURE_WIDTH: f64 = 76.0;

/// Where rows begin and end.
pub(super) struct Rows<'c> {
    chart: &'c Chart,
    pub scale: Scale,
    pub left: f64,
    right: f64,
    top: f64,
    row_height: f64,
    room_below: f64,
    names: Vec<String>,
}

impl<'c> Rows<'c> {
    /// `room_below`: the part of a row below its bar and name.
    pub(super) fn of(chart: &'c Chart, top: f64, row_height: f64, room_below: f64) -> Self {
        let names: Vec<String> =
            chart.x.ticks.iter().map(|tick| shortened(&tick.text, SIZE, NAME_LIMIT)).collect();
        let left = MARGIN + names.iter().map(|name| width(name, SIZE)).fold(0.0, f64::max) + 8.0;
        let right = WIDTH - MARGIN - FIGURE_WIDTH;
        Self { chart, scale: Scale::of(chart), left, right, top: top + 6.0, row_height, room_below, names }
    }

    /// Where a value stands.
    pub(super) fn x(&self, value: f64) -> f64 {
        self.x_of_part(self.scale.part(value))
    }

    fn x_of_part(&self, part: f64) -> f64 {
        self.left + (self.right - self.left) * part
    }

    /// The middle of a row's bar.
    pub(super) fn y(&self, at: f64) -> f64 {
        self.top + at * self.row_height + (self.row_height - self.room_below) / 2.0
    }

    /// Where the picture ends, with its axis.
    pub(super) fn end(&self) -> f64 {
        self.bottom() + 46.0
    }

    fn bottom(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a few rows")]
        let rows = self.names.len() as f64;
        self.top + rows * self.row_height
    }

    /// What lies below the bars.
    pub(super) fn grid(&self) -> Vec<Element> {
        let bottom = self.bottom();
        let middle = [("text-anchor", "middle")];
        let mut parts = Vec::new();
        for tick in self.scale.ticks() {
            let (x, style) =
                (self.x_of_part(tick.part), [("class", "wb-grid"), ("stroke", palette::GRID.light)]);
            parts.push(line((x, self.top), (x, bottom + 4.0), &style));
            if let Some(words) = &tick.text {
                parts.push(text(x, bottom + 19.0, 12.0, Ink::Quiet, words, &middle));
            }
        }
        let title = axis_title(self.chart);
        parts.push(text((self.left + self.right) / 2.0, bottom + 38.0, 12.0, Ink::Strong, &title, &middle));
        parts
    }

    /// The names before the rows.
    pub(super) fn names(&self) -> impl Iterator<Item = Element> + '_ {
        self.chart.x.ticks.iter().zip(&self.names).map(|(tick, name)| {
            let end = [("text-anchor", "end")];
            let label = text(self.left - 8.0, self.y(tick.at) + 4.5, SIZE, Ink::Strong, name, &end);
            if *name == tick.text { label } else { titled(label, &tick.text) }
        })
    }
}
