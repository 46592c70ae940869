#[derive(Debug)]
pub struct Files {
    /// Names and texts.
    pub files: Vec<(String, String)>,
    /// On missing files.
    pub note: Option<String>,
}

/// Marks the first line of each file: later exports replace only marked files.
pub const MARK: &str = "made by writebench";

pub fn has_mark(beginning: &[u8]) -> bool {
    let first_line = beginning.split(|&byte| byte == b'\n').next().unwrap_or_default();
    first_line.windows(MARK.len()).any(|part| part == MARK.as_bytes())
}
