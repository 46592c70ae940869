//! A chart as an independent SVG file, and the same drawing as a part of the page.
//!
//! Attributes have every colour, for viewers without style sheets. The style sheet only replaces colours on
//! dark screens. Elements have no ids, for several pictures in one page.

mod bars;
mod canvas;
mod element;
mod goals;
mod heat_map;
mod index;
mod lean;
mod legend;
mod page;
mod plot;
mod ratios;
mod rows;
mod words;

use std::path::Path;

use svg::node::Text;
use svg::node::element::Element;

use self::canvas::Canvas;
use self::element::{MARGIN, QUIET, STRONG, WIDTH, element, text, wrapped};
pub(super) use self::goals::picture as picture_of_goals;
pub(super) use self::legend::LegendItem;
pub(super) use self::page::{Picture, picture};
use self::words::description;
use super::{MARK, RenderedFiles, palette};
use crate::charts::{self, Chart, ChartFamily, ChartKind, NamedChart, Point, Scale, XScale};
use crate::sentences::Report;

const FONTS: &str =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/// More bars of parts do not fit.
const MOST_BARS: usize = 60;

/// More lines are a tangle.
const MOST_LINES: usize = 12;

/// All charts on one page: with several targets, those of each question are side by side.
pub(super) const INDEX: &str = "charts.html";

fn file_name(named: &NamedChart) -> String {
    format!("{}.svg", named.file_stem)
}

/// The chart of all answers.
pub(super) const GOALS: &str = "goals.svg";

/// The answers to all goals, and a chart for each goal. A run of suites or cases has the charts of their questions as
/// well. Replaces files of other runs with the same names.
pub(super) fn files(report: &Report, directory: &Path) -> RenderedFiles {
    let mut charts = charts::charts(std::slice::from_ref(report));
    if report.is_search() || report.is_of_goals() {
        charts.retain(|named| named.family == ChartFamily::Ranked);
    }
    let goals = charts::goals::chart(std::slice::from_ref(report));
    let goals = goals.map(|goals| (GOALS.to_owned(), goals::render(&goals)));
    let file = |named: &NamedChart| (file_name(named), render(&named.chart));
    let has_goals = goals.is_some();
    let mut files: Vec<_> = goals.into_iter().chain(charts.iter().map(file)).collect();
    if !files.is_empty() {
        files.push((INDEX.to_owned(), index::render(report, has_goals, &charts)));
    }
    let none = || {
        format!(
            "No chart for {}: no case has a result for its whole work.",
            directory.display()
        )
    };
    let note = files.is_empty().then(none);
    RenderedFiles { files, note }
}

/// The same chart gives the same bytes.
pub(super) fn render(chart: &Chart) -> String {
    let (chart, left_out) = limited(chart);
    let chart = &chart;
    let (mut parts, y) = head(&chart.title, &chart.subtitle);
    let canvas = Canvas::for_file(chart);
    let (drawn, mut bottom) = draw(&canvas, y);
    parts.extend(drawn);
    if legend::has_legend(chart) {
        let legend;
        (legend, bottom) = legend::draw(&canvas, bottom + 8.0);
        parts.extend(legend);
    }
    let notes = marks(chart, &canvas.scale)
        .into_iter()
        .chain(left_out)
        .chain(chart.notes.iter().cloned());
    bottom = foot(&mut parts, bottom, notes);
    let words = Words {
        title: &chart.title,
        description: &description(chart),
        dark_styles: &palette::dark_styles(chart),
    };
    document(&words, bottom + MARGIN, parts)
}

/// What a document has besides its picture.
struct Words<'w> {
    title: &'w str,
    /// The picture in words, for people who cannot see it.
    description: &'w str,
    dark_styles: &'w str,
}

/// Title and subtitle, and their lower end.
fn head(title: &str, subtitle: &str) -> (Vec<Element>, f64) {
    let mut parts = Vec::new();
    let mut y = MARGIN + 14.0;
    let bold = [("font-weight", "600")];
    for line in wrapped(title, 18.0) {
        parts.push(text(MARGIN, y, 18.0, STRONG, &line, &bold));
        y += 22.0;
    }
    for line in wrapped(subtitle, 12.5) {
        parts.push(text(MARGIN, y, 12.5, QUIET, &line, &[]));
        y += 17.0;
    }
    (parts, y)
}

/// Adds the notes, and returns their lower end.
fn foot(parts: &mut Vec<Element>, mut bottom: f64, notes: impl Iterator<Item = String>) -> f64 {
    for (index, line) in notes.flat_map(|note| wrapped(&note, 12.0)).enumerate() {
        bottom += if index == 0 { 22.0 } else { 16.0 };
        parts.push(text(MARGIN, bottom, 12.0, QUIET, &line, &[]));
    }
    bottom
}

/// Elements and their lower end.
fn draw(canvas: &Canvas<'_>, top: f64) -> (Vec<Element>, f64) {
    match canvas.chart.kind {
        ChartKind::Lines | ChartKind::Groups => plot::draw(canvas, top),
        ChartKind::Bars => bars::draw(canvas, top),
        ChartKind::HeatMap => heat_map::draw(canvas, top),
        ChartKind::Stacked => bars::draw_stacked(canvas, top),
        ChartKind::Ratios => ratios::draw(canvas, top),
    }
}

/// The elements that fit, and a sentence about the rest.
fn limited(chart: &Chart) -> (Chart, Option<String>) {
    let (bars, lines) = (chart.x.ticks.len(), chart.series.len());
    let mut fitting = chart.clone();
    let left_out = |shown: usize, all: usize, what: &str| {
        Some(format!(
            "The first {shown} of {all} {what}. The other {} do not fit.",
            all - shown
        ))
    };
    if chart.kind == ChartKind::Stacked && bars > MOST_BARS {
        let end = chart.x.ticks[MOST_BARS].at;
        fitting.x.ticks.truncate(MOST_BARS);
        fitting
            .series
            .iter_mut()
            .for_each(|series| series.points.retain(|point| point.x < end));
        return (fitting, left_out(MOST_BARS, bars, "cases"));
    }
    if matches!(chart.x.scale, XScale::Linear | XScale::Percentile) && lines > MOST_LINES {
        fitting.series.truncate(MOST_LINES);
        return (fitting, left_out(MOST_LINES, lines, "lines"));
    }
    (fitting, None)
}

fn document(words: &Words<'_>, height: f64, parts: Vec<Element>) -> String {
    let (width, height) = (format!("{WIDTH:.0}"), format!("{:.0}", height.ceil()));
    let paper = [
        ("class", "wb-paper"),
        ("fill", palette::PAPER.light),
        ("width", &width),
        ("height", &height),
    ];
    let mut children = vec![
        element(
            "title",
            &[],
            vec![Text::new(element::clean(words.title)).into()],
        ),
        element(
            "desc",
            &[],
            vec![Text::new(element::clean(words.description)).into()],
        ),
        element("style", &[], vec![Text::new(words.dark_styles).into()]),
        element("rect", &paper, Vec::new()),
    ];
    children.extend(parts);
    let root = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("role", "img"),
        ("viewBox", &format!("0 0 {width} {height}")),
        ("width", &width),
        ("height", &height),
        ("font-family", FONTS),
    ];
    let root = element("svg", &root, children.into_iter().map(Into::into).collect());
    format!("<!-- A chart, {MARK} -->\n{root}\n")
}

fn marks(chart: &Chart, scale: &Scale) -> Vec<String> {
    let mut marks = Vec::new();
    if scale.has_break {
        marks.push("0 is below the break of the logarithmic axis.".to_owned());
    }
    if chart.kind == ChartKind::Bars {
        marks.extend(bars::marks(chart, scale));
    }
    let is_beyond = |point: &Point| point.figure.is_some_and(|figure| !scale.holds(figure.high));
    let has_intervals = matches!(
        chart.kind,
        ChartKind::Lines | ChartKind::Groups | ChartKind::Bars
    );
    if has_intervals && chart.points().any(is_beyond) {
        marks.push("Arrow: the interval ends outside the picture.".to_owned());
    }
    if chart
        .points()
        .any(|point| point.all_disturbed && point.figure.is_some())
    {
        let sign = match chart.kind {
            ChartKind::Bars => "~ and dashed bar",
            ChartKind::Lines | ChartKind::Groups => "Dashed ring",
            ChartKind::HeatMap | ChartKind::Stacked | ChartKind::Ratios => "~",
        };
        marks.push(format!("{sign}: every sample was disturbed."));
    }
    if chart.kind == ChartKind::HeatMap && chart.points().any(|point| point.figure.is_none()) {
        marks.push(format!("{}: no result.", heat_map::NO_FIGURE));
    }
    marks
}

#[cfg(test)]
mod tests;
