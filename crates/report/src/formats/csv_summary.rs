//! For spreadsheets: one row per case and target, with its estimate. The format `csv` has the samples.

use std::collections::HashSet;

use super::csv::{text, written};
use crate::numbers::case::CaseReport;
use crate::numbers::estimate::{Estimate, Figure};
use crate::sentences::report::Report;

type FactOf = fn(&CaseReport) -> String;

const FACTS: &[(&str, FactOf)] = &[
    ("outcome", |it| it.outcome_name().to_owned()),
    ("reason", |it| text(it.reason.as_ref())),
    ("samples", |it| text(it.estimate.as_ref().map(|it| it.samples))),
    ("disturbed", |it| text(it.estimate.as_ref().map(|it| it.disturbed))),
    ("only_disturbed", |it| text(it.estimate.as_ref().map(|it| it.only_disturbed))),
    ("cut", |it| text(it.estimate.as_ref().map(|it| it.cut))),
    ("outliers", |it| text(it.estimate.as_ref().map(|it| it.outliers))),
    ("confidence", |it| text(it.estimate.as_ref().map(|it| it.confidence))),
];

type FigureOf = fn(&Estimate) -> Option<&Figure>;

type PartOf = fn(&Figure) -> Option<f64>;

/// The name of each figure, and how to get it.
const FIGURES: &[(&str, FigureOf)] = &[
    ("throughput_bytes_per_s", |it| Some(&it.throughput_bytes_per_s)),
    ("write_alone_bytes_per_s", |it| Some(&it.write_alone_bytes_per_s)),
    ("total_ns", |it| Some(&it.total_ns)),
    ("user_cpu_ns", |it| Some(&it.user_cpu_figure_ns)),
    ("system_cpu_ns", |it| Some(&it.system_cpu_figure_ns)),
    ("records_per_s", |it| it.records_per_s.as_ref()),
];

/// The parts of a figure.
const PARTS: &[(&str, PartOf)] = &[
    ("value", |it| Some(it.value)),
    ("low", |it| it.low),
    ("high", |it| it.high),
    ("min", |it| Some(it.min)),
    ("max", |it| Some(it.max)),
    ("mean", |it| Some(it.mean)),
    ("sd", |it| Some(it.sd)),
];

/// The whole report, with a row of headings. RFC 4180.
///
/// # Errors
/// Never in practice: the report is written to memory.
pub(super) fn render(report: &Report) -> Result<String, ::csv::Error> {
    let facts = FACTS.iter().map(|(fact, _)| (*fact).to_owned());
    let figures =
        FIGURES.iter().flat_map(|(figure, _)| PARTS.iter().map(move |(part, _)| format!("{figure}_{part}")));
    // A case in two tables has one row, that of the first.
    let mut seen = HashSet::new();
    let once =
        report.cases.iter().filter(move |case| seen.insert((&case.record.target, case.record.case.name())));
    written(report, facts.chain(figures), once.map(|case| (case, row(case))))
}

fn row(case: &CaseReport) -> Vec<String> {
    let facts = FACTS.iter().map(|(_, fact)| fact(case));
    let figures = FIGURES.iter().flat_map(|(_, figure)| {
        let figure = case.estimate.as_ref().and_then(figure);
        PARTS.iter().map(move |(_, part)| text(figure.and_then(part)))
    });
    facts.chain(figures).collect()
}
