//! The contents are in `crates/cli/Cargo.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::release::{Release, Target};
use super::tools;
use crate::command::announced;

/// Both tools read `target/release/package`.
fn with_fixed_name(tree: &Path) -> Result<&Path> {
    let folder = tree.parent().context("a folder above")?;
    let link = folder.join("package");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(tree, &link).with_context(|| link.display().to_string())?;
    folder.ancestors().nth(2).context("the folder of builds")
}

pub(super) fn deb(target: Target, tree: &Path, release: &Release) -> Result<PathBuf> {
    let builds = with_fixed_name(tree)?;
    let file = release.deb(target);
    let mut cargo = tools::cargo("deb")?;
    cargo.args(["--package", "writebench", "--no-build", "--no-strip", "--quiet"]);
    cargo.args(["--deb-revision", "", "--target", target.name, "--output"]).arg(&file);
    cargo.env("CARGO_TARGET_DIR", builds).env("SOURCE_DATE_EPOCH", &release.epoch_s);
    announced(&mut cargo)?;
    Ok(file)
}

pub(super) fn rpm(target: Target, tree: &Path, release: &Release) -> Result<PathBuf> {
    let builds = with_fixed_name(tree)?;
    let file = release.rpm(target);
    let mut cargo = tools::cargo("generate-rpm")?;
    cargo.args(["--package", "crates/cli", "--auto-req", "disabled", "--arch", target.processor]);
    cargo.args(["--target", target.name, "--source-date", &release.epoch_s]);
    cargo.arg("--target-dir").arg(builds).arg("--output").arg(&file);
    announced(&mut cargo)?;
    Ok(file)
}
