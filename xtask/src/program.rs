//! writebench itself, as users get it.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::command::{cargo, succeed};

/// Builds the program; where it is.
pub(crate) fn build(target_directory: &Path) -> Result<PathBuf> {
    succeed(cargo().args(["build", "--release", "--locked"]))?;
    let program = target_directory.join("release/writebench");
    ensure!(program.is_file(), "cargo built no {}", program.display());
    Ok(program)
}
