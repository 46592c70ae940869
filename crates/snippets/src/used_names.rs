/// The names in a text of code, without those in its comments.
pub(crate) struct UsedNames {
    code: String,
}

impl UsedNames {
    /// Reads a text whose comments begin with one of these texts and end with their line.
    pub(crate) fn in_text(text: &str, comments: &[&str]) -> Self {
        let mut code = String::new();
        for line in text.lines() {
            let comment = comments.iter().filter_map(|start| line.find(start)).min();
            code += &line[..comment.unwrap_or(line.len())];
            code.push('\n');
        }
        Self { code }
    }

    /// Whether the code has a name, or one that starts so. A part of another name or path does not count.
    pub(crate) fn has(&self, wanted: &str) -> bool {
        self.code
            .match_indices(wanted)
            .any(|(at, _)| self.is_name_at(at, wanted))
    }

    fn is_name_at(&self, at: usize, wanted: &str) -> bool {
        let before = &self.code[..at];
        let after = &self.code[at + wanted.len()..];
        // C++'s `::open` is a name.
        let before = before
            .strip_suffix("::")
            .filter(|path| !path.ends_with(is_part_of_path))
            .unwrap_or(before);
        let begins_name =
            !wanted.starts_with(is_part_of_name) || !before.ends_with(is_part_of_path);
        let ends_name = !wanted.ends_with(is_part_of_name) || !after.starts_with(is_part_of_name);
        begins_name && ends_name
    }

    pub(crate) fn has_any(&self, wanted: &[&str]) -> bool {
        wanted.iter().any(|name| self.has(name))
    }
}

pub(crate) fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_part_of_path(letter: char) -> bool {
    is_part_of_name(letter) || letter == '.' || letter == ':'
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
