use super::{Finding, finding};

const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "misc", "common"];

/// Split: this file must pass the check.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

const IGNORED_TEST: &str = concat!("#[", "ignore");

const PERMISSION: &str = concat!("(unsafe", "_code");

const UNSAFE_HOMES: &[&str] = &[
    "bindings/node/src/sys/",
    "crates/cli/src/closed_output.rs",
    "crates/direct-io/src/sys/",
    "crates/engine/src/guard.rs",
    "crates/engine/src/methods/",
    "crates/engine/src/dirty_pages.rs",
    "crates/engine/src/write_behind.rs",
    "crates/filesystems/src/server.rs",
    "crates/filesystems/src/loop_device/sys",
];

const CODE_EXTENSIONS: &[&str] = &["rs", "c", "h", "toml", "sql", "sh", "js", "mjs", "ts"];

pub(super) fn findings(path: &str, text: &str) -> Vec<Finding> {
    let extension = path.rsplit('.').next().unwrap_or_default();
    let is_rust = extension == "rs";
    let is_home = UNSAFE_HOMES.iter().any(|home| path.starts_with(home));
    let mut found = Vec::new();
    let mut add = |line, what: &str| found.push(finding(path, line, what));
    let is_empty = |name: &&str| is_rust && EMPTY_NAMES.contains(name);
    let described = |name: &str| format!("'{name}' does not describe the content");
    for name in path.trim_end_matches(".rs").split('/').filter(is_empty) {
        add(1, &described(name));
    }
    for (line, number) in text.lines().zip(1..) {
        let mark = UNFINISHED
            .iter()
            .find(|mark| words(line).any(|word| word == **mark));
        if let Some(mark) = mark.filter(|_| CODE_EXTENSIONS.contains(&extension)) {
            add(number, &format!("{mark}: finish it or drop it"));
        }
        if is_rust && line.trim_start().starts_with(IGNORED_TEST) {
            add(number, "an ignored test never runs");
        }
        if is_rust && !is_home && line.contains(PERMISSION) {
            add(
                number,
                &format!("unsafe outside {}", UNSAFE_HOMES.join(", ")),
            );
        }
        let code = line.split("//").next().unwrap_or_default();
        if let Some(name) = words(code)
            .skip_while(|word| *word != "mod")
            .nth(1)
            .filter(is_empty)
        {
            add(number, &described(name));
        }
    }
    found
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_name_is_found() {
        for path in [
            "crates/a/src/utils.rs",
            "crates/a/tests/common/mod.rs",
            "xtask/src/misc.rs",
        ] {
            assert_eq!(findings(path, "").len(), 1, "{path}");
        }
        let found = findings(
            "crates/a/src/lib.rs",
            "//! Docs.\npub(crate) mod helpers {\n}",
        );
        assert_eq!(
            found,
            [finding(
                "crates/a/src/lib.rs",
                2,
                "'helpers' does not describe the content"
            )]
        );
    }

    #[test]
    fn a_name_may_contain_an_empty_word() {
        assert_eq!(
            findings(
                "crates/a/src/common_prefix.rs",
                "mod common_prefix; // mod utils"
            ),
            [""; 0]
        );
        assert_eq!(findings("docs/common/words.md", ""), [""; 0]);
    }

    #[test]
    fn unfinished_work_is_found_in_code_and_comments() {
        for mark in UNFINISHED {
            assert_eq!(findings("a.rs", &format!("// {mark}: later")).len(), 1);
            assert!(findings("a.c", &format!("\n/* {mark} */"))[0].starts_with("a.c:2:"));
            assert_eq!(findings("a.rs", &format!("{mark}S {mark}{mark}")), [""; 0]);
        }
        let found = findings("a.rs", &format!("#[test]\n{IGNORED_TEST}]\nfn a() {{}}"));
        assert_eq!(found, ["a.rs:2: an ignored test never runs"]);
        assert_eq!(
            findings("a.rs", &format!("let text = \"{IGNORED_TEST}]\";")),
            [""; 0]
        );
    }

    #[test]
    fn unsafe_code_is_permitted_at_home_only() {
        let text = format!("\n#![allow{PERMISSION}, reason = \"memory\")]");
        let found = findings("crates/runner/src/lib.rs", &text);
        assert!(
            found.len() == 1 && found[0].starts_with("crates/runner/src/lib.rs:2: "),
            "{found:?}"
        );
        assert_eq!(
            findings("crates/engine/src/methods/mmap.rs", &text),
            [""; 0]
        );
        assert_eq!(findings("crates/runner/src/lib.rs", "unsafe {}"), [""; 0]);
    }
}
