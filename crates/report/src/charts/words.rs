//! Names, workloads and notes of the cases of a chart.

use writebench_model::Bytes;

use super::data::Series;
use super::rows::{ChartCase, grouped, places};
use crate::numbers::distinct;
use crate::sentences::{NAMED, counted, shared_values, without_values};

/// Labels, with the chunk if labels repeat, or else names of cases. The second result is their common part,
/// such as ` (size=5MiB)`.
pub(super) fn names_of_cases(rows: &[ChartCase<'_>]) -> (Vec<String>, String) {
    let label = |row: &ChartCase<'_>| row.case.record.label.clone();
    let with_chunk = |row: &ChartCase<'_>| {
        let (label, bytes) = label(row).zip(row.chunk_bytes())?;
        Some(format!("{label}, {}", Bytes(bytes).approximate()))
    };
    for name in [
        &label as &dyn Fn(&ChartCase<'_>) -> Option<String>,
        &with_chunk,
    ] {
        let names: Vec<String> = rows.iter().filter_map(name).collect();
        if distinct(&names, |name| *name).len() == rows.len() {
            return (names, String::new());
        }
    }
    let names: Vec<&str> = rows.iter().map(|row| row.case.record.case.name()).collect();
    shorten(&names)
}

/// Removes the common part of names and returns it, as [`names_of_cases`] does.
pub(super) fn shorten_series(series: &mut [Series]) -> String {
    let names: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
    let (names, common) = shorten(&names);
    series
        .iter_mut()
        .zip(names)
        .for_each(|(series, name)| series.name = name);
    common
}

fn shorten(names: &[&str]) -> (Vec<String>, String) {
    let common = shared_values(names);
    let text = if common.is_empty() {
        String::new()
    } else {
        format!(" ({})", common.join(","))
    };
    (
        names
            .iter()
            .map(|name| without_values(name, &common))
            .collect(),
        text,
    )
}

/// A part of a file name.
pub(super) fn promise(row: &ChartCase<'_>) -> String {
    let workload = &row.case.record.workload;
    let every = if workload.durable_every_bytes.is_some() {
        "-on-the-way"
    } else {
        ""
    };
    format!("{}{every}", workload.durability)
}

/// Workloads that differ only in the interval of syncs count as one: the interval is the axis.
pub(super) fn by_chunk(row: &ChartCase<'_>) -> String {
    let mut workload = row.case.record.workload.clone();
    let every_chunk = workload.durable_every_bytes.take();
    let chunks = every_chunk
        .zip(row.chunk_bytes())
        .map(|(every, chunk)| every / chunk);
    match chunks {
        Some(1) => format!("{workload} every chunk"),
        Some(chunks) => format!("{workload} every {chunks} chunks"),
        None => workload.to_string(),
    }
}

/// A sentence with a leading space if cases have several workloads, else empty.
pub(super) fn caution(rows: &[ChartCase<'_>]) -> String {
    match grouped(rows, by_chunk).len() {
        ..=1 => String::new(),
        several => {
            format!(" The cases have {several} workloads: a faster one is not always better.")
        }
    }
}

pub(super) fn causes(rows: &[ChartCase<'_>]) -> Vec<String> {
    [not_durable(rows), failures(rows)].concat()
}

/// Their times are those of syncs to memory.
fn not_durable(rows: &[ChartCase<'_>]) -> Vec<String> {
    let broken: Vec<ChartCase<'_>> = rows
        .iter()
        .filter(|row| row.case.not_durable.is_some())
        .copied()
        .collect();
    let sentence = |(target, of_target): (&str, Vec<ChartCase<'_>>)| {
        let place = place(target, rows);
        format!(
            "Not durable{place}, where memory loses its data in a power loss: {}",
            listed(&of_target)
        )
    };
    grouped(&broken, |row| row.target)
        .into_iter()
        .map(sentence)
        .collect()
}

fn failures(rows: &[ChartCase<'_>]) -> Vec<String> {
    let causes = grouped(rows, |row| {
        let samples = row.case.estimate.as_ref().map(|estimate| estimate.samples);
        Some((row.target, row.case.cause()?, samples))
    });
    let sentence = |(key, of_cause): (Option<_>, Vec<ChartCase<'_>>)| {
        let (target, cause, samples): (&str, String, Option<usize>) = key?;
        // Such a case may still have good samples.
        let figure = samples.map_or("No result".to_owned(), |samples| {
            format!("A result of {} only", counted(samples, "sample"))
        });
        Some(format!(
            "{figure} for {}{}: {cause}",
            listed(&of_cause),
            place(target, rows)
        ))
    };
    causes.into_iter().filter_map(sentence).collect()
}

/// The target, if there are several.
fn place(target: &str, rows: &[ChartCase<'_>]) -> String {
    if targets(rows).len() > 1 {
        format!(" on {target}")
    } else {
        String::new()
    }
}

/// Cases with limited time did less work than the other cases.
pub(super) fn cut_short(rows: &[ChartCase<'_>]) -> Vec<String> {
    let is_cut = |row: &&ChartCase<'_>| {
        row.case
            .estimate
            .as_ref()
            .is_some_and(|estimate| estimate.truncated_samples > 0)
    };
    let cut: Vec<ChartCase<'_>> = rows.iter().filter(is_cut).copied().collect();
    let sentences = |(target, of_target): (&str, Vec<ChartCase<'_>>)| {
        let place = place(target, rows);
        let together = if of_target.len() > NAMED {
            of_target.len()
        } else {
            1
        };
        let sentence = |rows: &[ChartCase<'_>]| {
            let bytes = places(rows, |row| {
                row.case.estimate.as_ref().map(|estimate| estimate.bytes)
            });
            let text = |bytes: &u64| Bytes(*bytes).approximate();
            let least = bytes.first().map(text).unwrap_or_default();
            let most = bytes[1..]
                .last()
                .map_or(String::new(), |most| format!(" to {}", text(most)));
            format!(
                "No time for {}{place}: cut short after {least}{most}",
                listed(rows)
            )
        };
        of_target.chunks(together).map(sentence).collect::<Vec<_>>()
    };
    grouped(&cut, |row| row.target)
        .into_iter()
        .flat_map(sentences)
        .collect()
}

pub(super) fn targets<'r>(rows: &[ChartCase<'r>]) -> Vec<&'r str> {
    grouped(rows, |row| row.target)
        .into_iter()
        .map(|(target, _)| target)
        .collect()
}

fn listed(rows: &[ChartCase<'_>]) -> String {
    let named: Vec<&str> = rows
        .iter()
        .take(NAMED)
        .map(|row| row.case.record.case.name())
        .collect();
    match rows.len() {
        ..=NAMED => named.join(" and "),
        many => format!("{} and {} more", named.join(", "), many - NAMED),
    }
}
