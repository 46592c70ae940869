use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// `cargo xtask setup` makes one in cargo's target directory.
#[must_use]
pub fn python_with(module: &str) -> Option<PathBuf> {
    let import = format!("import {module}");
    let has_module = |python: &PathBuf| {
        Command::new(python)
            .args(["-c", &import])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    own_python()
        .into_iter()
        .chain([system_python().to_owned()])
        .find(has_module)
}

/// `python3` may be a version manager's script, which takes longer than most programs.
pub(crate) fn system_python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let output = Command::new("python3")
            .args(["-c", "import sys\nprint(sys.executable)"])
            .output();
        let path = output
            .ok()
            .and_then(|output| String::from_utf8(output.stdout).ok());
        path.map(|path| path.trim().into())
            .filter(|path: &PathBuf| path.is_file())
            .unwrap_or("python3".into())
    })
}

/// Cargo's target directory is above the running program.
fn own_python() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program
        .ancestors()
        .map(|folder| folder.join("python/bin/python3"))
        .find(|python| python.is_file())
}
