//! Charts of a report as plain data: what is drawn, and nothing of how. Several formats draw them, so that a
//! picture and a page show the same. One file for each family of charts.

mod axis;
mod contracts;
mod cpu_time;
mod data;
mod flags;
mod latency;
mod matrix;
mod names;
mod notes;
mod over_time;
mod phases;
mod ranked;
mod rows;
mod runs;
mod scale;
#[cfg(test)]
pub(crate) mod tests;
mod threads;

use std::collections::HashSet;

use writebench_model::{CaseOrigin, Layout};

use crate::numbers::estimate::{CONFIDENCE, Figure};
pub use data::{
    Chart, Dot, Interval, Kind, NamedChart, Point, Question, Series, Tick, Unit, XAxis, XScale, YAxis, YScale,
};
pub(crate) use rows::Row;
use rows::{each_target, grouped, places};
pub use runs::{charts, charts_of_runs};
pub use scale::{Scale, ScaleTick, value_text};
pub(crate) use scale::{prefixed, stacked, symbol};

/// A chart of a family, and what its name has behind that of its suite and section.
struct Drawn {
    of: Question,
    stem: String,
    chart: Chart,
}

/// The sections of all targets together, wherever their rows stand.
pub(crate) fn of_rows(rows: &[Row<'_>]) -> Vec<NamedChart> {
    let mut names = HashSet::new();
    let mut charts = Vec::new();
    let sections = grouped(rows, Row::table);
    for ((suite, section), rows) in &sections {
        let several = sections.iter().filter(|((other, _), _)| other == suite).count() > 1;
        let head = if several { format!("{suite}-{section}") } else { (*suite).to_owned() };
        for Drawn { of, stem, chart } in section_charts(section, rows) {
            let stem = slug(&format!("{head}-{stem}"));
            let mut numbered = (2..).map(|number| format!("{stem}-{number}"));
            let mut file_stem = stem.clone();
            while !names.insert(file_stem.clone()) {
                file_stem = numbered.next().unwrap_or_default();
            }
            let (suite, section) = ((*suite).to_owned(), (*section).to_owned());
            charts.push(NamedChart { file_stem, suite, section, of, chart });
        }
    }
    charts
}

/// What the suite asks first, and then what every case can answer.
fn section_charts(section: &str, rows: &[Row<'_>]) -> Vec<Drawn> {
    let origin = rows.first().map(|row| &row.case.record.origin);
    let mut charts = if origin.is_some_and(CaseOrigin::is_search) {
        ranked::charts("Ways to write, from the fastest", rows)
    } else {
        match origin.map_or(Layout::Phases, CaseOrigin::layout) {
            Layout::CpuTime => cpu_time::charts(rows),
            Layout::Ranked => ranked::charts(&format!("{section}, from the fastest"), rows),
            Layout::Matrix => {
                [flags::charts(section, rows), matrix::charts(section, rows)].into_iter().flatten().collect()
            }
            // A section without labels is drawn by its methods, where it is about chunk sizes.
            Layout::Phases => matrix::charts(section, rows),
            Layout::Records => Vec::new(),
        }
    };
    for family in [threads::charts, latency::charts, phases::charts, over_time::charts] {
        charts.extend(family(section, rows));
    }
    charts
}

/// A point of a case. `per` is how many of the figure's unit make one of the chart's.
fn point(x: f64, row: &Row<'_>, figure: Option<&Figure>, per: f64) -> Point {
    let interval = |it: &Figure| Interval { median: it.median / per, low: it.low / per, high: it.high / per };
    Point {
        x,
        figure: figure.map(interval),
        only_disturbed: row.case.estimate.as_ref().is_some_and(|estimate| estimate.only_disturbed),
        case: row.case.record.case.to_string(),
        row: row.number,
        dots: Vec::new(),
    }
}

/// A point of a case's throughput.
fn throughput_point(x: f64, row: &Row<'_>) -> Point {
    point(x, row, row.case.estimate.as_ref().map(|estimate| &estimate.throughput_bytes_per_s), 1.0)
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
