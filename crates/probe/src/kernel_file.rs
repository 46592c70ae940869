//! Reading the small text files of proc and sysfs.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fs, io};

use crate::error::ProbeError;

/// The root of all paths. Tests supply another one.
pub(crate) const ROOT: &str = "/";

/// The trimmed content of a file, or `None` if it is empty or cannot be read.
pub(crate) fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

pub(crate) fn needed_text(path: &Path) -> Result<String, ProbeError> {
    let bytes = fs::read(path).map_err(|error| ProbeError::call("read", path, error))?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

pub(crate) fn needed_number(path: &Path) -> Result<u64, ProbeError> {
    let number = needed_text(path)?.parse();
    number.map_err(|_| ProbeError::Absent {
        path: path.to_owned(),
        line: "number",
    })
}

pub(crate) fn value<T: FromStr>(path: &Path) -> Option<T> {
    text(path)?.parse().ok()
}

/// The sorted paths in a folder. A folder that does not exist has none.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, ProbeError> {
    match sorted_entries(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        paths => paths.map_err(|error| ProbeError::call("read", folder, error)),
    }
}

fn sorted_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The value that is in effect, in a file that lists all possible ones.
pub(crate) fn choice(path: &Path) -> Option<String> {
    chosen(&text(path)?).map(str::to_owned)
}

/// The word in brackets, or the only word: a queue without schedulers shows `none` without brackets.
fn chosen(choices: &str) -> Option<&str> {
    bracketed(choices).or_else(|| (!choices.contains(char::is_whitespace)).then_some(choices))
}

fn bracketed(choices: &str) -> Option<&str> {
    let (_, rest) = choices.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_in_brackets_is_chosen() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq"), Some("mq-deadline"));
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
    }

    #[test]
    fn the_only_word_is_chosen() {
        assert_eq!(chosen("none"), Some("none"));
    }

    #[test]
    fn without_brackets_nothing_is_chosen_among_several() {
        assert_eq!(chosen("none kyber"), None);
        assert_eq!(chosen("none [kyber"), None);
    }

    #[test]
    fn a_missing_required_number_is_an_error_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("size");
        let error = needed_number(&path).unwrap_err().to_string();
        assert!(
            error.ends_with("size: No such file or directory (2)"),
            "{error}"
        );
        fs::write(&path, "many\n").unwrap();
        assert!(
            needed_number(&path)
                .unwrap_err()
                .to_string()
                .ends_with("size has no number")
        );
        fs::write(&path, "2048\n").unwrap();
        assert_eq!(needed_number(&path).unwrap(), 2048);
    }

    #[test]
    fn an_empty_or_missing_file_has_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        assert_eq!(text(&path), None);
        fs::write(&path, "  \n").unwrap();
        assert_eq!(text(&path), None);
        fs::write(&path, "Samsung SSD 980 PRO     \n").unwrap();
        assert_eq!(text(&path).as_deref(), Some("Samsung SSD 980 PRO"));
    }
}
