//! `cargo xtask tidy` checks rules that neither the compiler, clippy nor cargo-deny know.

mod files;
mod manifests;
mod modules;
mod source;

use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use writebench_testkit::command::{metadata, printed, root};

type Finding = String;

/// Editors make the place clickable. The path is relative to the root of the repository.
fn finding(path: &str, line: usize, what: impl Display) -> Finding {
    format!("{path}:{line}: {what}")
}

pub(crate) fn run() -> Result<bool> {
    let findings = findings()?;
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: findings: {}", findings.len());
    Ok(findings.is_empty())
}

fn findings() -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let root = root()
        .canonicalize()
        .context("the root of the repository")?;
    let files = files_in(&root)?;
    for (path, text) in &files {
        findings.extend(files::findings(path, text));
    }
    for package in metadata()?.workspace_packages() {
        let manifest = package.manifest_path.strip_prefix(&root)?.as_str();
        findings.extend(manifests::broken(package, manifest)?);
        findings.extend(modules::tangled(
            &manifest.replace("Cargo.toml", "src"),
            &files,
        )?);
    }
    Ok(findings)
}

/// Untracked files count, because they may be part of the next commit.
fn files_in(root: &Path) -> Result<Vec<(String, String)>> {
    let mut git = Command::new("git");
    git.current_dir(root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let mut files = Vec::new();
    for path in printed(&mut git)?.split_terminator('\0') {
        // A removed file is still in the index, and a picture has no text.
        if let Ok(text) = fs::read_to_string(root.join(path)) {
            files.push((path.to_owned(), text));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_can_be_clicked_on() {
        assert_eq!(
            finding("crates/a/src/b.rs", 7, "too long"),
            "crates/a/src/b.rs:7: too long"
        );
    }

    #[test]
    fn new_files_are_seen_and_ignored_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            printed(Command::new("git").current_dir(folder.path()).args(words)).unwrap()
        };
        git(&["init", "--quiet"]);
        for path in ["target/a.rs", ".ci/run", "docs/d.md", ".gitignore"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "/target\n").unwrap();
        }
        git(&["add", "docs"]);
        let files = files_in(folder.path()).unwrap();
        let mut paths: Vec<_> = files.iter().map(|(path, _)| path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(paths, [".ci/run", ".gitignore", "docs/d.md"]);
    }
}
