//! Python, whose libraries compute reference figures.

use std::path::PathBuf;
use std::process::Command;

/// A Python with that module: from cargo's target directory, where `cargo xtask setup` makes it, or the
/// system's.
#[must_use]
pub fn python_with(module: &str) -> Option<PathBuf> {
    let import = format!("import {module}");
    let has_module = |python: &PathBuf| {
        Command::new(python).args(["-c", &import]).output().is_ok_and(|output| output.status.success())
    };
    own_python().into_iter().chain([PathBuf::from("python3")]).find(has_module)
}

/// The Python in cargo's target directory, which is above the running program.
fn own_python() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.ancestors().map(|folder| folder.join("python/bin/python3")).find(|python| python.is_file())
}
