//! Two sides case by case.

use crate::numbers::comparison::{ComparedCase, Comparison, Unit};
use crate::sentences::comparison::verdict;
use crate::sentences::number::gigabytes_per_s;
use crate::tables::table::{self, Table};

type Cells<'c> = table::Cells<'c, ComparedCase>;

pub(crate) fn table(comparison: &Comparison) -> Table {
    let counts = if comparison.unit == Unit::Run { "runs A / B" } else { "samples A / B" };
    let columns = vec![
        Cells::text("case", 0, |it| it.case.to_string()),
        Cells::figure("", "A GB/s", 1, |it| gigabytes_per_s(it.a_bytes_per_s)),
        Cells::figure("", "B GB/s", 1, |it| gigabytes_per_s(it.b_bytes_per_s)),
        Cells::figure("", "B / A", 0, |it| format!("{:.3}", it.speed_ratio.estimate)),
        Cells::figure("", "interval", 0, |it| {
            format!("{:.3} – {:.3}", it.speed_ratio.low, it.speed_ratio.high)
        }),
        Cells::text("B is", 0, |it| verdict(it.verdict, comparison.unit).to_owned()),
        Cells::figure("", counts, 2, |it| format!("{} / {}", it.a_count, it.b_count)),
    ];
    Table::with("", &comparison.cases, columns)
}
