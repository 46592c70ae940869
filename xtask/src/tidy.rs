//! `cargo xtask tidy`: rules of the repository that no compiler checks.
//!
//! clippy and cargo-deny check the rules that they can (`[workspace.lints]`, `deny.toml`). A rule here is a
//! function of a file's path and text and a line in [`RULES`]; the rules for manifests and modules see a
//! whole crate. Each returns its findings, and fixes nothing.

mod files;
mod links;
mod manifests;
mod modules;
mod source;

use std::fmt::Display;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::command::{metadata, root};

/// A violation of a rule and its place, in a line.
type Finding = String;

/// The path is relative to the root of the repository; the first line is 1.
fn finding(path: &str, line: usize, what: impl Display) -> Finding {
    format!("{path}:{line}: {what}")
}

/// Finds the violations in a file.
type Rule = fn(path: &str, text: &str) -> Vec<Finding>;

const RULES: &[Rule] = &[files::too_long, files::badly_named, files::unfinished, files::unsafe_out_of_place];

/// Folders with foreign files.
const FOREIGN_FOLDERS: &[&str] = &["target", "node_modules", ".git"];

/// Prints all findings; returns whether there are none.
pub(crate) fn run() -> Result<bool> {
    let findings = findings()?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: nothing found"),
        1 => println!("tidy: 1 finding"),
        count => println!("tidy: {count} findings"),
    }
    Ok(findings.is_empty())
}

fn findings() -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let root = root().canonicalize().context("the root of the repository")?;
    let files = files_below(&root)?;
    for (path, text) in &files {
        for rule in RULES {
            findings.extend(rule(path, text));
        }
        findings.extend(links::broken(&root, path, text));
    }
    for member in manifests::members(&metadata()?, &root)? {
        findings.extend(member.forbidden_imports());
        findings.extend(member.missing_lints());
        findings.extend(modules::tangled(&member.sources(), &files)?);
    }
    Ok(findings)
}

/// The text files below a folder, sorted by relative path.
fn files_below(root: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let path = entry.path();
            if kind.is_dir() && !FOREIGN_FOLDERS.contains(&entry.file_name().to_string_lossy().as_ref()) {
                folders.push(path);
            } else if kind.is_file()
                && let Ok(text) = fs::read_to_string(&path)
            {
                let relative = path.strip_prefix(root)?.to_string_lossy().into_owned();
                files.push((relative, text));
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_can_be_clicked_on() {
        assert_eq!(finding("crates/a/src/b.rs", 7, "too long"), "crates/a/src/b.rs:7: too long");
    }

    #[test]
    fn built_and_foreign_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["target/a.rs", "bindings/node/node_modules/b.rs", ".git/c", ".ci/run", "docs/d.md"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        let paths: Vec<_> = files_below(folder.path()).unwrap().into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, [".ci/run", "docs/d.md"]);
    }
}
