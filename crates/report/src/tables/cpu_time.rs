//! Times by chunk size, without bars: times differ by decades, for which charts have logarithmic axes.

use writebench_model::Axis;

use crate::numbers::{CaseReport, Estimate};
use crate::sentences::{NUMBER, or_nothing};
use crate::tables::metric::{Metric, TIMES};
use crate::tables::per_case::measured;
use crate::tables::table::{self, Table, limit_cell};

pub(super) fn tables(title: &str, cases: &[&CaseReport]) -> Vec<Table> {
    TIMES.iter().map(|time| table(&format!("{title}: {}", time.title), cases, time)).collect()
}

type Cells<'c> = table::Cells<'c, (&'c CaseReport, &'c Estimate)>;

fn table(title: &str, cases: &[&CaseReport], time: &Metric) -> Table {
    let mut columns: Vec<Cells<'_>> = vec![
        Cells::text("buffer", 0, |(case, _)| case.record.case.value(Axis::Chunk).unwrap_or_default()),
        Cells::figure("", time.unit, 0, |(_, estimate)| time.value(estimate)),
        Cells::figure("", table::INTERVAL, 0, |(_, estimate)| time.interval(estimate)),
        Cells::figure("", "min – max", 2, |(_, estimate)| time.extremes(estimate)),
        Cells::figure("per call", "ns", 0, |(_, estimate)| {
            or_nothing(per_call(estimate, time), |ns| NUMBER.text(ns))
        }),
        Cells::figure("", table::SAMPLES, 0, |(_, estimate)| estimate.samples.to_string()),
        Cells::text(table::CASE, 1, |(case, _)| case.record.case.to_string()),
    ];
    if cases.iter().any(|case| case.has_limit()) {
        columns.insert(3, Cells::figure("of", "limit", 0, |(_, estimate)| limit_cell(Some(estimate))));
    }
    Table::with(title, &measured(cases), columns)
}

/// Nanoseconds per hand-over.
fn per_call(estimate: &Estimate, time: &Metric) -> Option<f64> {
    let calls = estimate.records_per_s.as_ref()?.value * estimate.total_ns.value / 1e9;
    (calls > 0.0).then_some((time.figure)(estimate)?.value / calls)
}
