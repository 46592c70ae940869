//! One file for each format that a [`crate::Report`] is rendered in; `svg` renders its charts, one by one.

pub mod comparison;
pub mod csv;
pub mod csv_summary;
pub mod fio;
pub mod json;
pub mod jsonl;
pub mod markdown;
pub mod openmetrics;
pub mod svg;
pub mod terminal;

#[cfg(test)]
pub(crate) mod tests;
