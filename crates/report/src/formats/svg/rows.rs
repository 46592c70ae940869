//! Rows from top to bottom, each with a name, above an axis. The page closes up rows that its filters leave out, so a
//! row, the lines of the grid and the foot are groups.

use svg::node::element::Element;
use writebench_stats::as_f64;

use super::canvas::Canvas;
use super::element::*;
use super::words::axis_title;
use crate::charts::{Chart, Tick, value_text};

pub(super) const SIZE: f64 = 12.5;

/// The size of names in several lines.
const SMALL: f64 = 10.5;
const SMALL_LINE: f64 = 12.5;

/// Wider names have several lines.
const NAME_LIMIT: f64 = 400.0;

/// The size of names above their rows.
const NARROW_SIZE: f64 = SIZE;
const LINE_HEIGHT: f64 = 15.0;

/// Between a name and the value before it.
const ABOVE_NAMES: f64 = 3.0;

/// The least space for the value after a bar.
const FIGURE_WIDTH: f64 = 76.0;

/// Between a bar's end and its value, and after that.
const FIGURE_GAP: f64 = 7.0;

/// The height of the axis below the rows, in a chart of its own and in a part of several.
const FOOT_HEIGHTS: (f64, f64) = (46.0, 26.0);

pub(super) struct Rows<'c> {
    canvas: &'c Canvas<'c>,
    pub left: f64,
    right: f64,
    top: f64,
    row_height: f64,
    room_above: f64,
    room_below: f64,
    has_names: bool,
    /// How much lower a row of a part would be if all were as high as the highest, and the end of the rows as well.
    raised: Vec<f64>,
}

impl<'c> Rows<'c> {
    /// `room_below`: space below the bar and the name beside it.
    pub(super) fn on(canvas: &'c Canvas<'c>, top: f64, height: f64, room_below: f64) -> Self {
        let room_above = if canvas.has_names_above() {
            let lines = names(canvas.chart).map(|name| lines_above(canvas, name).len());
            as_f64(lines.max().unwrap_or(1) as u64) * LINE_HEIGHT + ABOVE_NAMES
        } else {
            0.0
        };
        let (beside, height) = if canvas.has_names_above() {
            (0.0, height)
        } else {
            let lines = || names(canvas.chart).map(|name| lines_beside(canvas.chart, name));
            let most = lines().map(|(_, lines)| lines.len()).max().unwrap_or(1);
            let widths = lines().map(|(size, lines)| widest(lines.iter(), size));
            let needed = as_f64(most as u64) * SMALL_LINE + 2.0 + room_below;
            (widths.fold(0.0, f64::max) + 8.0, height.max(needed))
        };
        Self {
            left: canvas.margin + beside,
            room_above,
            room_below,
            has_names: true,
            raised: raised(canvas, room_above, height),
            ..Self::without_names(canvas, top, height + room_above)
        }
    }

    /// Rows that have no names, for more of them than are legible.
    pub(super) fn without_names(canvas: &'c Canvas<'c>, top: f64, row_height: f64) -> Self {
        Self {
            canvas,
            left: canvas.margin,
            right: canvas.width - canvas.margin - figure_width(canvas.chart),
            top: top + 6.0,
            row_height,
            room_above: 0.0,
            room_below: 0.0,
            has_names: false,
            raised: Vec::new(),
        }
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.x_of_part(self.canvas.scale.part(value))
    }

    fn x_of_part(&self, part: f64) -> f64 {
        self.left + (self.right - self.left) * part
    }

    /// The middle of a bar.
    pub(super) fn y(&self, at: f64) -> f64 {
        let height = self.row_height - self.room_above - self.room_below;
        self.begin(at) + self.room_above + height / 2.0
    }

    /// The upper end of a row with the most lines of names.
    fn begin(&self, at: f64) -> f64 {
        let ticks = self.canvas.chart.x.ticks.iter();
        let before = ticks.filter(|tick| tick.at < at).count();
        let raised = self.raised.get(before).copied().unwrap_or(0.0);
        self.top + at * self.row_height - raised
    }

    fn bottom(&self) -> f64 {
        self.begin(as_f64(self.canvas.chart.x.ticks.len() as u64))
    }

    /// A line across all rows.
    pub(super) fn across(&self, value: f64, style: &[(&str, &str)]) -> Element {
        self.lines([self.x(value)], style)
    }

    fn lines(&self, places: impl IntoIterator<Item = f64>, style: &[(&str, &str)]) -> Element {
        let (top, end) = (px(self.top), px(self.bottom() + 4.0));
        let lines = places.into_iter();
        let lines: String = lines.map(|x| format!("M{},{top}V{end}", px(x))).collect();
        path(&lines, style)
    }

    /// The grid, the rows with their names and the foot. The second result is the lower end.
    pub(super) fn finish(
        &self,
        across: Option<Element>,
        rows: impl IntoIterator<Item = (f64, Vec<Element>)>,
    ) -> (Vec<Element>, f64) {
        let ticks = self.canvas.scale.ticks().into_iter();
        let grid = self.lines(ticks.map(|(part, _)| self.x_of_part(part)), &GRID);
        let mut parts = vec![group("wb-lines", [grid].into_iter().chain(across))];
        let rows = rows.into_iter().map(|(at, mut parts)| {
            parts.extend(self.name(at));
            group("wb-row", parts)
        });
        parts.extend(rows);
        parts.push(self.foot());
        let (alone, of_part) = FOOT_HEIGHTS;
        let foot = if self.canvas.is_part { of_part } else { alone };
        (parts, self.bottom() + foot)
    }

    fn foot(&self) -> Element {
        let bottom = self.bottom();
        let mut texts = Vec::new();
        let mut free_from = f64::NEG_INFINITY;
        for (part, words) in self.canvas.scale.ticks() {
            let Some(words) = words else { continue };
            let (x, half) = (self.x_of_part(part), width(&words, 12.0) / 2.0);
            // Nothing is left of the margin.
            let x = x.max(self.canvas.margin + half);
            if x - half >= free_from {
                texts.push(text(x, bottom + 19.0, 12.0, QUIET, &words, &MIDDLE));
                free_from = x + half + 4.0;
            }
        }
        let title = axis_title(self.canvas.chart, &self.canvas.scale);
        if self.canvas.is_part {
            // Longer ones are in the heading as well.
            let x = free_from.max(self.right) + FIGURE_GAP;
            let title = shortened(&title, 12.0, self.canvas.width - self.canvas.margin - x);
            texts.push(text(x, bottom + 19.0, 12.0, QUIET, &title, &[]));
        } else {
            let middle = (self.left + self.right) / 2.0;
            texts.push(text(middle, bottom + 38.0, 12.0, STRONG, &title, &MIDDLE));
        }
        let height = px(self.row_height);
        self.canvas
            .keyed(group("wb-foot", texts), "data-row-height", &height)
    }

    /// The text of a value, after its bar.
    pub(super) fn value(&self, end: f64, at: f64, value: f64, all_disturbed: bool) -> Element {
        let tilde = if all_disturbed { "~" } else { "" };
        let words = format!("{tilde}{}", value_text(value, self.canvas.chart.y.unit));
        self.words(end, at, &words)
    }

    /// A text after a bar, or in place of one.
    pub(super) fn words(&self, end: f64, at: f64, words: &str) -> Element {
        text(end + FIGURE_GAP, self.y(at) + 4.5, SIZE, STRONG, words, &[])
    }

    fn name(&self, at: f64) -> Vec<Element> {
        let ticks = &self.canvas.chart.x.ticks;
        let tick = ticks.iter().find(|tick| tick.at.total_cmp(&at).is_eq());
        match tick {
            Some(tick) if self.has_names && self.canvas.has_names_above() => self.name_above(tick),
            Some(tick) if self.has_names => self.name_beside(tick),
            _ => Vec::new(),
        }
    }

    fn name_above(&self, tick: &Tick) -> Vec<Element> {
        let lines = lines_above(self.canvas, &tick.text);
        let top = self.begin(tick.at) + self.room_above - 4.0;
        let first = top - as_f64(lines.len() as u64 - 1) * LINE_HEIGHT;
        let line = |(index, words): (u32, String)| {
            let y = first + f64::from(index) * LINE_HEIGHT;
            text(self.canvas.margin, y, NARROW_SIZE, STRONG, &words, &[])
        };
        (0..).zip(lines).map(line).collect()
    }

    fn name_beside(&self, tick: &Tick) -> Vec<Element> {
        let end = self.left - 8.0;
        let (size, lines) = lines_beside(self.canvas.chart, &tick.text);
        let above = as_f64(lines.len() as u64 - 1) * SMALL_LINE / 2.0;
        let first = self.y(tick.at) + 4.5 - above;
        let line = |(index, words): (u32, String)| {
            let y = first + f64::from(index) * SMALL_LINE;
            text(end, y, size, STRONG, &words, &END)
        };
        (0..).zip(lines).map(line).collect()
    }
}

fn names(chart: &Chart) -> impl Iterator<Item = &str> {
    chart.x.ticks.iter().map(|tick| tick.text.as_str())
}

/// [`Rows::raised`], which is empty if the chart is no part: scripts close up its rows by their common height.
fn raised(canvas: &Canvas<'_>, room_above: f64, height: f64) -> Vec<f64> {
    if !canvas.is_part {
        return Vec::new();
    }
    let mut by = 0.0;
    let mut raised = Vec::new();
    for tick in &canvas.chart.x.ticks {
        let lines = as_f64(lines_above(canvas, &tick.text).len() as u64);
        by += room_above - (lines * LINE_HEIGHT + ABOVE_NAMES);
        raised.push(by);
        let has_bar = canvas
            .chart
            .points()
            .any(|point| point.x.total_cmp(&tick.at).is_eq() && point.figure.is_some());
        // A reason has no bar below it.
        by += if has_bar { 0.0 } else { height - ABOVE_NAMES };
    }
    raised.push(by);
    raised
}

/// The size of a name beside its row, and its lines.
fn lines_beside(chart: &Chart, name: &str) -> (f64, Vec<String>) {
    // All have one size.
    if widest(names(chart), SIZE) <= NAME_LIMIT {
        return (SIZE, vec![name.to_owned()]);
    }
    (SMALL, broken(name, SMALL, NAME_LIMIT))
}

/// Space for the longest value.
fn figure_width(chart: &Chart) -> f64 {
    let words = chart
        .points()
        .filter(|point| point.figure.is_some())
        .filter_map(|point| point.words.as_ref());
    f64::max(widest(words, SIZE) + FIGURE_GAP, FIGURE_WIDTH)
}

fn lines_above(canvas: &Canvas<'_>, name: &str) -> Vec<String> {
    broken(name, NARROW_SIZE, canvas.width - 2.0 * canvas.margin)
}
