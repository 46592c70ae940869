use writebench_model::Bytes;

use super::rows::{ChartCase, grouped, places};
use crate::sentences::{NAMED, counted};

pub(super) fn causes(rows: &[ChartCase<'_>]) -> Vec<String> {
    let several_targets = targets(rows).len() > 1;
    let causes = grouped(rows, |row| {
        let samples = row.case.estimate.as_ref().map(|estimate| estimate.samples);
        Some((row.target, row.case.cause()?, samples))
    });
    let sentence = |(key, rows): (Option<_>, Vec<ChartCase<'_>>)| {
        let (target, cause, samples): (&str, String, Option<usize>) = key?;
        // Such a case may still have good samples.
        let figure = samples.map_or("No result".to_owned(), |samples| {
            format!("A result of {} only", counted(samples, "sample"))
        });
        let place = if several_targets { format!(" on {target}") } else { String::new() };
        Some(format!("{figure} for {}{place}: {cause}", names(&rows)))
    };
    causes.into_iter().filter_map(sentence).collect()
}

/// Cases with limited time did less work than the other cases.
pub(super) fn cut_short(rows: &[ChartCase<'_>]) -> Vec<String> {
    let several_targets = targets(rows).len() > 1;
    let is_cut = |row: &&ChartCase<'_>| row.case.estimate.as_ref().is_some_and(|estimate| estimate.cut > 0);
    let cut: Vec<ChartCase<'_>> = rows.iter().filter(is_cut).copied().collect();
    let sentences = |(target, rows): (&str, Vec<ChartCase<'_>>)| {
        let place = if several_targets { format!(" on {target}") } else { String::new() };
        let together = if rows.len() > NAMED { rows.len() } else { 1 };
        let sentence = |rows: &[ChartCase<'_>]| {
            let bytes = places(rows, |row| row.case.estimate.as_ref().map(|estimate| estimate.bytes));
            let text = |bytes: &u64| Bytes(*bytes).approximate();
            let least = bytes.first().map(text).unwrap_or_default();
            let most = bytes[1..].last().map_or(String::new(), |most| format!(" to {}", text(most)));
            format!("No time for {}{place}: cut short after {least}{most}", names(rows))
        };
        rows.chunks(together).map(sentence).collect::<Vec<_>>()
    };
    grouped(&cut, |row| row.target).into_iter().flat_map(sentences).collect()
}

pub(super) fn targets<'r>(rows: &[ChartCase<'r>]) -> Vec<&'r str> {
    grouped(rows, |row| row.target).into_iter().map(|(target, _)| target).collect()
}

fn names(rows: &[ChartCase<'_>]) -> String {
    let named: Vec<&str> = rows.iter().take(NAMED).map(|row| row.case.record.case.name()).collect();
    match rows.len() {
        ..=NAMED => named.join(" and "),
        many => format!("{} and {} more", named.join(", "), many - NAMED),
    }
}
