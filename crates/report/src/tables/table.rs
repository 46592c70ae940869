use std::borrow::Cow;

use crate::numbers::{CaseReport, Estimate};
pub(crate) use crate::sentences::NOTHING;
use crate::sentences::metric::{ELAPSED, Metric};
use crate::sentences::{or_nothing, share, visible};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub title: String,
    pub columns: Vec<Column>,
    /// With a text for every column.
    pub rows: Vec<Vec<String>>,
    /// On cases without a value or with a loss. The first is true of a fault, not a property of the target.
    pub sentences: Vec<(bool, String)>,
    pub notes: Vec<String>,
    /// Only in a terminal.
    pub bars: Option<Bars>,
}

/// Layouts recognise columns by these headings.
pub(crate) const CASE: &str = "case";
pub(crate) const SAMPLES: &str = "n";
pub(crate) const INTERVAL: &str = "95% CI";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    /// The common heading of several columns.
    pub group: String,
    pub heading: String,
    /// Words, not numbers.
    pub is_text: bool,
    /// Columns of higher rank are dropped first if the width is short.
    pub rank: u8,
    /// Words may take several lines.
    pub wraps: bool,
}

impl Table {
    pub(crate) fn from_rows(
        title: impl Into<String>,
        columns: Vec<Column>,
        rows: Vec<Vec<String>>,
    ) -> Self {
        Self {
            title: title.into(),
            columns,
            rows,
            sentences: Vec::new(),
            notes: Vec::new(),
            bars: None,
        }
    }

    pub(super) fn with<R>(
        title: impl Into<String>,
        rows: &[R],
        columns: Vec<Cells<'_, R>>,
    ) -> Self {
        let has_value = |column: &Cells<'_, R>| {
            rows.iter()
                .any(|row| !matches!((column.cell)(row).as_str(), "" | NOTHING))
        };
        let columns = columns
            .into_iter()
            .filter(|column| !column.is_optional || has_value(column));
        let columns: Vec<Cells<'_, R>> = columns.collect();
        let rows = rows
            .iter()
            .map(|row| columns.iter().map(|column| (column.cell)(row)).collect())
            .collect();
        Self::from_rows(
            title,
            columns.into_iter().map(|column| column.column).collect(),
            rows,
        )
    }

    /// Safe for a terminal.
    pub(crate) fn made_visible(mut self) -> Self {
        let columns = self
            .columns
            .iter_mut()
            .flat_map(|column| [&mut column.group, &mut column.heading]);
        let sentences = self.sentences.iter_mut().map(|(_, text)| text);
        let texts = columns
            .chain(self.rows.iter_mut().flatten())
            .chain(&mut self.notes)
            .chain(sentences);
        for text in texts.chain([&mut self.title]) {
            // Almost all text is safe: copies are rare.
            if let Cow::Owned(safe) = visible(text) {
                *text = safe;
            }
        }
        self
    }
}

pub(crate) fn limit_cell(estimate: Option<&Estimate>) -> String {
    or_nothing(estimate.and_then(|estimate| estimate.limit), |limit| {
        share(limit.share)
    })
}

pub(super) struct Cells<'c, R> {
    column: Column,
    cell: Box<dyn Fn(&R) -> String + 'c>,
    is_optional: bool,
}

impl<'c, R> Cells<'c, R> {
    fn new(column: Column, cell: impl Fn(&R) -> String + 'c) -> Self {
        Self {
            column,
            cell: Box::new(cell),
            is_optional: false,
        }
    }

    pub(super) fn figure(
        group: &str,
        heading: &str,
        rank: u8,
        cell: impl Fn(&R) -> String + 'c,
    ) -> Self {
        Self::new(Column::figure(group, heading, rank), cell)
    }

    pub(super) fn text(heading: &str, rank: u8, cell: impl Fn(&R) -> String + 'c) -> Self {
        Self::new(Column::text(heading, rank), cell)
    }

    pub(super) fn words(heading: &str, cell: impl Fn(&R) -> String + 'c) -> Self {
        Self::new(
            Column {
                wraps: true,
                ..Column::text(heading, 0)
            },
            cell,
        )
    }

    /// Left out if no row has a value.
    pub(super) fn if_any(self) -> Self {
        Self {
            is_optional: true,
            ..self
        }
    }
}

impl Column {
    pub(crate) fn figure(group: &str, heading: &str, rank: u8) -> Self {
        Self {
            group: group.to_owned(),
            heading: heading.to_owned(),
            is_text: false,
            rank,
            wraps: false,
        }
    }

    pub(crate) fn text(heading: &str, rank: u8) -> Self {
        Self {
            group: String::new(),
            heading: heading.to_owned(),
            is_text: true,
            rank,
            wraps: false,
        }
    }
}

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
    pub(super) fn for_rows(
        rows: &[(&CaseReport, &Estimate)],
        rank: u8,
        metric: &Metric,
    ) -> Option<Self> {
        let is_comparable =
            |estimate: &Estimate| estimate.truncated_samples == 0 || metric.unit != ELAPSED.unit;
        let value = |estimate: &Estimate| {
            Some(
                (metric.figure)(estimate)
                    .filter(|_| is_comparable(estimate))?
                    .value,
            )
        };
        let full = rows
            .iter()
            .filter_map(|(_, estimate)| value(estimate))
            .fold(0.0, f64::max);
        let bar = |(_, estimate): &(_, &Estimate)| {
            Some((value(estimate)? / full, estimate.all_disturbed))
        };
        let of_rows: Vec<_> = rows.iter().map(bar).collect();
        let is_comparison = full > 0.0 && of_rows.iter().flatten().count() > 1;
        is_comparison.then(|| Self {
            full: metric.text.text(full),
            of_rows,
            rank,
        })
    }
}
