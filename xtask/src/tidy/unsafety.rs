//! `unsafe` stays where system calls are made, and says why it is sound.

use super::Finding;
use super::code::{lines_with, without_text};

/// Beginnings of the paths where it is at home.
const HOMES: &[&str] = &[
    "bindings/node/src/sys/",
    "crates/direct-io/src/sys/",
    "crates/engine/src/methods/",
    "crates/filesystems/src/bindfs.rs",
    "crates/filesystems/src/loop_device/sys",
    "crates/cli/src/worker",
];

/// How far above its block a comment may begin.
const COMMENT_LINES: usize = 6;

/// `unsafe` in a file where it is not at home.
pub(super) fn out_of_place(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") || HOMES.iter().any(|home| path.starts_with(home)) {
        return Vec::new();
    }
    let what = format!("unsafe outside {}", HOMES.join(", "));
    let code = without_text(text);
    lines_with(&code, "unsafe").map(|(line, _)| Finding::new(path, line, what.clone())).collect()
}

/// An unsafe block or implementation without a `// SAFETY:` comment just above.
pub(super) fn unexplained(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let code = without_text(text);
    let lines: Vec<_> = text.lines().collect();
    let is_explained = |line: usize| {
        let first = line.saturating_sub(1 + COMMENT_LINES);
        lines[first..line].iter().any(|line| line.contains("// SAFETY:"))
    };
    lines_with(&code, "unsafe")
        .filter(|(_, code)| code.contains("unsafe {") || code.contains("unsafe impl"))
        .filter(|&(line, _)| !is_explained(line))
        .map(|(line, _)| Finding::new(path, line, "unsafe without a // SAFETY: comment above"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "crates/engine/src/methods/mmap.rs";

    #[test]
    fn unsafe_code_away_from_home_is_found() {
        for code in ["unsafe { f() }", "unsafe fn f() {}", "unsafe impl Send for A {}"] {
            let found = out_of_place("crates/runner/src/lib.rs", &format!("\n{code}"));
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].line, 2);
            assert_eq!(out_of_place(HOME, code), []);
            assert_eq!(out_of_place("crates/cli/src/worker/signals.rs", code), []);
        }
    }

    #[test]
    fn talk_of_unsafe_is_not_unsafe() {
        let text = "#![deny(unsafe_code)] // unsafe { }\nlet word = \"unsafe {\";";
        assert_eq!(out_of_place("crates/runner/src/lib.rs", text), []);
        assert_eq!(unexplained(HOME, text), []);
    }

    #[test]
    fn an_unsafe_block_must_say_why() {
        let what = "unsafe without a // SAFETY: comment above";
        assert_eq!(unexplained(HOME, "fn f() {\n    unsafe { g() }\n}"), [Finding::new(HOME, 2, what)]);
        assert_eq!(unexplained(HOME, "unsafe impl Send for A {}").len(), 1);
        assert_eq!(unexplained(HOME, "// SAFETY: g has no conditions.\nunsafe { g() }"), []);
        assert_eq!(unexplained(HOME, "unsafe fn f() {}"), []);
    }

    #[test]
    fn a_comment_far_above_is_about_something_else() {
        let text = format!("// SAFETY: long ago.\n{}unsafe {{ g() }}", "x();\n".repeat(6));
        assert_eq!(unexplained(HOME, &text).len(), 1);
        let text = format!("// SAFETY: just above.\n{}unsafe {{ g() }}", "x();\n".repeat(5));
        assert_eq!(unexplained(HOME, &text), []);
    }
}
