//! Two sides case by case.

use crate::numbers::comparison::{ComparedCase, Unit};
use crate::sentences::comparison::verdict;
use crate::sentences::number::gigabytes_per_s;
use crate::tables::table::{self, Table};

type Cells<'c> = table::Cells<'c, &'c ComparedCase>;

pub(crate) fn table<'c>(cases: impl Iterator<Item = &'c ComparedCase>, unit: Unit) -> Table {
    let counts = if unit == Unit::Run { "runs A / B" } else { "n A / B" };
    let columns = vec![
        Cells::text(table::CASE, 0, |it| it.case.to_string()),
        Cells::figure("", "A GB/s", 1, |it| gigabytes_per_s(it.a_bytes_per_s)),
        Cells::figure("", "B GB/s", 1, |it| gigabytes_per_s(it.b_bytes_per_s)),
        Cells::figure("", "B / A", 0, |it| format!("{:.3}", it.speed_ratio.estimate)),
        Cells::figure("", table::INTERVAL, 0, |it| {
            format!("{:.3} – {:.3}", it.speed_ratio.low, it.speed_ratio.high)
        }),
        Cells::text("B is", 0, |it| verdict(it.verdict, unit).to_owned()),
        Cells::figure("", counts, 0, |it| format!("{} / {}", it.a_count, it.b_count)),
    ];
    Table::with("", &cases.collect::<Vec<_>>(), columns)
}
