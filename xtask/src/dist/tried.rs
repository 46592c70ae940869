//! Uses each file of a release as its users do, without Rust and this repository.

use std::path::Path;

use anyhow::{Context, Result};

use super::release::{Release, TARGETS};
use crate::test::run_declared;

pub(super) fn all(release: &Release) -> Result<bool> {
    let (own, other): (Vec<_>, Vec<_>) = TARGETS
        .iter()
        .partition(|target| target.emulator().is_none());
    let (own, other) = own
        .first()
        .zip(other.first())
        .context("no target of this machine")?;
    let words = [
        ("folder", shown(&release.folder)),
        ("version", release.version.clone()),
        ("deb", shown(&release.deb(own))),
        ("rpm", shown(&release.rpm(own))),
        ("wheel", shown(&release.wheel(own))),
        ("npm", own.npm.to_owned()),
        ("stem", release.stem(own)),
        ("foreign-stem", release.stem(other)),
        ("foreign", other.processor.to_owned()),
    ];
    run_declared(include_str!("tried.toml"), words)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
