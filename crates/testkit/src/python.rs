//! Python, for reference figures by others' libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python that has that module: the one that `cargo xtask setup` made in cargo's target directory, or the system's.
#[must_use]
pub fn python_with(module: &str) -> Option<PathBuf> {
    let import = format!("import {module}");
    let own = target_directory().map(|directory| directory.join("python/bin/python3"));
    let has_module = |python: &PathBuf| {
        Command::new(python).args(["-c", &import]).output().is_ok_and(|output| output.status.success())
    };
    own.into_iter().chain([PathBuf::from("python3")]).find(has_module)
}

/// From the test's own program, which is in `debug/deps` below it.
fn target_directory() -> Option<PathBuf> {
    std::env::current_exe().ok()?.ancestors().nth(3).map(Path::to_path_buf)
}
