//! The figure that a table is about, as a bar beside each row.

use crate::numbers::{CaseReport, Estimate};
use crate::tables::metric::Metric;

/// Bars of one scale, which begins at 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    /// The figure that a full bar stands for.
    pub full: String,
    /// A bar for each row; none if the row has no figure, or one of less work than the others'.
    pub of_rows: Vec<Option<Bar>>,
    /// Where space is short, bars go as a column of that rank does.
    pub rank: u8,
}

/// A row's bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bar {
    /// The part of a full bar.
    pub share: f64,
    /// Whether all samples were disturbed.
    pub only_disturbed: bool,
}

impl Bars {
    /// The bars of the rows; none if fewer than two rows are comparable.
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
