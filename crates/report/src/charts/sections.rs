use std::collections::HashSet;

use writebench_model::{CaseOrigin, Layout};

use super::data::{Chart, ChartData, ChartFamily, NamedChart};
use super::rows::{ChartCase, OfTarget, each_target, grouped};
use super::{cpu_time, elapsed, latency, over_time, throughput};
use crate::numbers::CaseReport;
use crate::sentences::{Report, free_name, run_names};

/// In the order of the first run's tables. With several runs, targets are `RUN · TARGET`.
pub(crate) fn charts(reports: &[Report]) -> Vec<NamedChart> {
    let prefixes: Vec<String> = match reports {
        [_] => vec![String::new()],
        several => run_names(several)
            .into_iter()
            .map(|name| format!("{name} · "))
            .collect(),
    };
    let cases = reports.iter().zip(&prefixes).flat_map(|(report, prefix)| {
        report
            .cases
            .iter()
            .map(move |case| (report, format!("{prefix}{}", target_of(report, case)), case))
    });
    let drawn = cases
        .enumerate()
        .filter(|(_, (report, _, case))| report.is_drawn(case));
    let drawn: Vec<(usize, (&Report, String, &CaseReport))> = drawn.collect();
    let rows = drawn.iter().map(|(number, (_, target, case))| ChartCase {
        number: *number,
        target,
        case,
    });
    let mut charts = of_rows(&rows.collect::<Vec<_>>());
    for (report, prefix) in reports.iter().zip(&prefixes) {
        let missing = report
            .run
            .missing
            .iter()
            .map(|target| format!("{prefix}{}: {}", target.name, target.reason));
        let missing: Vec<String> = missing.collect();
        charts
            .iter_mut()
            .for_each(|chart| chart.chart.notes.extend_from_slice(&missing));
    }
    charts
}

fn target_of<'r>(report: &'r Report, case: &'r CaseReport) -> &'r str {
    match case.target(&report.run) {
        // A single target's filesystem is more informative than its path.
        Some(target) if !report.run.is_side_by_side() => &target.environment.filesystem.kind,
        _ => &case.record.target,
    }
}

pub(super) fn of_rows(rows: &[ChartCase<'_>]) -> Vec<NamedChart> {
    let mut names = HashSet::new();
    let mut charts = Vec::new();
    let sections = grouped(rows, |row| row.case.record.origin.table());
    for ((suite, section), rows) in &sections {
        let several = sections
            .iter()
            .filter(|((other, _), _)| other == suite)
            .count()
            > 1;
        let head = if several {
            format!("{suite}-{section}")
        } else {
            (*suite).to_owned()
        };
        for (family, stem, chart) in section_charts(section, rows) {
            let stem = slug(&format!("{head}-{stem}"));
            let file_stem = free_name(&stem, &mut names);
            let (suite, section) = ((*suite).to_owned(), (*section).to_owned());
            charts.push(NamedChart {
                file_stem,
                suite,
                section,
                family,
                chart,
            });
        }
    }
    charts
}

/// The suite's own question first.
fn section_charts(section: &str, rows: &[ChartCase<'_>]) -> Vec<ChartData> {
    let on_each_target =
        |family, stem: &str, chart: fn(&str, &str, &[ChartCase<'_>]) -> Option<Chart>| {
            let drawn = |on: OfTarget<'_>| {
                Some((
                    family,
                    format!("{stem}{}", on.suffix),
                    chart(section, on.target, &on.rows)?,
                ))
            };
            each_target(rows)
                .into_iter()
                .filter_map(drawn)
                .collect::<Vec<_>>()
        };
    let origin = rows.first().map(|row| &row.case.record.origin);
    let mut charts = match origin.map_or(Layout::Phases, CaseOrigin::layout) {
        _ if origin.is_some_and(CaseOrigin::is_search) => {
            elapsed::ranked("Methods, from the fastest", rows)
        }
        Layout::CpuTime => cpu_time::charts(rows),
        Layout::Ranked => elapsed::ranked(&format!("{section}, from the fastest"), rows),
        Layout::Matrix => {
            let flags = on_each_target(
                ChartFamily::Flags,
                "throughput-by-chunk-and-flags",
                throughput::heat_map,
            );
            [flags, throughput::by_chunk(section, rows)].concat()
        }
        // Sections about chunk sizes without labels are drawn by method.
        Layout::Phases => throughput::by_chunk(section, rows),
        Layout::Records => Vec::new(),
    };
    charts.extend(throughput::by_writers(section, rows));
    charts.extend(on_each_target(
        ChartFamily::Latency,
        "latency",
        latency::chart,
    ));
    charts.extend(on_each_target(
        ChartFamily::Phases,
        "phases",
        elapsed::phases,
    ));
    charts.extend(on_each_target(
        ChartFamily::OverTime,
        "over-time",
        over_time::chart,
    ));
    charts
}

/// As a part of a file name.
pub(super) fn slug(text: &str) -> String {
    let kept = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            ' '
        }
    };
    let words: String = text.chars().map(kept).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-")
}
