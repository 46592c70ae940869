use std::process::Command;

use anyhow::{Result, bail};
use writebench_testkit::command;
use writebench_testkit::has_program;

pub(super) fn cargo(subcommand: &str) -> Result<Command> {
    installed(&format!("cargo-{subcommand}"))?;
    let mut cargo = command::cargo();
    cargo.arg(subcommand);
    Ok(cargo)
}

pub(super) fn installed(program: &str) -> Result<Command> {
    if !has_program(program) {
        let how = match program {
            "cargo-zigbuild" => "pip install cargo-zigbuild ziglang".to_owned(),
            "cargo-about" => "cargo install --locked --features cli cargo-about".to_owned(),
            "wheel" => "pip install wheel".to_owned(),
            _ => format!("cargo install --locked {program}"),
        };
        bail!("{program} is not installed: {how}");
    }
    Ok(Command::new(program))
}
