//! The names of cases in a chart.

use writebench_model::Bytes;

use super::data::Series;
use super::rows::ChartCase;
use crate::numbers::distinct;

/// Each row's label, with its chunk if labels alone are equal, or the case's name if both are not enough; and
/// the common part of the names, which is left out of them: ` (size=5MiB)`, or nothing.
pub(super) fn of_cases(rows: &[ChartCase<'_>]) -> (Vec<String>, String) {
    let label = |row: &ChartCase<'_>| row.case.record.label.clone();
    let with_chunk = |row: &ChartCase<'_>| {
        let (label, bytes) = label(row).zip(row.chunk_bytes())?;
        Some(format!("{label}, {}", Bytes(bytes).approximate()))
    };
    for name in [&label as &dyn Fn(&ChartCase<'_>) -> Option<String>, &with_chunk] {
        let names: Vec<String> = rows.iter().filter_map(name).collect();
        if distinct(&names, |name| *name).len() == rows.len() {
            return (names, String::new());
        }
    }
    let mut names: Vec<String> = rows.iter().map(|row| row.case.record.case.to_string()).collect();
    let common = shorten(names.iter_mut());
    (names, common)
}

/// Removes the common part from the names of series, and returns it as [`of_cases`] does.
pub(super) fn shorten_series(series: &mut [Series]) -> String {
    shorten(series.iter_mut().map(|series| &mut series.name))
}

fn shorten<'n>(names: impl Iterator<Item = &'n mut String>) -> String {
    let mut names: Vec<&mut String> = names.collect();
    let Some((first, others)) = names.split_first() else { return String::new() };
    let in_all = |part: &&str| {
        part.contains('=') && others.iter().all(|name| name.split(',').any(|other| other == *part))
    };
    let common: Vec<String> = first.split(',').skip(1).filter(in_all).map(str::to_owned).collect();
    for name in &mut names {
        let own = name.split(',').filter(|part| common.iter().all(|other| other != part));
        **name = own.collect::<Vec<_>>().join(",");
    }
    if common.is_empty() { String::new() } else { format!(" ({})", common.join(",")) }
}
