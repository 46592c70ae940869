//! Two sides case by case.

use crate::numbers::comparison::{ComparedCase, Comparison, Unit};
use crate::sentences::comparison::verdict;
use crate::sentences::number::gigabytes_per_s;
use crate::tables::table::{Column, Table};

pub(crate) fn table(comparison: &Comparison) -> Table {
    let row = |case: &ComparedCase| {
        vec![
            case.case.to_string(),
            gigabytes_per_s(case.a_bytes_per_s),
            gigabytes_per_s(case.b_bytes_per_s),
            format!("{:.3}", case.speed_ratio.estimate),
            format!("{:.3} – {:.3}", case.speed_ratio.low, case.speed_ratio.high),
            verdict(case.verdict, comparison.unit).to_owned(),
            format!("{} / {}", case.a_count, case.b_count),
        ]
    };
    let columns = vec![
        Column::text("case", 0),
        Column::figure("", "A GB/s", 1),
        Column::figure("", "B GB/s", 1),
        Column::figure("", "B / A", 0),
        Column::figure("", "interval", 0),
        Column::text("B is", 0),
        Column::figure("", if comparison.unit == Unit::Run { "runs A / B" } else { "samples A / B" }, 2),
    ];
    Table::of("", columns, comparison.cases.iter().map(row).collect())
}
