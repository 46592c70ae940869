use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::build;
use super::release::{Release, Target};
use crate::command::{printed, root, succeed};

/// A clone has only committed files.
pub(super) fn is_possible() -> Result<()> {
    let changed = printed(Command::new("git").current_dir(root()).args(["status", "--porcelain"]))?;
    ensure!(
        changed.is_empty(),
        "a second build is made from a clone, which has only committed files: commit first"
    );
    Ok(())
}

/// Builds the commit again, in a clone.
pub(super) fn check(target: &Target, program: &Path, release: &Release) -> Result<()> {
    let mut elsewhere =
        tempfile::Builder::new().prefix("another-place-").tempdir().context("a folder to build in")?;
    let clone = elsewhere.path().join("clone");
    succeed(Command::new("git").args(["clone", "--quiet"]).arg(root()).arg(&clone))?;
    let other = build::build(target, release, &clone, &elsewhere.path().join("built"))?;
    if fs::read(program)? != fs::read(&other)? {
        elsewhere.disable_cleanup(true);
        bail!("{}: two builds differ: {}", target.name, other.display());
    }
    println!("{}: a second build, in another place, is the same bytes", target.name);
    Ok(())
}
