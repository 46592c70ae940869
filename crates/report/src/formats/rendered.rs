//! The results of rendering.

/// The files of a directory.
#[derive(Debug)]
pub struct Files {
    /// Names and texts.
    pub files: Vec<(String, String)>,
    /// A note about missing files.
    pub note: Option<String>,
}

/// An error that never happens in practice: every key is a text, and the page's template is checked
/// when it is compiled.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// JSON, a line of it, or a page's data.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A row of either table.
    #[error(transparent)]
    Csv(#[from] ::csv::Error),
    /// The words of a page.
    #[error("cannot write the page: {0}")]
    Page(#[from] askama::Error),
}

/// The mark in the first line of each file of a directory, by which later exports know the files that they
/// may replace.
pub const MARK: &str = "made by writebench";

/// Whether a file that begins like this has our mark.
#[must_use]
pub fn has_mark(beginning: &[u8]) -> bool {
    let first_line = beginning.split(|&byte| byte == b'\n').next().unwrap_or_default();
    first_line.windows(MARK.len()).any(|part| part == MARK.as_bytes())
}
