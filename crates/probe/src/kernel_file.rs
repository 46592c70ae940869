//! The small files in which the kernel tells one fact each.

use std::fs;
use std::path::Path;
use std::str::FromStr;

/// A file's text without the space around it; none if there is no such file, or nothing in it.
pub(crate) fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A file's text as a number, or as whatever else parses.
pub(crate) fn value<T: FromStr>(path: &Path) -> Option<T> {
    text(path)?.parse().ok()
}

/// The choice that a file shows: the word in brackets, or the only one there is.
pub(crate) fn choice(path: &Path) -> Option<String> {
    chosen(&text(path)?).map(str::to_owned)
}

fn chosen(choices: &str) -> Option<&str> {
    let bracketed = || choices.split_once('[')?.1.split_once(']').map(|(word, _)| word);
    // A queue without schedulers says `none` and brackets nothing.
    let only = || (!choices.contains(char::is_whitespace)).then_some(choices);
    bracketed().or_else(only)
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
    fn an_empty_file_says_nothing_and_a_missing_one_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        assert_eq!(text(&path), None);
        fs::write(&path, "  \n").unwrap();
        assert_eq!(text(&path), None);
        fs::write(&path, "Samsung SSD 980 PRO     \n").unwrap();
        assert_eq!(text(&path).as_deref(), Some("Samsung SSD 980 PRO"));
    }
}
