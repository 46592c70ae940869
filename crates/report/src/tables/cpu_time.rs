//! Elapsed time, user CPU time and system CPU time by chunk size, a table each. No bars: times differ by decades, and bars
//! that begin at 0 would show one of them. The charts have logarithmic axes for that.

use writebench_model::Axis;

use crate::numbers::case::CaseReport;
use crate::numbers::estimate::{Estimate, Figure};
use crate::sentences::number::{SECONDS, extremes, mark, range, seconds, significant};
use crate::tables::metric::{Metric, TIMES};
use crate::tables::table::{self, Table, limit_cell, or_nothing};

/// The three tables.
pub(super) fn tables(title: &str, cases: &[&CaseReport]) -> Vec<Table> {
    TIMES.iter().map(|time| table(&format!("{title}: {}", time.title), cases, time)).collect()
}

type Cells<'c> = table::Cells<'c, (&'c CaseReport, &'c Estimate, &'c Figure)>;

fn table(title: &str, cases: &[&CaseReport], time: &Metric) -> Table {
    let mut columns = vec![
        Cells::text("buffer", 0, |(case, ..)| case.record.case.value(Axis::Chunk).unwrap_or_default()),
        Cells::figure("", "s", 0, |(_, estimate, figure)| mark(estimate, seconds(figure.value))),
        Cells::figure("95 %", table::INTERVAL, 0, |(.., figure)| range(figure, &SECONDS)),
        Cells::figure("", "min – max", 2, |(.., figure)| extremes(figure, &SECONDS)),
        Cells::figure("per call", "ns", 0, |(_, estimate, figure)| {
            or_nothing(per_call(estimate, figure), significant)
        }),
        Cells::figure("", table::SAMPLES, 0, |(_, estimate, _)| estimate.samples.to_string()),
        Cells::text(table::CASE, 1, |(case, ..)| case.record.case.to_string()),
    ];
    if cases.iter().any(|case| case.has_limit()) {
        columns.insert(3, Cells::figure("of", "limit", 0, |(_, estimate, _)| limit_cell(Some(estimate))));
    }
    let rows = cases.iter().filter_map(|case| {
        let estimate = case.estimate.as_ref()?;
        Some((*case, estimate, (time.figure)(estimate)?))
    });
    Table::with(title, &rows.collect::<Vec<_>>(), columns)
}

/// The average time of one hand-over, in nanoseconds.
fn per_call(estimate: &Estimate, figure: &Figure) -> Option<f64> {
    let calls = estimate.records_per_s.as_ref()?.value * estimate.total_ns.value / 1e9;
    (calls > 0.0).then_some(figure.value / calls)
}
