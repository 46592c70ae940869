//! For spreadsheets: one row per case and target, with what its samples say. The samples are in `csv`.

use super::csv::{IDENTITY, cells, identity};
use crate::numbers::estimate::{Estimate, Figure};
use crate::sentences::report::{CaseReport, Report};

const FACTS: &[&str] =
    &["outcome", "reason", "samples", "disturbed", "only_disturbed", "cut", "outliers", "confidence"];

type FigureOf = fn(&Estimate) -> Option<&Figure>;

type PartOf = fn(&Figure) -> f64;

/// What each figure is called, and where it is.
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
    ("median", |it| it.median),
    ("low", |it| it.low),
    ("high", |it| it.high),
    ("min", |it| it.min),
    ("max", |it| it.max),
    ("mean", |it| it.mean),
    ("sd", |it| it.sd),
];

/// The whole report, with a row of headings. RFC 4180.
///
/// # Errors
/// Never in practice: it is written to memory.
pub(super) fn render(report: &Report) -> Result<String, ::csv::Error> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let mut headings: Vec<String> = IDENTITY.iter().chain(FACTS).map(|&fact| fact.to_owned()).collect();
    for (figure, _) in FIGURES {
        headings.extend(PARTS.iter().map(|(part, _)| format!("{figure}_{part}")));
    }
    writer.write_record(&headings)?;
    for case in &report.cases {
        writer.write_record(cells(row(report, case)))?;
    }
    let bytes = writer.into_inner().map_err(|error| ::csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn row(report: &Report, case: &CaseReport) -> Vec<String> {
    let of_estimate = |value: fn(&Estimate) -> String| case.estimate.as_ref().map_or(String::new(), value);
    let mut row = identity(report, case);
    row.extend([
        case.outcome.to_owned(),
        case.reason.clone().unwrap_or_default(),
        of_estimate(|it| it.samples.to_string()),
        of_estimate(|it| it.disturbed.to_string()),
        of_estimate(|it| it.only_disturbed.to_string()),
        of_estimate(|it| it.cut.to_string()),
        of_estimate(|it| it.outliers.to_string()),
        of_estimate(|it| it.confidence.to_string()),
    ]);
    for (_, figure) in FIGURES {
        let figure = case.estimate.as_ref().and_then(figure);
        row.extend(
            PARTS.iter().map(|(_, part)| figure.map_or(String::new(), |figure| part(figure).to_string())),
        );
    }
    row
}
