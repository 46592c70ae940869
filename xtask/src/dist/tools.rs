use std::process::Command;

use anyhow::{Result, bail};
use writebench_testkit::has_program;

use crate::command;

pub(super) fn cargo(subcommand: &str) -> Result<Command> {
    let program = format!("cargo-{subcommand}");
    if !has_program(&program) {
        let how = match subcommand {
            "zigbuild" => "pip install cargo-zigbuild ziglang".to_owned(),
            "about" => "cargo install --locked --features cli cargo-about".to_owned(),
            _ => format!("cargo install --locked {program}"),
        };
        bail!("{program} is not installed: {how}");
    }
    let mut cargo = command::cargo();
    cargo.arg(subcommand);
    Ok(cargo)
}
