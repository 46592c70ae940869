//! Charts of a report as plain data: what is drawn, and nothing of how. Several formats draw them, so that a
//! picture and a page show the same. One file for each family of charts.

mod cpu_time;
mod matrix;
mod notes;
mod ranked;
mod scale;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashSet;

use model::{Bytes, Layout};
use serde::Serialize;

use crate::advice::{ADVISE, is_look};
use crate::estimate::{CONFIDENCE, Figure};
use crate::report::{CaseReport, Report};
pub use scale::{Scale, ScaleTick, value_text};

/// A chart with a name to store it under.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedChart {
    /// Lower-case letters, digits and dashes; no other chart of the report has it.
    pub file_stem: String,
    /// The chart.
    pub chart: Chart,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// What it is about.
    pub title: String,
    /// What was measured, and what its figures are.
    pub subtitle: String,
    /// What it looks like.
    pub kind: Kind,
    /// What the figures are given by.
    pub x: XAxis,
    /// The figures.
    pub y: YAxis,
    /// Whether the series have an order, such as sizes have, for their colours to show.
    pub series_are_ordered: bool,
    /// The figures, by what they are of.
    pub series: Vec<Series>,
    /// Which cases have no figure and why.
    pub notes: Vec<String>,
}

/// What a chart looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A line for each series, with the band of its intervals.
    Lines,
    /// For each category the series side by side, with their intervals.
    Groups,
    /// A bar for each category with its interval, from top to bottom. There is one series.
    Bars,
}

/// The axis that the figures are given by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct XAxis {
    /// What it is.
    pub label: String,
    /// How places on it are found.
    pub scale: XScale,
    /// Every place that has figures, or should have, in order.
    pub ticks: Vec<Tick>,
}

/// How places on the x axis are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum XScale {
    /// Each doubling as far as the last. All places are above 0.
    Log2,
    /// Words, numbered from 0.
    Categories,
}

/// A place on the x axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tick {
    /// The place.
    pub at: f64,
    /// What it is called.
    pub text: String,
}

/// The axis of the figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct YAxis {
    /// What they are.
    pub label: String,
    /// What they are in.
    pub unit: Unit,
    /// How places on it are found.
    pub scale: YScale,
}

/// What figures are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Time.
    #[serde(rename = "s")]
    Seconds,
    /// Throughput.
    #[serde(rename = "B/s")]
    BytesPerSecond,
}

/// How places on the y axis are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum YScale {
    /// From 0 up.
    Linear,
    /// Each tenfold as far as the last. Zeros have a place of their own, below a break.
    Log10,
}

/// Figures of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What they are of.
    pub name: String,
    /// In the order of the axis.
    pub points: Vec<Point>,
}

/// A figure of a case, or that it has none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The place on the x axis.
    pub x: f64,
    /// None where the case has no figure; the notes say why.
    pub figure: Option<Interval>,
    /// Whether nothing but disturbed samples is behind it.
    pub only_disturbed: bool,
    /// The case's name.
    pub case: String,
}

/// A median with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The median.
    pub median: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A case, and the name of what it wrote to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'r> {
    pub target: &'r str,
    pub case: &'r CaseReport,
}

/// A chart of a family, and what its name has behind that of its suite and section.
struct Drawn {
    stem: String,
    chart: Chart,
}

/// The charts of a report, in the order of its tables. Suites that ask about single cases have none.
#[must_use]
pub fn charts(report: &Report) -> Vec<NamedChart> {
    let shown = report.cases.iter().filter(|case| !is_look(case));
    let rows: Vec<Row<'_>> = shown.map(|case| Row { target: target_of(report, case), case }).collect();
    let mut charts = of_rows(&rows);
    for chart in &mut charts {
        let missing = report.run.missing.iter();
        chart.chart.notes.extend(missing.map(|target| format!("{}: {}", target.name, target.why)));
    }
    charts
}

/// What a case wrote to, as the legend calls it: with one target, its filesystem.
fn target_of<'r>(report: &'r Report, case: &'r CaseReport) -> &'r str {
    match case.target(&report.run) {
        // The path of a single target says less.
        Some(target) if !report.run.is_side_by_side() => &target.environment.filesystem.kind,
        _ => &case.record.target,
    }
}

/// The sections of all targets together, wherever their rows stand.
pub(crate) fn of_rows(rows: &[Row<'_>]) -> Vec<NamedChart> {
    let section = |row: &Row<'_>| (row.case.record.suite.clone(), row.case.record.section.clone());
    let mut names = HashSet::new();
    let mut charts = Vec::new();
    let sections = grouped(rows, section);
    for ((suite, section), rows) in &sections {
        let several = sections.iter().filter(|((other, _), _)| other == suite).count() > 1;
        let head = if several { format!("{suite}-{section}") } else { suite.clone() };
        for Drawn { stem, chart } in section_charts(suite, section, rows) {
            let stem = slug(&format!("{head}-{stem}"));
            let mut numbered = (2..).map(|number| format!("{stem}-{number}"));
            let mut file_stem = stem.clone();
            while !names.insert(file_stem.clone()) {
                file_stem = numbered.next().unwrap_or_default();
            }
            charts.push(NamedChart { file_stem, chart });
        }
    }
    charts
}

fn section_charts(suite: &str, section: &str, rows: &[Row<'_>]) -> Vec<Drawn> {
    if suite == ADVISE {
        return ranked::charts("Ways to write, from the fastest", rows);
    }
    match model::suite_named(suite).map_or(Layout::Phases, |suite| suite.layout) {
        Layout::CpuTime => cpu_time::charts(rows),
        Layout::Ranked => ranked::charts(&format!("{section}, from the fastest"), rows),
        // A section without labels is drawn by its methods, where it is about chunk sizes.
        Layout::Matrix | Layout::Phases => matrix::charts(section, rows),
        Layout::Records => Vec::new(),
    }
}

/// Items with the same key together, in the order in which the keys were met.
fn grouped<T: Copy, K: PartialEq>(items: &[T], key: impl Fn(&T) -> K) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(item);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(*item),
            None => groups.push((key, vec![*item])),
        }
    }
    groups
}

/// A case's name without its chunk: what all points of a line have in common.
fn without_chunk(row: &Row<'_>) -> String {
    let parts = row.case.record.case.split(',').filter(|part| !part.starts_with("chunk="));
    parts.collect::<Vec<_>>().join(",")
}

/// Where a case stands on an axis of chunk sizes; `whole` is as large as the file.
fn chunk_bytes(row: &Row<'_>) -> Option<u64> {
    let record = &row.case.record;
    match record.axes.get("chunk")?.as_str() {
        "whole" => Some(record.contract.bytes),
        chunk => chunk.parse::<Bytes>().ok().map(|bytes| bytes.0),
    }
    .filter(|&bytes| bytes > 0)
}

/// The chunk sizes of rows, from the smallest.
fn chunk_sizes(rows: &[Row<'_>]) -> Vec<u64> {
    let mut sizes: Vec<u64> = rows.iter().filter_map(chunk_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn chunk_axis(label: &str, sizes: &[u64]) -> XAxis {
    let tick = |&bytes: &u64| Tick { at: as_f64(bytes), text: Bytes(bytes).approximate() };
    XAxis { label: label.to_owned(), scale: XScale::Log2, ticks: sizes.iter().map(tick).collect() }
}

fn category_axis(label: &str, names: impl Iterator<Item = String>) -> XAxis {
    let ticks = (0u32..).zip(names).map(|(index, text)| Tick { at: f64::from(index), text }).collect();
    XAxis { label: label.to_owned(), scale: XScale::Categories, ticks }
}

/// A point of a case. `per` is how many of the figure's unit make one of the chart's.
fn point(x: f64, row: &Row<'_>, figure: Option<&Figure>, per: f64) -> Point {
    let interval = |it: &Figure| Interval { median: it.median / per, low: it.low / per, high: it.high / per };
    Point {
        x,
        figure: figure.map(interval),
        only_disturbed: row.case.estimate.as_ref().is_some_and(|estimate| estimate.only_disturbed),
        case: row.case.record.case.clone(),
    }
}

/// A tenfold range and more is read from a logarithmic axis.
fn y_scale(series: &[Series]) -> YScale {
    let figures = series.iter().flat_map(|series| &series.points).filter_map(|point| point.figure);
    let positive = figures.map(|figure| figure.median).filter(|&median| median > 0.0);
    let (min, max) = positive.fold((f64::INFINITY, 0.0_f64), |(min, max), it| (min.min(it), max.max(it)));
    if max > 10.0 * min { YScale::Log10 } else { YScale::Linear }
}

/// What the figures are: `medians with 95 % intervals; lower is better`.
fn figures_are(rows: &[Row<'_>], better: &str) -> String {
    let reached = rows.iter().filter_map(|row| Some(row.case.estimate.as_ref()?.confidence));
    let least = reached.fold(1.0, f64::min);
    let percent = CONFIDENCE * 100.0;
    let intervals = if least < CONFIDENCE - 1e-9 {
        format!("intervals that aim at {percent:.0} % (with too few samples for it: {:.0} %)", least * 100.0)
    } else {
        format!("{percent:.0} % intervals")
    };
    format!("medians with {intervals}; {better} is better")
}

/// Text as a part of a file's name.
fn slug(text: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let words: String = text.chars().map(kept).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-")
}

#[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
fn as_f64(value: u64) -> f64 {
    value as f64
}
