//! Throughput by label and chunk, without bars: one per cell would halve the columns.

use writebench_model::Axis;

use crate::numbers::{CaseReport, grouped};
use crate::sentences::metric::THROUGHPUT;
use crate::sentences::or_nothing;
use crate::tables::per_case;
use crate::tables::table::{Column, Table, limit_cell};

/// A table for each size of the file, with a row per label and a column per chunk. If cases differ in more, there is
/// one table with a row for each of them.
pub(super) fn throughput(title: &str, cases: &[&CaseReport]) -> Vec<Table> {
    let mut tables = Vec::new();
    for (size, cases_of_size) in grouped(cases.iter().copied(), |case| axis(case, Axis::Size)) {
        let title_of_size = format!("{title}, {size}");
        let Some(throughput) = table(
            &title_of_size,
            "GB/s, total",
            &cases_of_size,
            throughput_cell,
        ) else {
            return vec![per_case::phases(title, cases)];
        };
        tables.push(throughput);
        if cases_of_size.iter().any(|case| case.has_limit()) {
            let title = format!("{title_of_size}: of the limit");
            tables.extend(table(&title, "of limit", &cases_of_size, |case| {
                limit_cell(case.estimate.as_ref())
            }));
        }
    }
    tables
}

fn throughput_cell(case: &CaseReport) -> String {
    or_nothing(case.estimate.as_ref(), |estimate| {
        THROUGHPUT.value(estimate)
    })
}

fn axis(case: &CaseReport, axis: Axis) -> String {
    case.record.case.value(axis).unwrap_or_default()
}

/// The table is None if two cases would share a cell, or one has no label.
fn table(
    title: &str,
    heading: &str,
    cases: &[&CaseReport],
    cell: fn(&CaseReport) -> String,
) -> Option<Table> {
    let chunks = grouped(cases, |case| axis(case, Axis::Chunk));
    let mut columns = vec![Column::text(heading, 0)];
    columns.extend(chunks.iter().map(|(chunk, _)| Column::figure("", chunk, 0)));
    let mut rows = Vec::new();
    for (label, cases_of_label) in grouped(cases, |case| case.record.label.as_deref()) {
        let mut row = vec![label?.to_owned()];
        for (chunk, _) in &chunks {
            let mut here = cases_of_label
                .iter()
                .filter(|case| axis(case, Axis::Chunk) == *chunk);
            row.push(here.next().map_or_else(String::new, |case| cell(case)));
            if here.next().is_some() {
                return None;
            }
        }
        rows.push(row);
    }
    Some(Table::from_rows(title, columns, rows))
}
