use std::collections::HashSet;

use writebench_model::{CaseOrigin, Layout, TargetRecord};

use super::data::{Chart, ChartData, ChartFamily, NamedChart};
use super::rows::{ChartCase, OfTarget, each_target, grouped};
use super::{cpu_time, latency, over_time, phases, ranked, throughput};
use crate::numbers::CaseReport;
use crate::sentences::{Report, free_name, run_names};

/// All charts in the order of the first run's tables. With several runs, targets are `RUN · TARGET`.
pub(crate) fn charts(reports: &[Report]) -> Vec<NamedChart> {
    let prefixes = prefixes(reports);
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
    let places = places(reports);
    let rows = drawn
        .iter()
        .map(|(number, (report, target, case))| ChartCase {
            number: *number,
            place: places
                .iter()
                .position(|(of, name)| std::ptr::eq(*of, *report) && *name == case.record.target)
                .unwrap_or(0),
            target,
            case,
            goal: report.run.goal_of(&case.record),
            is_recommended: report.is_recommended(case),
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

/// What names of targets begin with: the name of the run, if there are several.
pub(super) fn prefixes(reports: &[Report]) -> Vec<String> {
    match reports {
        [_] => vec![String::new()],
        several => run_names(several)
            .into_iter()
            .map(|name| format!("{name} · "))
            .collect(),
    }
}

/// The targets in the order in which the runs name them.
fn places(reports: &[Report]) -> Vec<(&Report, &str)> {
    let mut places = Vec::new();
    for report in reports {
        let targets = report.run.targets.iter();
        places.extend(targets.map(|target| (report, target.name.as_str())));
    }
    places
}

fn target_of<'r>(report: &'r Report, case: &'r CaseReport) -> &'r str {
    case.target(&report.run)
        .map_or(&case.record.target, |target| target_name(report, target))
}

/// A single target's filesystem is more informative than its path.
pub(super) fn target_name<'r>(report: &Report, target: &'r TargetRecord) -> &'r str {
    if report.run.is_side_by_side() {
        &target.name
    } else {
        &target.environment.filesystem.kind
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
        let goal = rows.iter().find_map(|row| row.goal);
        for (family, stem, chart) in section_charts(section, rows) {
            let stem = match (goal, family) {
                // `durable-stream`, as users name the goal.
                (Some(goal), ChartFamily::Ranked) => stem.replacen("ranked", goal.name(), 1),
                _ => format!("{head}-{stem}"),
            };
            let stem = slug(&stem);
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
    let origin = rows.first().map(|row| &row.case.record.origin);
    let is_contest = origin.is_some_and(|origin| origin.is_search() || origin.is_of_goal());
    // A goal has no chart of a target that cannot keep its promise.
    let kept: Vec<ChartCase<'_>> = rows
        .iter()
        .filter(|row| !is_contest || row.case.not_durable.is_none())
        .copied()
        .collect();
    let on_each_target =
        |family, stem: &str, chart: fn(&str, &str, &[ChartCase<'_>]) -> Option<Chart>| {
            let drawn = |on: OfTarget<'_>| {
                Some((
                    family,
                    format!("{stem}{}", on.suffix),
                    chart(section, on.target, &on.rows)?,
                ))
            };
            each_target(&kept)
                .into_iter()
                .filter_map(drawn)
                .collect::<Vec<_>>()
        };
    let mut charts = match origin.map_or(Layout::Phases, CaseOrigin::layout) {
        _ if is_contest => ranked::charts(section, rows),
        // Cases that the user named are compared with each other.
        _ if origin == Some(&CaseOrigin::named()) => [
            ranked::charts(section, rows),
            throughput::by_chunk(section, rows),
        ]
        .concat(),
        Layout::CpuTime => cpu_time::charts(rows),
        Layout::Ranked => ranked::charts(section, rows),
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
    charts.extend(throughput::by_writers(section, &kept));
    charts.extend(on_each_target(
        ChartFamily::Latency,
        "latency",
        latency::chart,
    ));
    charts.extend(on_each_target(ChartFamily::Phases, "phases", phases::chart));
    charts.extend(on_each_target(
        ChartFamily::OverTime,
        "over-time",
        over_time::chart,
    ));
    charts
}

/// The text as a part of a file name.
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
