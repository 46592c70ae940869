use crate::numbers::{CaseReport, Estimate};
use crate::tables::metric::{ELAPSED, Metric};

/// Of one scale from 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    /// The value of a full bar.
    pub full: String,
    /// A share, and whether every sample was disturbed. None without a value, or with less work than other rows.
    pub of_rows: Vec<Option<(f64, bool)>>,
    /// As of columns: dropped first if the width is short.
    pub rank: u8,
}

impl Bars {
    /// None if fewer than two rows are comparable.
    pub(super) fn for_rows(rows: &[(&CaseReport, &Estimate)], rank: u8, metric: &Metric) -> Option<Self> {
        let is_comparable = |estimate: &Estimate| estimate.cut == 0 || metric.unit != ELAPSED.unit;
        let value =
            |estimate: &Estimate| Some((metric.figure)(estimate).filter(|_| is_comparable(estimate))?.value);
        let full = rows.iter().filter_map(|(_, estimate)| value(estimate)).fold(0.0, f64::max);
        let bar = |(_, estimate): &(_, &Estimate)| Some((value(estimate)? / full, estimate.only_disturbed));
        let of_rows: Vec<_> = rows.iter().map(bar).collect();
        let is_comparison = full > 0.0 && of_rows.iter().flatten().count() > 1;
        is_comparison.then(|| Self { full: metric.text.text(full), of_rows, rank })
    }
}
