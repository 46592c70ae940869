//! The programs that make a release, and how to install those that are missing.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use writebench_testkit::has_program;

use crate::command::{root, target_directory};

/// A command of cargo's that is a program of its own, in the root of the repository.
pub(super) fn cargo(subcommand: &str) -> Result<Command> {
    let program = format!("cargo-{subcommand}");
    // Set-up installs those of Python's registry there.
    let of_python = target_directory()?.join("python/bin");
    if !has_program(&program) && !of_python.join(&program).is_file() {
        let how = match subcommand {
            "zigbuild" => "cargo xtask setup".to_owned(),
            "about" => "cargo install --locked --features cli cargo-about".to_owned(),
            _ => format!("cargo install --locked {program}"),
        };
        bail!("{program} is not installed: {how}");
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).arg(subcommand);
    if of_python.is_dir() {
        cargo.env("PATH", path_with(of_python)?);
    }
    Ok(cargo)
}

/// The search path, with another folder at its end.
pub(super) fn path_with(folder: PathBuf) -> Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([folder]);
    Ok(std::env::join_paths(folders)?)
}
