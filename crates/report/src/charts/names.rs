use writebench_model::Bytes;

use super::data::Series;
use super::rows::ChartCase;
use crate::numbers::distinct;
use crate::sentences::{shared_values, without_values};

/// Labels, with the chunk if labels repeat, or else names of cases. The second result is their common part,
/// such as ` (size=5MiB)`.
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
    let names: Vec<&str> = rows.iter().map(|row| row.case.record.case.name()).collect();
    shorten(&names)
}

/// Removes the common part of names and returns it, as [`of_cases`] does.
pub(super) fn shorten_series(series: &mut [Series]) -> String {
    let names: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
    let (names, common) = shorten(&names);
    series.iter_mut().zip(names).for_each(|(series, name)| series.name = name);
    common
}

fn shorten(names: &[&str]) -> (Vec<String>, String) {
    let common = shared_values(names);
    let text = if common.is_empty() { String::new() } else { format!(" ({})", common.join(",")) };
    (names.iter().map(|name| without_values(name, &common)).collect(), text)
}
