//! Charts of a report as plain data: what is drawn, and nothing of how. Several formats draw them, so that a
//! picture and a page show the same. One file for each family of charts.

mod cpu_time;
mod data;
mod matrix;
mod notes;
mod ranked;
mod runs;
mod scale;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashSet;

use model::{Bytes, Layout};

use crate::advice::ADVISE;
use crate::estimate::{CONFIDENCE, Figure};
use crate::report::CaseReport;
pub use data::{
    Chart, Dot, Interval, Kind, NamedChart, Point, Question, Series, Tick, Unit, XAxis, XScale, YAxis, YScale,
};
pub use runs::{charts, charts_of_runs};
pub use scale::{Scale, ScaleTick, value_text};

/// A case, the name of what it wrote to, and which it is among all cases of all reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'r> {
    pub number: usize,
    pub target: &'r str,
    pub case: &'r CaseReport,
}

/// A chart of a family, and what its name has behind that of its suite and section.
struct Drawn {
    of: Question,
    stem: String,
    chart: Chart,
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
        for Drawn { of, stem, chart } in section_charts(suite, section, rows) {
            let stem = slug(&format!("{head}-{stem}"));
            let mut numbered = (2..).map(|number| format!("{stem}-{number}"));
            let mut file_stem = stem.clone();
            while !names.insert(file_stem.clone()) {
                file_stem = numbered.next().unwrap_or_default();
            }
            let (suite, section) = (suite.clone(), section.clone());
            charts.push(NamedChart { file_stem, suite, section, of, chart });
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
        row: row.number,
        dots: Vec::new(),
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
