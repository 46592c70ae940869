//! The columns that the tables of the terminal and of Markdown have in common.

use crate::counted;
use crate::estimate::Estimate;
use crate::formats::{gigabytes_per_s, interval, milliseconds, range};
use crate::report::CaseReport;

/// A column: heading in two parts, and what a case has in it.
pub(crate) struct Column {
    /// What several columns together are about.
    pub(crate) group: &'static str,
    /// The heading.
    pub(crate) heading: &'static str,
    /// The cell.
    pub(crate) cell: fn(&Estimate) -> String,
    /// Where space is short, columns of higher number go first.
    pub(crate) rank: u8,
}

const fn column(group: &'static str, heading: &'static str, rank: u8, cell: fn(&Estimate) -> String) -> Column {
    Column { group, heading, cell, rank }
}

pub(crate) const COLUMNS: &[Column] = &[
    column("all of it", "GB/s", 0, |it| mark(it, gigabytes_per_s(it.throughput_bytes_per_s.median))),
    column("95 %", "interval", 0, |it| interval(&it.throughput_bytes_per_s)),
    column("", "min – max", 4, |it| range(it.throughput_bytes_per_s.min, it.throughput_bytes_per_s.max)),
    column("write alone", "GB/s", 1, |it| gigabytes_per_s(it.write_alone_bytes_per_s.median)),
    column("95 %", "interval", 5, |it| interval(&it.write_alone_bytes_per_s)),
    column("ms:", "prepare", 2, |it| milliseconds(it.phases_ns.prepare)),
    column("", "open", 2, |it| milliseconds(it.phases_ns.open)),
    column("", "write", 2, |it| milliseconds(it.phases_ns.write)),
    column("", "sync", 2, |it| milliseconds(it.phases_ns.sync)),
    column("", "close", 2, |it| milliseconds(it.phases_ns.close)),
    column("CPU ms:", "user", 3, |it| milliseconds(it.user_cpu_ns)),
    column("", "system", 3, |it| milliseconds(it.system_cpu_ns)),
    column("", "n", 6, |it| it.samples.to_string()),
];

/// A figure of nothing but disturbed samples is marked.
fn mark(estimate: &Estimate, figure: String) -> String {
    if estimate.only_disturbed { format!("~{figure}") } else { figure }
}

/// A sentence for a case that has no figure, or lost one on the way.
pub(crate) fn sentence(case: &CaseReport) -> Option<String> {
    let reason = case.reason.as_ref()?;
    let good = case
        .estimate
        .as_ref()
        .map_or(String::new(), |it| format!(" (after {})", counted(it.samples, "good sample")));
    Some(match case.outcome {
        "not-run" => format!("{}: {reason}", case.record.case),
        outcome => format!("{}: {outcome}: {reason}{good}", case.record.case),
    })
}
