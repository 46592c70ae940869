use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use writebench_testkit::command::{announced, cargo, printed, root, succeed, target_directory};

use super::release::Release;

pub(super) fn is_possible() -> Result<()> {
    let changed = printed(
        Command::new("git")
            .current_dir(root())
            .args(["status", "--porcelain"]),
    )?;
    ensure!(
        changed.is_empty(),
        "a second release is made from a clone, which has only committed files: commit first"
    );
    Ok(())
}

/// Makes all files of the commit again, in a clone.
pub(super) fn check(release: &Release) -> Result<()> {
    let mut elsewhere = tempfile::Builder::new()
        .prefix("another-place-")
        .tempdir()
        .context("a folder to build in")?;
    let clone = elsewhere.path().join("clone");
    let target = elsewhere.path().join("built");
    succeed(
        Command::new("git")
            .args(["clone", "--quiet"])
            .arg(root())
            .arg(&clone),
    )?;
    fs::create_dir(&target)?;
    // mdBook and lychee need not be installed again.
    for tools in ["tools", "python"] {
        symlink(target_directory()?.join(tools), target.join(tools))?;
    }
    announced(
        cargo()
            .current_dir(&clone)
            .args(["xtask", "dist"])
            .env("CARGO_TARGET_DIR", &target),
    )?;
    let first = fs::read_to_string(release.folder.join("SHA256SUMS"))?;
    let second = fs::read_to_string(target.join("dist/SHA256SUMS"))?;
    let differing: Vec<_> = first
        .lines()
        .filter(|line| !second.lines().any(|other| other == *line))
        .collect();
    if !differing.is_empty() || first.len() != second.len() {
        elsewhere.disable_cleanup(true);
        bail!(
            "two releases differ, see {}:\n{}",
            target.join("dist").display(),
            differing.join("\n")
        );
    }
    println!("a second release, made in another place, has the same bytes");
    Ok(())
}
