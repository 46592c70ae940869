//! One file for each format that a [`crate::Report`] is rendered in; `svg` renders its charts, one by one, and `html` several
//! reports in one page.

mod bar;
pub mod comparison;
pub mod csv;
pub mod csv_summary;
pub mod fio;
pub mod html;
pub mod json;
pub mod jsonl;
mod lines;
mod mark;
pub mod markdown;
pub mod openmetrics;
mod palette;
mod styles;
pub mod svg;
pub mod terminal;

pub use mark::{MARK, has_mark};

#[cfg(test)]
pub(crate) mod tests;
