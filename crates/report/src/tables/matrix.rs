//! Throughput by chunk size: a row per label, a column per chunk. No bars: one in each cell would make half as many columns fit,
//! and what they would show are the charts' lines.

use crate::sentences::number::{gigabytes_per_s, mark};
use crate::sentences::report::CaseReport;
use crate::tables::{Column, Table, notes, per_case};

/// A table for each size of the file. Where cases differ in more than label and chunk, a row per case instead.
pub(super) fn throughput(title: &str, cases: &[CaseReport]) -> Vec<Table> {
    let mut sizes: Vec<&str> = Vec::new();
    for case in cases {
        if !sizes.contains(&axis(case, "size")) {
            sizes.push(axis(case, "size"));
        }
    }
    let mut tables = Vec::new();
    for size in sizes {
        let of_size: Vec<&CaseReport> = cases.iter().filter(|case| axis(case, "size") == size).collect();
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

fn axis<'c>(case: &'c CaseReport, name: &str) -> &'c str {
    case.record.axes.get(name).map_or("", String::as_str)
}

/// None where two cases would share a cell.
fn table(title: &str, heading: &str, cases: &[&CaseReport], cell: fn(&CaseReport) -> String) -> Option<Table> {
    let (mut labels, mut chunks): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let label = |case: &CaseReport| -> Option<String> { case.record.label.clone() };
    for case in cases {
        let label = case.record.label.as_deref()?;
        if !labels.contains(&label) {
            labels.push(label);
        }
        if !chunks.contains(&axis(case, "chunk")) {
            chunks.push(axis(case, "chunk"));
        }
    }
    let mut columns = vec![Column::text(heading, 0)];
    columns.extend(chunks.iter().map(|chunk| Column::figure("", chunk, 0)));
    let mut rows = Vec::new();
    for row_label in labels {
        let mut row = vec![row_label.to_owned()];
        for chunk in &chunks {
            let mut here = cases
                .iter()
                .filter(|case| label(case).as_deref() == Some(row_label) && axis(case, "chunk") == *chunk);
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
