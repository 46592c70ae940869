//! The sign by which our own files are known.

/// What the first line of each file has that is written to a directory of many (`svg`, `fio`): by it, later exports know
/// which files they may replace.
pub const MARK: &str = "made by writebench";

/// Whether a file that begins like this has our mark.
#[must_use]
pub fn has_mark(beginning: &[u8]) -> bool {
    let first_line = beginning.split(|&byte| byte == b'\n').next().unwrap_or_default();
    first_line.windows(MARK.len()).any(|part| part == MARK.as_bytes())
}
