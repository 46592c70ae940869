use svg::node::element::Element;
use writebench_stats::as_f64;

use super::element::*;
use super::words::axis_title;
use crate::charts::{Chart, Scale};

pub(super) const SIZE: f64 = 12.5;

/// Wider names are cut.
const NAME_LIMIT: f64 = 400.0;

/// Space for the value after a bar.
const FIGURE_WIDTH: f64 = 76.0;

pub(super) struct Rows<'c> {
    chart: &'c Chart,
    pub scale: Scale,
    pub left: f64,
    right: f64,
    top: f64,
    row_height: f64,
    room_below: f64,
}

impl<'c> Rows<'c> {
    /// `room_below`: space below the bar and name.
    pub(super) fn for_chart(chart: &'c Chart, top: f64, row_height: f64, room_below: f64) -> Self {
        let names = chart.x.ticks.iter().map(|tick| shortened(&tick.text, SIZE, NAME_LIMIT));
        let left = MARGIN + widest(names, SIZE) + 8.0;
        let right = WIDTH - MARGIN - FIGURE_WIDTH;
        Self { chart, scale: Scale::for_chart(chart), left, right, top: top + 6.0, row_height, room_below }
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.x_of_part(self.scale.part(value))
    }

    fn x_of_part(&self, part: f64) -> f64 {
        self.left + (self.right - self.left) * part
    }

    pub(super) fn y(&self, at: f64) -> f64 {
        self.top + at * self.row_height + (self.row_height - self.room_below) / 2.0
    }

    /// With the axis.
    pub(super) fn end(&self) -> f64 {
        self.bottom() + 46.0
    }

    fn bottom(&self) -> f64 {
        self.top + as_f64(self.chart.x.ticks.len() as u64) * self.row_height
    }

    pub(super) fn grid(&self) -> Vec<Element> {
        let bottom = self.bottom();
        let mut parts = Vec::new();
        for tick in self.scale.ticks() {
            let x = self.x_of_part(tick.part);
            parts.push(line((x, self.top), (x, bottom + 4.0), &GRID));
            if let Some(words) = &tick.text {
                parts.push(text(x, bottom + 19.0, 12.0, QUIET, words, &MIDDLE));
            }
        }
        let title = axis_title(self.chart);
        parts.push(text((self.left + self.right) / 2.0, bottom + 38.0, 12.0, STRONG, &title, &MIDDLE));
        parts
    }

    pub(super) fn names(&self) -> impl Iterator<Item = Element> + '_ {
        self.chart
            .x
            .ticks
            .iter()
            .map(|tick| name_before((self.left - 8.0, self.y(tick.at) + 4.5), SIZE, &tick.text, NAME_LIMIT))
    }
}
