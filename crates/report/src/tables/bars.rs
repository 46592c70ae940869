//! The figure that a table is about, as a bar beside each row.

use crate::numbers::case::CaseReport;
use crate::numbers::estimate::Estimate;

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
        rows: &[&CaseReport],
        rank: u8,
        figure: fn(&Estimate) -> Option<f64>,
        text: fn(f64) -> String,
    ) -> Option<Self> {
        let value = |case: &&CaseReport| {
            let estimate = case.estimate.as_ref()?;
            figure(estimate).map(|value| (value, estimate.only_disturbed))
        };
        let values: Vec<Option<(f64, bool)>> = rows.iter().map(value).collect();
        let figures = || values.iter().flatten().map(|(value, _)| *value);
        let full = figures().fold(0.0, f64::max);
        if figures().count() < 2 || full <= 0.0 {
            return None;
        }
        let bar = |(value, only_disturbed)| Bar { share: value / full, only_disturbed };
        Some(Self { full: text(full), of_rows: values.into_iter().map(|it| it.map(bar)).collect(), rank })
    }
}
