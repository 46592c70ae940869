use super::{Finding, finding};

const LINES_LIMIT: usize = 500;

const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "misc", "common"];

/// Split: this file must pass the check.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

const IGNORED_TEST: &str = concat!("#[", "ignore");

const PERMISSION: &str = concat!("(unsafe", "_code");

const UNSAFE_HOMES: &[&str] = &[
    "bindings/node/src/sys/",
    "crates/direct-io/src/sys/",
    "crates/engine/src/guard.rs",
    "crates/engine/src/methods/",
    "crates/engine/src/write_behind.rs",
    "crates/filesystems/src/server.rs",
    "crates/filesystems/src/loop_device/sys",
];

const CODE_EXTENSIONS: &[&str] = &["rs", "c", "h", "toml", "sql", "sh", "js", "mjs", "ts"];

pub(super) fn too_long(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    if !path.ends_with(".rs") || lines < LINES_LIMIT {
        return Vec::new();
    }
    vec![finding(path, lines, format!("{lines} lines; below {LINES_LIMIT} is the rule"))]
}

pub(super) fn badly_named(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let is_empty = |name: &&str| EMPTY_NAMES.contains(name);
    let what = |name: &str| format!("'{name}' does not say what is inside");
    let of_path =
        path.trim_end_matches(".rs").split('/').filter(is_empty).map(|name| finding(path, 1, what(name)));
    let of_modules = each_line(path, text, |line| {
        let code = line.split("//").next()?;
        words(code).skip_while(|word| *word != "mod").nth(1).filter(is_empty).map(what)
    });
    of_path.chain(of_modules).collect()
}

pub(super) fn unfinished(path: &str, text: &str) -> Vec<Finding> {
    let extension = path.rsplit('.').next().unwrap_or_default();
    if !CODE_EXTENSIONS.contains(&extension) {
        return Vec::new();
    }
    each_line(path, text, |line| {
        if extension == "rs" && line.trim_start().starts_with(IGNORED_TEST) {
            return Some("a test that never runs".to_owned());
        }
        let mark = UNFINISHED.iter().find(|mark| words(line).any(|word| word == **mark))?;
        Some(format!("{mark}: finish it or drop it"))
    })
}

/// The lints of the workspace deny `unsafe`. Permissions are for these paths only.
pub(super) fn unsafe_out_of_place(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") || UNSAFE_HOMES.iter().any(|home| path.starts_with(home)) {
        return Vec::new();
    }
    let what = || format!("unsafe outside {}", UNSAFE_HOMES.join(", "));
    each_line(path, text, |line| line.contains(PERMISSION).then(what))
}

fn each_line(path: &str, text: &str, rule: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    text.lines().zip(1..).filter_map(|(line, number)| Some(finding(path, number, rule(line)?))).collect()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_lines_are_too_many() {
        assert_eq!(too_long("a.rs", &"x\n".repeat(499)), [""; 0]);
        assert_eq!(too_long("a.rs", &"x\n".repeat(500)).len(), 1);
        assert_eq!(too_long("Cargo.lock", &"x\n".repeat(900)), [""; 0]);
    }

    #[test]
    fn an_empty_name_is_found() {
        for path in ["crates/a/src/utils.rs", "crates/a/tests/common/mod.rs", "xtask/src/misc.rs"] {
            assert_eq!(badly_named(path, "").len(), 1, "{path}");
        }
        let found = badly_named("crates/a/src/lib.rs", "//! Docs.\npub(crate) mod helpers {\n}");
        assert_eq!(found, [finding("crates/a/src/lib.rs", 2, "'helpers' does not say what is inside")]);
    }

    #[test]
    fn a_name_may_contain_an_empty_word() {
        assert_eq!(badly_named("crates/a/src/common_prefix.rs", "mod common_prefix; // mod utils"), [""; 0]);
        assert_eq!(badly_named("docs/common/words.md", ""), [""; 0]);
    }

    #[test]
    fn unfinished_work_is_found_in_code_and_comments() {
        for mark in UNFINISHED {
            assert_eq!(unfinished("a.rs", &format!("// {mark}: later")).len(), 1);
            assert!(unfinished("a.c", &format!("\n/* {mark} */"))[0].starts_with("a.c:2:"));
            assert_eq!(unfinished("a.rs", &format!("{mark}S {mark}{mark}")), [""; 0]);
        }
        let found = unfinished("a.rs", &format!("#[test]\n{IGNORED_TEST}]\nfn a() {{}}"));
        assert_eq!(found, ["a.rs:2: a test that never runs"]);
        assert_eq!(unfinished("a.rs", &format!("let text = \"{IGNORED_TEST}]\";")), [""; 0]);
    }

    #[test]
    fn unsafe_code_is_permitted_at_home_only() {
        let text = format!("\n#![allow{PERMISSION}, reason = \"memory\")]");
        let found = unsafe_out_of_place("crates/runner/src/lib.rs", &text);
        assert!(found.len() == 1 && found[0].starts_with("crates/runner/src/lib.rs:2: "), "{found:?}");
        assert_eq!(unsafe_out_of_place("crates/engine/src/methods/mmap.rs", &text), [""; 0]);
        assert_eq!(unsafe_out_of_place("crates/runner/src/lib.rs", "unsafe {}"), [""; 0]);
    }
}
