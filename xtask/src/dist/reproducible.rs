use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::build;
use super::release::{Release, Target};
use crate::command::{output, root, succeed};

/// A clone has only committed files.
pub(super) fn is_possible() -> Result<()> {
    let changed = output(Command::new("git").current_dir(root()).args(["status", "--porcelain"]))?.stdout;
    ensure!(
        changed.is_empty(),
        "a second build is made from a clone, which has only what is committed: commit first"
    );
    Ok(())
}

/// Builds the commit again, in a clone.
pub(super) fn check(target: Target, program: &Path, release: &Release) -> Result<()> {
    let elsewhere =
        tempfile::Builder::new().prefix("another-place-").tempdir().context("a folder to build in")?;
    let clone = elsewhere.path().join("clone");
    succeed(Command::new("git").args(["clone", "--quiet"]).arg(root()).arg(&clone))?;
    let other = build::build(target, release, &clone, &elsewhere.path().join("built"))?;
    let same = fs::read(program)? == fs::read(&other)?;
    ensure!(same, "{}: two builds differ: {}", target.name, kept(&other, elsewhere)?);
    println!("{}: a second build, in another place, is the same bytes", target.name);
    Ok(())
}

/// Keeps the other program for a comparison.
fn kept(other: &Path, elsewhere: tempfile::TempDir) -> Result<String> {
    let place = elsewhere.keep();
    let name = other.strip_prefix(&place)?;
    Ok(place.join(name).display().to_string())
}
