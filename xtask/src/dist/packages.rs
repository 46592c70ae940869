//! `crates/cli/Cargo.toml` lists the contents of both packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use writebench_testkit::command::announced;

use super::release::{Release, Target};
use super::tools;

pub(super) fn both(target: &Target, tree: &Path, release: &Release) -> Result<[PathBuf; 2]> {
    let folder = tree.parent().context("a folder above")?;
    // Both tools read `target/release/package`.
    let link = folder.join("package");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(tree, &link).with_context(|| link.display().to_string())?;
    let builds = folder.ancestors().nth(2).context("the folder of builds")?;
    let files = [release.deb(target), release.rpm(target)];
    let mut deb = tools::cargo("deb")?;
    deb.args([
        "--package",
        "writebench",
        "--no-build",
        "--no-strip",
        "--quiet",
    ]);
    deb.args(["--deb-revision", "", "--target", target.name, "--output"])
        .arg(&files[0]);
    deb.env("CARGO_TARGET_DIR", builds)
        .env("SOURCE_DATE_EPOCH", &release.epoch_s);
    announced(&mut deb)?;
    let mut rpm = tools::cargo("generate-rpm")?;
    rpm.args([
        "--package",
        "crates/cli",
        "--auto-req",
        "disabled",
        "--arch",
        target.processor,
    ]);
    rpm.args(["--target", target.name, "--source-date", &release.epoch_s]);
    rpm.arg("--target-dir")
        .arg(builds)
        .arg("--output")
        .arg(&files[1]);
    announced(&mut rpm)?;
    Ok(files)
}
