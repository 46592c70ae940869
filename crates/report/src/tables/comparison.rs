//! Two sides case by case.

use crate::numbers::comparison::{ComparedCase, Comparison, Unit};
use crate::sentences::comparison::verdict;
use crate::sentences::number::{NOTHING, THOUSANDTHS, gigabytes_per_s};
use crate::tables::table::{self, Table};

type Cells<'c> = table::Cells<'c, &'c ComparedCase>;

pub(crate) fn table<'c>(cases: impl Iterator<Item = &'c ComparedCase>, comparison: &'c Comparison) -> Table {
    let counts = if comparison.unit == Unit::Run { "runs A / B" } else { "rounds A / B" };
    let interval = |it: &ComparedCase| match it.speed_ratio.is_sure() {
        true => THOUSANDTHS.between(it.speed_ratio.low, it.speed_ratio.high),
        false => NOTHING.to_owned(),
    };
    let columns = vec![
        Cells::text(table::CASE, 0, |it| it.case.to_string()),
        Cells::figure("", "A GB/s", 1, |it| gigabytes_per_s(it.a_bytes_per_s)),
        Cells::figure("", "B GB/s", 1, |it| gigabytes_per_s(it.b_bytes_per_s)),
        Cells::figure("", "B / A", 0, |it| THOUSANDTHS.text(it.speed_ratio.estimate)),
        Cells::figure("", table::INTERVAL, 0, |it| interval(it)),
        Cells::text("B is", 0, |it| verdict(it, comparison)),
        Cells::figure("", counts, 0, |it| format!("{} / {}", it.a_count, it.b_count)),
    ];
    Table::with("", &cases.collect::<Vec<_>>(), columns)
}
