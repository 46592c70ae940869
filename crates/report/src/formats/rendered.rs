//! The results of rendering.

/// The files of a directory.
#[derive(Debug)]
pub struct Files {
    /// Names and texts.
    pub files: Vec<(String, String)>,
    /// A note about missing files.
    pub note: Option<String>,
}

/// The mark in the first line of each file of a directory, by which later exports know the files that they
/// may replace.
pub const MARK: &str = "made by writebench";

/// Whether a file that begins like this has our mark.
pub fn has_mark(beginning: &[u8]) -> bool {
    let first_line = beginning.split(|&byte| byte == b'\n').next().unwrap_or_default();
    first_line.windows(MARK.len()).any(|part| part == MARK.as_bytes())
}
