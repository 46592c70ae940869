use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A Python with a module. `cargo xtask setup` makes one in cargo's target directory.
#[must_use]
pub fn python_with(module: &str) -> Option<PathBuf> {
    own_python()
        .into_iter()
        .chain([system_python().to_owned()])
        .find(|python| has_module(python, module))
}

fn has_module(python: &Path, module: &str) -> bool {
    Command::new(python)
        .args(["-c", &format!("import {module}")])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The program behind `python3`, which may be a version manager's script that takes longer than most programs.
pub(crate) fn system_python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| executable_of_python().unwrap_or("python3".into()))
}

fn executable_of_python() -> Option<PathBuf> {
    let output = Command::new("python3")
        .args(["-c", "import sys\nprint(sys.executable)"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let path = PathBuf::from(text.trim());
    path.is_file().then_some(path)
}

/// The Python in cargo's target directory, which is above the running program.
fn own_python() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program
        .ancestors()
        .map(|folder| folder.join("python/bin/python3"))
        .find(|python| python.is_file())
}
