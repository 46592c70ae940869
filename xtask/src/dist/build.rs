//! Builds a static program. The same commit gives the same bytes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use writebench_testkit::command::{announced, printed, quoted, root, target_directory};

use super::release::{Release, Target};
use super::tools;

pub(super) fn program(target: &Target, release: &Release) -> Result<PathBuf> {
    let folder = builds()?;
    let mut cargo = tools::cargo("zigbuild")?;
    cargo.args([
        "--release",
        "--locked",
        "--package",
        "writebench",
        "--target",
        target.name,
    ]);
    cargo.env("SOURCE_DATE_EPOCH", &release.epoch_s);
    announced(without_local_paths(&mut cargo)?)?;
    let program = folder.join(target.name).join("release/writebench");
    ensure!(
        program.is_file(),
        "cargo did not build {}",
        program.display()
    );
    Ok(program)
}

/// Gives the folders of this machine constant names in the program.
pub(super) fn without_local_paths(build: &mut Command) -> Result<&mut Command> {
    let folder = builds()?;
    let maps = prefix_maps(&folder)?;
    let mut of_rust = Vec::new();
    let mut of_c = Vec::new();
    for (from, to) in maps {
        of_rust.push(format!("--remap-path-prefix={from}={to}"));
        of_c.push(quoted(OsStr::new(&format!(
            "-ffile-prefix-map={from}={to}"
        ))));
    }
    // Unlike `RUSTFLAGS`, this permits spaces in paths.
    let of_rust = of_rust.join("\x1f");
    build.env("CARGO_TARGET_DIR", &folder);
    build
        .env("CARGO_ENCODED_RUSTFLAGS", of_rust)
        .env_remove("RUSTFLAGS");
    Ok(build
        .env("CFLAGS", of_c.join(" "))
        .env("CC_SHELL_ESCAPED_FLAGS", "1"))
}

fn builds() -> Result<PathBuf> {
    Ok(target_directory()?.join("release-builds"))
}

fn prefix_maps(folder: &Path) -> Result<Vec<(String, &'static str)>> {
    let sysroot = printed(Command::new("rustc").args(["--print", "sysroot"]))?;
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    // The last match counts: the tree may be in the home, and the folder in the tree.
    Ok(vec![
        (home.display().to_string(), "/cargo"),
        (sysroot.trim().to_owned(), "/rust"),
        (root().display().to_string(), "/writebench"),
        (folder.display().to_string(), "/target"),
    ])
}
