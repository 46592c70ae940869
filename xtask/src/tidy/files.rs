//! Files: their length, their names, and whether they are finished.

use super::Finding;
use super::code::{has_word, without_text};

/// A file of this many lines is to be split.
const LINES_LIMIT: usize = 500;

/// Names that say nothing of what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "misc", "common"];

/// Marks of unfinished work. Put together here so that this file does not find itself.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

const IGNORED_TEST: &str = concat!("#[", "ignore");

const CODE_EXTENSIONS: &[&str] = &["rs", "c", "h", "toml", "sql", "sh", "js", "mjs", "ts"];

/// A Rust file that has outgrown its idea.
pub(super) fn too_long(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    if !path.ends_with(".rs") || lines < LINES_LIMIT {
        return Vec::new();
    }
    vec![Finding::new(path, lines, format!("{lines} lines; below {LINES_LIMIT} is the rule"))]
}

/// A Rust file, folder or module that is named for nothing.
pub(super) fn badly_named(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let finding = |line, name: &str| Finding::new(path, line, format!("'{name}' does not say what is inside"));
    let parts = path.trim_end_matches(".rs").split('/');
    let mut found: Vec<_> =
        parts.filter(|part| EMPTY_NAMES.contains(part)).map(|name| finding(1, name)).collect();
    for (index, line) in without_text(text).lines().enumerate() {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        if words.any(|word| word == "mod")
            && let Some(name) = words.next().filter(|name| EMPTY_NAMES.contains(name))
        {
            found.push(finding(index + 1, name));
        }
    }
    found
}

/// Notes to self, and tests that never run.
pub(super) fn unfinished(path: &str, text: &str) -> Vec<Finding> {
    let extension = path.rsplit('.').next().unwrap_or_default();
    if !CODE_EXTENSIONS.contains(&extension) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let marks = UNFINISHED.iter().filter(|mark| has_word(line, mark));
        found.extend(marks.map(|mark| Finding::new(path, index + 1, format!("{mark}: finish it or drop it"))));
    }
    if extension == "rs" {
        let code = without_text(text);
        let ignored = code.lines().enumerate().filter(|(_, line)| line.contains(IGNORED_TEST));
        found.extend(ignored.map(|(index, _)| Finding::new(path, index + 1, "a test that never runs")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_lines_are_too_many() {
        assert_eq!(too_long("a.rs", &"x\n".repeat(499)), []);
        assert_eq!(too_long("a.rs", &"x\n".repeat(500)).len(), 1);
        assert_eq!(too_long("Cargo.lock", &"x\n".repeat(900)), []);
    }

    #[test]
    fn a_name_must_say_what_is_inside() {
        for path in ["crates/a/src/utils.rs", "crates/a/tests/common/mod.rs", "xtask/src/misc.rs"] {
            assert_eq!(badly_named(path, "").len(), 1, "{path}");
        }
        let found = badly_named("crates/a/src/lib.rs", "//! Docs.\npub(crate) mod helpers {\n}");
        assert_eq!(found, [Finding::new("crates/a/src/lib.rs", 2, "'helpers' does not say what is inside")]);
    }

    #[test]
    fn a_name_may_hold_such_a_word() {
        assert_eq!(badly_named("crates/a/src/common_prefix.rs", "mod common_prefix; // mod utils"), []);
        assert_eq!(badly_named("docs/common/words.md", ""), []);
    }

    #[test]
    fn unfinished_work_is_found_in_code_and_comments() {
        for mark in UNFINISHED {
            assert_eq!(unfinished("a.rs", &format!("// {mark}: later")).len(), 1);
            assert_eq!(unfinished("a.c", &format!("\n/* {mark} */"))[0].line, 2);
            assert_eq!(unfinished("a.rs", &format!("{mark}S {mark}{mark}")), []);
        }
        assert_eq!(unfinished("a.rs", &format!("#[test]\n{IGNORED_TEST}]\nfn a() {{}}"))[0].line, 2);
        assert_eq!(unfinished("a.rs", &format!("let text = \"{IGNORED_TEST}]\";")), []);
    }
}
