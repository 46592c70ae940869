//! Python, for reference figures by others' libraries.

use std::path::PathBuf;
use std::process::Command;

/// A Python that has that module: the one that `cargo xtask setup` made in cargo's target directory, or the system's.
#[must_use]
pub fn python_with(module: &str) -> Option<PathBuf> {
    let import = format!("import {module}");
    let has_module = |python: &PathBuf| {
        Command::new(python).args(["-c", &import]).output().is_ok_and(|output| output.status.success())
    };
    own_python().into_iter().chain([PathBuf::from("python3")]).find(has_module)
}

/// That of cargo's target directory, which the program that asks is somewhere below.
fn own_python() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.ancestors().map(|folder| folder.join("python/bin/python3")).find(|python| python.is_file())
}
