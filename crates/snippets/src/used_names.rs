/// Code without its comments.
pub(crate) struct UsedNames(String);

impl UsedNames {
    /// Comments end with their line.
    pub(crate) fn in_text(text: &str, comments: &[&str]) -> Self {
        let comment = |line: &str| comments.iter().filter_map(|start| line.find(start)).min();
        let code = text
            .lines()
            .map(|line| &line[..comment(line).unwrap_or(line.len())]);
        Self(code.flat_map(|code| [code, "\n"]).collect())
    }

    /// A name, or the start of one, but not a part of another name or path.
    pub(crate) fn has(&self, wanted: &str) -> bool {
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let is_of_path = |letter: char| is_of_name(letter) || letter == '.' || letter == ':';
        self.0.match_indices(wanted).any(|(at, _)| {
            let (before, after) = (&self.0[..at], &self.0[at + wanted.len()..]);
            // C++'s `::open` is a name.
            let before = before
                .strip_suffix("::")
                .filter(|path| !path.ends_with(is_of_path))
                .unwrap_or(before);
            let begins = !wanted.starts_with(is_of_name) || !before.ends_with(is_of_path);
            begins && (!wanted.ends_with(is_of_name) || !after.starts_with(is_of_name))
        })
    }

    pub(crate) fn has_any(&self, wanted: &[&str]) -> bool {
        wanted.iter().any(|name| self.has(name))
    }
}

#[cfg(test)]
mod tests {
    use super::UsedNames;

    #[test]
    fn a_name_is_not_a_part_of_another_or_of_a_comment() {
        let names = UsedNames::in_text(
            "let file = File::open(a.b)?; // Path\nfs::copy(x, ::read(x, libc::c_int)",
            &["//"],
        );
        for wanted in ["File", "fs::", "read", "copy(", ".b", "file", "libc::"] {
            assert!(names.has(wanted) != (wanted == "copy("), "{wanted}");
        }
        for wanted in ["Path", "il", "open", "b", "c_int", "std::fs"] {
            assert!(!names.has(wanted), "{wanted}");
        }
    }
}
