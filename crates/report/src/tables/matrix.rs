//! Throughput by chunk size: a row per label, a column per chunk. No bars: one in each cell would make half as many columns fit,
//! and what they would show are the charts' lines.

use writebench_model::Axis;

use crate::sentences::number::{gigabytes_per_s, mark};
use crate::sentences::report::CaseReport;
use crate::tables::{Column, Table, notes, per_case};

/// A table for each size of the file. Where cases differ in more than label and chunk, a row per case instead.
pub(super) fn throughput(title: &str, cases: &[CaseReport]) -> Vec<Table> {
    let sizes = different(cases.iter().map(|case| axis(case, Axis::Size)));
    let mut tables = Vec::new();
    for size in sizes {
        let of_size: Vec<&CaseReport> = cases.iter().filter(|case| axis(case, Axis::Size) == size).collect();
        let Some(throughput) = table(&format!("{title}, {size}"), "GB/s, all of it", &of_size, cell) else {
            return vec![per_case::phases(title, cases)];
        };
        tables.push(throughput);
        if of_size.iter().any(|case| case.estimate.as_ref().is_some_and(|it| it.limit.is_some())) {
            tables.extend(table(&format!("{title}, {size}: of the limit"), "of limit", &of_size, of_limit));
        }
    }
    tables
}

fn axis(case: &CaseReport, axis: Axis) -> String {
    case.record.case.value(axis).unwrap_or_default()
}

/// Each once, in order.
fn different<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut different, one| {
        if !different.contains(&one) {
            different.push(one);
        }
        different
    })
}

/// None where two cases would share a cell.
fn table(title: &str, heading: &str, cases: &[&CaseReport], cell: fn(&CaseReport) -> String) -> Option<Table> {
    let labels = cases.iter().map(|case| case.record.label.as_deref()).collect::<Option<Vec<&str>>>()?;
    let labels = different(labels.into_iter());
    let chunks = different(cases.iter().map(|case| axis(case, Axis::Chunk)));
    let mut columns = vec![Column::text(heading, 0)];
    columns.extend(chunks.iter().map(|chunk| Column::figure("", chunk, 0)));
    let mut rows = Vec::new();
    for row_label in labels {
        let mut row = vec![row_label.to_owned()];
        for chunk in &chunks {
            let is_here = |case: &&&CaseReport| {
                case.record.label.as_deref() == Some(row_label) && axis(case, Axis::Chunk) == *chunk
            };
            let mut here = cases.iter().filter(is_here);
            row.push(here.next().map_or_else(String::new, |case| cell(case)));
            if here.next().is_some() {
                return None;
            }
        }
        rows.push(row);
    }
    Some(Table { title: title.to_owned(), columns, rows, sentences: Vec::new(), notes: Vec::new(), bars: None })
}

fn cell(case: &CaseReport) -> String {
    let Some(estimate) = &case.estimate else { return "–".to_owned() };
    mark(estimate, gigabytes_per_s(estimate.throughput_bytes_per_s.median))
}

fn of_limit(case: &CaseReport) -> String {
    let limit = case.estimate.as_ref().and_then(|estimate| estimate.limit);
    limit.map_or_else(|| "–".to_owned(), |it| notes::share(it.share))
}
