use crate::numbers::{CaseReport, Estimate};
use crate::tables::metric::Metric;

/// Of one scale from 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    /// The value of a full bar.
    pub full: String,
    /// None without a value, or with less work than the other rows.
    pub of_rows: Vec<Option<Bar>>,
    /// As of columns: dropped first if the width is short.
    pub rank: u8,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bar {
    pub share: f64,
    pub only_disturbed: bool,
}

impl Bars {
    /// None if fewer than two rows are comparable.
    pub(super) fn for_rows(
        rows: &[(&CaseReport, &Estimate)],
        rank: u8,
        metric: &Metric,
        is_comparable: fn(&Estimate) -> bool,
    ) -> Option<Self> {
        let value = |(_, estimate): &(_, &Estimate)| {
            let figure = (metric.figure)(estimate).filter(|_| is_comparable(estimate));
            figure.map(|figure| (figure.value, estimate.only_disturbed))
        };
        let values: Vec<Option<(f64, bool)>> = rows.iter().map(value).collect();
        let figures = || values.iter().flatten().map(|(value, _)| *value);
        let full = figures().fold(0.0, f64::max);
        if figures().count() < 2 || full <= 0.0 {
            return None;
        }
        let bar = |(value, only_disturbed)| Bar { share: value / full, only_disturbed };
        let of_rows = values.into_iter().map(|value| value.map(bar)).collect();
        Some(Self { full: metric.text.text(full), of_rows, rank })
    }
}
