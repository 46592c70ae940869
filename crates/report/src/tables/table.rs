//! A table as plain data: texts in rows and columns.

use std::borrow::Cow;

use crate::numbers::Estimate;
pub(crate) use crate::sentences::NOTHING;
use crate::sentences::{or_nothing, share, visible};
use crate::tables::bars::Bars;

/// A table, ready to be rendered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub title: String,
    pub columns: Vec<Column>,
    /// Each row has a text for every column.
    pub rows: Vec<Vec<String>>,
    /// Sentences on cases without a figure.
    pub sentences: Vec<Sentence>,
    /// Explanations of words and shares.
    pub notes: Vec<String>,
    /// The bars that a terminal draws behind the rows.
    pub bars: Option<Bars>,
}

/// The headings by which layouts know a column: of the cases' names, of the number of samples, and of intervals.
pub(crate) const CASE: &str = "case";
pub(crate) const SAMPLES: &str = "n";
pub(crate) const INTERVAL: &str = "interval";

/// A column's heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    /// The common heading of several columns.
    pub group: String,
    pub heading: String,
    /// Whether the column holds words, and not figures.
    pub is_text: bool,
    /// Where space is short, columns of higher number go first.
    pub rank: u8,
    /// Whether words may stand in several lines where space is short.
    pub wraps: bool,
}

/// A sentence about cases that have no figure, or lost theirs on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Whether the sentence tells of a fault, and not of a property of the target.
    pub is_fault: bool,
    pub text: String,
}

impl Table {
    /// A table with nothing below it.
    pub(crate) fn from_rows(title: impl Into<String>, columns: Vec<Column>, rows: Vec<Vec<String>>) -> Self {
        Self { title: title.into(), columns, rows, sentences: Vec::new(), notes: Vec::new(), bars: None }
    }

    /// A table with a row for each item, and nothing below it.
    pub(super) fn with<R>(title: impl Into<String>, rows: &[R], columns: Vec<Cells<'_, R>>) -> Self {
        let rows = rows.iter().map(|row| columns.iter().map(|column| (column.cell)(row)).collect()).collect();
        Self::from_rows(title, columns.into_iter().map(|column| column.column).collect(), rows)
    }

    /// The table with all of its text safe for a terminal.
    pub(crate) fn made_visible(mut self) -> Self {
        let columns = self.columns.iter_mut().flat_map(|column| [&mut column.group, &mut column.heading]);
        let sentences = self.sentences.iter_mut().map(|sentence| &mut sentence.text);
        let texts = columns.chain(self.rows.iter_mut().flatten()).chain(&mut self.notes).chain(sentences);
        for text in texts.chain([&mut self.title]) {
            // Almost all text is safe; only unsafe text is held twice for a moment.
            if let Cow::Owned(safe) = visible(text) {
                *text = safe;
            }
        }
        self
    }
}

/// The share of its limit that a case reached.
pub(crate) fn limit_cell(estimate: Option<&Estimate>) -> String {
    or_nothing(estimate.and_then(|estimate| estimate.limit), |limit| share(limit.share))
}

/// A column, and its text in each row.
pub(super) struct Cells<'c, R> {
    column: Column,
    cell: Box<dyn Fn(&R) -> String + 'c>,
}

impl<'c, R> Cells<'c, R> {
    pub(super) fn figure(group: &str, heading: &str, rank: u8, cell: impl Fn(&R) -> String + 'c) -> Self {
        Self { column: Column::figure(group, heading, rank), cell: Box::new(cell) }
    }

    pub(super) fn text(heading: &str, rank: u8, cell: impl Fn(&R) -> String + 'c) -> Self {
        Self { column: Column::text(heading, rank), cell: Box::new(cell) }
    }

    pub(super) fn words(heading: &str, cell: impl Fn(&R) -> String + 'c) -> Self {
        Self { column: Column { wraps: true, ..Column::text(heading, 0) }, cell: Box::new(cell) }
    }
}

impl Column {
    pub(crate) fn figure(group: &str, heading: &str, rank: u8) -> Self {
        Self { group: group.to_owned(), heading: heading.to_owned(), is_text: false, rank, wraps: false }
    }

    pub(crate) fn text(heading: &str, rank: u8) -> Self {
        Self { group: String::new(), heading: heading.to_owned(), is_text: true, rank, wraps: false }
    }
}
