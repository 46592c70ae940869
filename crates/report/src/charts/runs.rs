//! The cases of several runs as rows of the same charts.

use super::{NamedChart, Row, of_rows};
use crate::sentences::advice::is_look;
use crate::sentences::report::{CaseReport, Report};
use crate::sentences::run_names::run_names;

/// The charts of a report, in the order of its tables.
#[must_use]
pub fn charts(report: &Report) -> Vec<NamedChart> {
    charts_of_runs(std::slice::from_ref(report))
}

/// The charts of runs together, in the order of the first run's tables. With two or more, a target's name is
/// `RUN · TARGET`.
#[must_use]
pub fn charts_of_runs(reports: &[Report]) -> Vec<NamedChart> {
    let prefixes = prefixes(reports);
    let cases: Vec<(String, &CaseReport)> = reports
        .iter()
        .zip(&prefixes)
        .flat_map(|(report, prefix)| {
            report.cases.iter().map(move |case| (format!("{prefix}{}", target_of(report, case)), case))
        })
        .collect();
    let rows = cases.iter().enumerate().map(|(number, (target, case))| Row { number, target, case });
    let rows: Vec<Row<'_>> = rows.filter(|row| !is_look(row.case)).collect();
    let mut charts = of_rows(&rows);
    let missing = reports.iter().zip(&prefixes).flat_map(|(report, prefix)| {
        report.run.missing.iter().map(move |target| format!("{prefix}{}: {}", target.name, target.why))
    });
    let missing: Vec<String> = missing.collect();
    for chart in &mut charts {
        chart.chart.notes.extend_from_slice(&missing);
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

/// What stands before the names of each report's targets: nothing where there is one report.
fn prefixes(reports: &[Report]) -> Vec<String> {
    if reports.len() < 2 {
        return vec![String::new(); reports.len()];
    }
    run_names(reports).into_iter().map(|name| format!("{name} · ")).collect()
}
