use crate::numbers::{ComparedCase, Comparison, ObservationUnit};
use crate::sentences::comparison::verdict;
use crate::sentences::{GIGABYTES_PER_S, NOTHING, THOUSANDTHS, ratio_interval};
use crate::tables::table::{self, Table};

type Cells<'c> = table::Cells<'c, &'c ComparedCase>;

pub(crate) fn table<'c>(
    cases: impl Iterator<Item = &'c ComparedCase>,
    comparison: &'c Comparison,
) -> Table {
    let counts = if comparison.unit == ObservationUnit::Run {
        "runs A / B"
    } else {
        "rounds A / B"
    };
    let columns = vec![
        Cells::text(table::CASE, 0, |case| case.case.to_string()),
        Cells::figure("", "A GB/s", 1, |case| {
            GIGABYTES_PER_S.text(case.a_bytes_per_s)
        }),
        Cells::figure("", "B GB/s", 1, |case| {
            GIGABYTES_PER_S.text(case.b_bytes_per_s)
        }),
        Cells::figure("", "B / A", 0, |case| {
            THOUSANDTHS.text(case.speed_ratio.estimate)
        }),
        Cells::figure("", table::INTERVAL, 0, |case| interval(case)),
        Cells::text("B is", 0, |case| verdict(case, comparison)),
        Cells::figure("", counts, 0, |case| {
            format!("{} / {}", case.a_count, case.b_count)
        }),
    ];
    Table::with("", &cases.collect::<Vec<_>>(), columns)
}

fn interval(case: &ComparedCase) -> String {
    if case.speed_ratio.is_sure() {
        ratio_interval(&case.speed_ratio)
    } else {
        NOTHING.to_owned()
    }
}
