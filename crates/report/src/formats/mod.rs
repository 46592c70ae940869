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
pub mod markdown;
pub mod openmetrics;
mod palette;
pub mod svg;
pub mod terminal;

/// What the first line of each file has that is written to a directory of many (`svg`, `fio`): by it, later exports know
/// which files they may replace.
pub const MARK: &str = "made by writebench";

/// Whether a file that begins like this has our mark.
#[must_use]
pub fn has_mark(beginning: &[u8]) -> bool {
    let first_line = beginning.split(|&byte| byte == b'\n').next().unwrap_or_default();
    first_line.windows(MARK.len()).any(|part| part == MARK.as_bytes())
}

#[cfg(test)]
mod layouts;
#[cfg(test)]
pub(crate) mod tests;
