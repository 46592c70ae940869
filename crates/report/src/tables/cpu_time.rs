//! Elapsed time, user CPU time and system CPU time by chunk size, a table each. No bars: times differ by decades, and bars
//! that begin at 0 would show one of them. The charts have logarithmic axes for that.

use writebench_model::Axis;

use crate::numbers::case::CaseReport;
use crate::numbers::estimate::{Estimate, Figure};
use crate::sentences::number::{extremes, mark, range, seconds, significant};
use crate::tables::shown::{Shown, TIMES};
use crate::tables::table::{Column, NOTHING, Table, limit_cell};

/// The three tables.
pub(super) fn tables(title: &str, cases: &[&CaseReport]) -> Vec<Table> {
    TIMES.iter().map(|time| table(&format!("{title}: {}", time.title), cases, time)).collect()
}

fn table(title: &str, cases: &[&CaseReport], time: &Shown) -> Table {
    let with_limit = cases.iter().any(|case| case.has_limit());
    let mut columns = vec![
        Column::text("buffer", 0),
        Column::figure("", "s", 0),
        Column::figure("95 %", "interval", 0),
        Column::figure("", "min – max", 2),
        Column::figure("per call", "ns", 0),
        Column::figure("", "n", 3),
        Column::text("case", 1),
    ];
    let rows = cases.iter().filter_map(|case| {
        let estimate = case.estimate.as_ref()?;
        let figure = (time.figure)(estimate)?;
        let chunk = case.record.case.value(Axis::Chunk).unwrap_or_default();
        let mut row = vec![
            chunk,
            mark(estimate, seconds(figure.median)),
            range(figure, seconds),
            extremes(figure, seconds),
            per_call(estimate, figure).map_or_else(|| NOTHING.to_owned(), significant),
            estimate.samples.to_string(),
            case.record.case.to_string(),
        ];
        if with_limit {
            row.insert(3, limit_cell(Some(estimate)));
        }
        Some(row)
    });
    if with_limit {
        columns.insert(3, Column::figure("of", "limit", 0));
    }
    Table::of(title, columns, rows.collect())
}

/// What one hand-over takes on average, in nanoseconds.
fn per_call(estimate: &Estimate, figure: &Figure) -> Option<f64> {
    let calls = estimate.records_per_s.as_ref()?.median * estimate.total_ns.median / 1e9;
    (calls > 0.0).then_some(figure.median / calls)
}
