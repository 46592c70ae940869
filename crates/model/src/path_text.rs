//! Paths as one line of text for JSON, the database and people, without loss.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The text of a path. Bytes outside UTF-8, control characters and backslashes become `\\xNN`, two digits for each
/// byte.
pub fn path_text(path: &Path) -> String {
    let mut text = String::new();
    for part in path.as_os_str().as_bytes().utf8_chunks() {
        for c in part.valid().chars() {
            if c.is_ascii_control() || c == '\\' {
                text += &escape(c as u8);
            } else {
                text.push(c);
            }
        }
        text.extend(part.invalid().iter().map(|&byte| escape(byte)));
    }
    text
}

/// The path of a text. Older versions escaped nothing, so a backslash without two digits is a part of the path.
pub fn path_from_text(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend(rest[..at].bytes());
        let digits = rest[at..]
            .strip_prefix("\\x")
            .and_then(|digits| digits.get(..2));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[at + "\\xNN".len()..];
            }
            None => {
                bytes.push(b'\\');
                rest = &rest[at + "\\".len()..];
            }
        }
    }
    bytes.extend(rest.bytes());
    PathBuf::from(OsString::from_vec(bytes))
}

fn escape(byte: u8) -> String {
    format!("\\x{byte:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_path_reads_back_and_is_one_line(bytes in proptest::collection::vec(1u8.., 0..40)) {
            let path = PathBuf::from(OsString::from_vec(bytes));
            let text = path_text(&path);
            prop_assert!(!text.contains(|c: char| c.is_ascii_control()));
            prop_assert_eq!(path_from_text(&text), path);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,24}") {
            let _ = path_from_text(&text);
        }
    }

    #[test]
    fn a_usual_path_is_unchanged_and_special_bytes_are_escaped() {
        assert_eq!(path_text(Path::new("/data/größer (2)")), "/data/größer (2)");
        let odd = PathBuf::from(OsString::from_vec(b"/a\nb\xff\\x0a".to_vec()));
        assert_eq!(path_text(&odd), "/a\\x0ab\\xff\\x5cx0a");
        assert_eq!(
            path_from_text("/a\\b\\x"),
            Path::new("/a\\b\\x"),
            "as it was recorded before"
        );
    }
}
