//! writebench itself, as users get it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::command::{cargo, succeed};

/// Builds the program with a deliberate delay of 5 % in every timed phase; where it is.
pub(crate) fn build_delayed(target_directory: &Path) -> Result<PathBuf> {
    let build = ["build", "--release", "--locked", "--package", "writebench", "--features", "deliberate-delay"];
    succeed(cargo().args(build))?;
    let folder = target_directory.join("deliberate-delay");
    std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    // Out of the way of the program without it, which cargo builds in the same place.
    let program = folder.join("writebench");
    std::fs::copy(target_directory.join("release/writebench"), &program)
        .context("copying the delayed program")?;
    Ok(program)
}

/// Builds the program; where it is.
pub(crate) fn build(target_directory: &Path) -> Result<PathBuf> {
    succeed(cargo().args(["build", "--release", "--locked"]))?;
    let program = target_directory.join("release/writebench");
    ensure!(program.is_file(), "cargo built no {}", program.display());
    Ok(program)
}
