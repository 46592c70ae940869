//! The example diff in CONTRIBUTING.md applies to the tree.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use writebench_testkit::command::{output, root};

const FILE: &str = "CONTRIBUTING.md";
const BEGIN: &str = "```diff\n";
const END: &str = "```\n";

/// `UPDATE_DOCS=1` writes the diff again, with the present lines around each change.
#[test]
fn the_example_diff_applies() {
    if !writebench_testkit::has_program("git") {
        return;
    }
    let path = root().join(FILE);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (diff, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let diff = refreshed(diff).unwrap();
        fs::write(&path, format!("{before}{BEGIN}{diff}{END}{after}")).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let patch = folder.path().join("example.diff");
    fs::write(&patch, diff).unwrap();
    let checked = output(
        Command::new("git")
            .args(["apply", "--check"])
            .arg(&patch)
            .current_dir(root()),
    );
    assert!(
        checked.is_ok(),
        "{checked:?}\nA line beside one of the changes in {FILE} is another one now. To take over the lines of the tree: \
         UPDATE_DOCS=1 cargo test -p xtask example_diff. If that fails as well, edit the hunk that git names."
    );
}

/// git finds each place by one line around it, and the new diff has three.
fn refreshed(diff: &str) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let [old, new] = ["a", "b"].map(|name| folder.path().join(name));
    let changed: Vec<&str> = diff
        .lines()
        .filter_map(|line| line.strip_prefix("--- a/"))
        .collect();
    for (file, tree) in changed.iter().flat_map(|file| [(file, &old), (file, &new)]) {
        copy(file, tree)?;
    }
    let patch = folder.path().join("example.diff");
    fs::write(&patch, diff)?;
    output(
        Command::new("git")
            .args(["apply", "-C1"])
            .arg(&patch)
            .current_dir(&new),
    )?;
    // git ends with 1, because there is a difference.
    let compared = Command::new("git")
        .args(["diff", "--no-index", "--no-prefix", "a", "b"])
        .current_dir(folder.path())
        .output()?;
    let lines = String::from_utf8(compared.stdout)?;
    ensure!(
        !lines.is_empty(),
        "no difference: {}",
        String::from_utf8_lossy(&compared.stderr)
    );
    let mut diff = String::new();
    for line in lines.lines().filter(|line| !line.starts_with("index ")) {
        // A new file is in the second folder only.
        diff += &line.replacen("diff --git b/", "diff --git a/", 1);
        diff.push('\n');
    }
    Ok(diff)
}

fn copy(file: &str, tree: &Path) -> Result<()> {
    let to = tree.join(file);
    fs::create_dir_all(to.parent().context("a folder")?)?;
    fs::copy(root().join(file), to).with_context(|| file.to_owned())?;
    Ok(())
}
