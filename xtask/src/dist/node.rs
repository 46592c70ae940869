use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use writebench_testkit::command::{announced, printed, root};

use super::build::without_local_paths;
use super::release::Release;
use super::tools;

const PLATFORMS: &[&str] = &[
    "linux-x64-gnu",
    "linux-arm64-gnu",
    "linux-x64-musl",
    "linux-arm64-musl",
];

/// The main package must be published last.
pub(super) fn tarballs(release: &Release) -> Result<Vec<PathBuf>> {
    let package = root().join("bindings/node");
    // The script would fail late, without naming the package to install.
    tools::cargo("zigbuild")?;
    let mut build = Command::new("node");
    build
        .current_dir(&package)
        .arg("scripts/build-platforms.js")
        .args(PLATFORMS);
    announced(without_local_paths(&mut build)?)?;
    let mut folders: Vec<_> = PLATFORMS
        .iter()
        .map(|platform| format!("direct-io-{platform}"))
        .collect();
    folders.push("direct-io".to_owned());
    folders
        .iter()
        .map(|folder| pack(&package.join("dist").join(folder), release))
        .collect()
}

pub(super) fn pack(folder: &Path, release: &Release) -> Result<PathBuf> {
    ensure!(folder.is_dir(), "{} was not built", folder.display());
    let mut npm = Command::new("npm");
    npm.current_dir(folder)
        .args(["pack", "--silent", "--pack-destination"])
        .arg(&release.folder);
    let name = printed(&mut npm)?;
    let file = release
        .folder
        .join(name.lines().last().context("npm names no file")?);
    fs::metadata(&file).with_context(|| file.display().to_string())?;
    Ok(file)
}
