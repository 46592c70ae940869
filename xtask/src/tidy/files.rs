use super::{Finding, finding};

const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "misc", "common"];

/// The words are split, because this file must pass the check.
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
    "crates/powerloss/src/trace/sys",
];

const CODE_EXTENSIONS: &[&str] = &["rs", "c", "h", "toml", "sql", "sh", "js", "mjs", "ts"];

pub(super) fn findings(path: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(module) = path.strip_suffix(".rs") {
        for name in module.split('/').filter(|name| EMPTY_NAMES.contains(name)) {
            found.push(finding(path, 1, without_meaning(name)));
        }
    }
    for (line, number) in text.lines().zip(1..) {
        let complaints = [
            unfinished(path, line),
            ignored_test(path, line),
            unsafe_elsewhere(path, line),
            empty_module_name(path, line),
        ];
        for complaint in complaints.into_iter().flatten() {
            found.push(finding(path, number, complaint));
        }
    }
    found
}

fn without_meaning(name: &str) -> String {
    format!("'{name}' does not describe the content")
}

fn unfinished(path: &str, line: &str) -> Option<String> {
    let extension = path.rsplit('.').next().unwrap_or_default();
    if !CODE_EXTENSIONS.contains(&extension) {
        return None;
    }
    let mark = words(line).find(|word| UNFINISHED.contains(word))?;
    Some(format!("{mark}: finish it or drop it"))
}

fn ignored_test(path: &str, line: &str) -> Option<String> {
    let is_ignored = path.ends_with(".rs") && line.trim_start().starts_with(IGNORED_TEST);
    is_ignored.then(|| "an ignored test never runs".to_owned())
}

fn unsafe_elsewhere(path: &str, line: &str) -> Option<String> {
    let is_home = UNSAFE_HOMES.iter().any(|home| path.starts_with(home));
    let is_elsewhere = path.ends_with(".rs") && !is_home && line.contains(PERMISSION);
    is_elsewhere.then(|| format!("unsafe outside {}", UNSAFE_HOMES.join(", ")))
}

fn empty_module_name(path: &str, line: &str) -> Option<String> {
    if !path.ends_with(".rs") {
        return None;
    }
    let code = line.split("//").next().unwrap_or_default();
    let name = words(code).skip_while(|word| *word != "mod").nth(1)?;
    EMPTY_NAMES.contains(&name).then(|| without_meaning(name))
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
