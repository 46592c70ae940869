use std::borrow::Cow;

use crate::numbers::{CaseReport, Estimate};
pub(crate) use crate::sentences::NOTHING;
use crate::sentences::metric::{ELAPSED, Metric};
use crate::sentences::{or_nothing, share, visible};

/// A table of texts, which formats lay out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub title: String,
    pub columns: Vec<Column>,
    /// Each row has a text for every column.
    pub rows: Vec<Vec<String>>,
    /// Sentences on cases without a value or with a loss. Each comes with whether the cause is a fault, and not a
    /// property of the target.
    pub sentences: Vec<(bool, String)>,
    pub notes: Vec<String>,
    /// Bars beside the rows, which only a terminal shows.
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
    /// The column has words, not numbers.
    pub is_text: bool,
    /// Columns of higher rank are dropped first if the width is short.
    pub rank: u8,
    /// The words may take several lines.
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

    /// The table of what each column makes of each row.
    pub(super) fn with<R>(
        title: impl Into<String>,
        rows: &[R],
        columns: Vec<Cells<'_, R>>,
    ) -> Self {
        let columns: Vec<Cells<'_, R>> = columns
            .into_iter()
            .filter(|column| !column.is_optional || column.has_value(rows))
            .collect();
        let rows = rows
            .iter()
            .map(|row| columns.iter().map(|column| (column.cell)(row)).collect())
            .collect();
        let columns = columns.into_iter().map(|column| column.column).collect();
        Self::from_rows(title, columns, rows)
    }

    pub(super) fn has_column(&self, heading: &str) -> bool {
        self.columns.iter().any(|column| column.heading == heading)
    }

    /// The table with all its text safe for a terminal.
    pub(crate) fn made_visible(mut self) -> Self {
        let columns = self
            .columns
            .iter_mut()
            .flat_map(|column| [&mut column.group, &mut column.heading]);
        let texts = columns.chain(self.rows.iter_mut().flatten());
        for text in texts.chain([&mut self.title]) {
            // Almost all text is safe, so copies are rare.
            if let Cow::Owned(safe) = visible(text) {
                *text = safe;
            }
        }
        // These may have several lines.
        let sentences = self.sentences.iter_mut().map(|(_, text)| text);
        for text in self.notes.iter_mut().chain(sentences) {
            let lines: Vec<Cow<'_, str>> = text.lines().map(visible).collect();
            *text = lines.join("\n");
        }
        self
    }
}

/// `83 %`, the share of the limit.
pub(crate) fn limit_cell(estimate: Option<&Estimate>) -> String {
    or_nothing(estimate.and_then(|estimate| estimate.limit), |limit| {
        share(limit.share)
    })
}

/// A column, and what it makes of a row.
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

    fn has_value(&self, rows: &[R]) -> bool {
        rows.iter()
            .any(|row| !matches!((self.cell)(row).as_str(), "" | NOTHING))
    }

    /// The column is left out if no row has a value.
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

/// Bars beside the rows of a table, with one scale from 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    /// The value of a full bar.
    pub full: String,
    /// The bar of each row. It is None without a value, or if the row's case did less work than others.
    pub by_row: Vec<Option<Bar>>,
    /// The rank of the bars, as of a column: higher ones are dropped first if the width is short.
    pub rank: u8,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bar {
    /// The share of a full bar.
    pub share: f64,
    /// Every sample of the row's case was disturbed.
    pub all_disturbed: bool,
}

impl Bars {
    /// The bars are None if fewer than two rows are comparable.
    pub(super) fn for_rows(
        rows: &[(&CaseReport, &Estimate)],
        rank: u8,
        metric: &Metric,
    ) -> Option<Self> {
        let values: Vec<Option<f64>> = rows
            .iter()
            .map(|(_, estimate)| comparable_value(estimate, metric))
            .collect();
        let full = values.iter().flatten().copied().fold(0.0, f64::max);
        if full <= 0.0 || values.iter().flatten().count() < 2 {
            return None;
        }
        let by_row = rows
            .iter()
            .zip(values)
            .map(|((_, estimate), value)| {
                Some(Bar {
                    share: value? / full,
                    all_disturbed: estimate.all_disturbed,
                })
            })
            .collect();
        Some(Self {
            full: metric.text.text(full),
            by_row,
            rank,
        })
    }
}

/// The value of the metric. The time of samples that a limit cut short is not comparable.
fn comparable_value(estimate: &Estimate, metric: &Metric) -> Option<f64> {
    let is_comparable = estimate.truncated_samples == 0 || metric.unit != ELAPSED.unit;
    let figure = (metric.figure)(estimate).filter(|_| is_comparable)?;
    Some(figure.value)
}
