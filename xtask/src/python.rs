//! Python with what reference figures are made with.

use std::path::Path;
use std::process::Command;

use crate::command::{attempt, target_directory};

/// Installs what is missing, in an environment of its own; the tests find it in cargo's target directory. Never fails.
pub(crate) fn install_modules() {
    const MODULE: &str = "scipy";
    let Ok(folder) = target_directory().map(|folder| folder.join("python")) else { return };
    let python = folder.join("bin/python3");
    let imports = |python: &Path| {
        let output = Command::new(python).args(["-c", &format!("import {MODULE}")]).output();
        output.is_ok_and(|output| output.status.success())
    };
    if imports(&python) || imports(Path::new("python3")) {
        return;
    }
    println!("setup: missing {MODULE}, for the reference figures of crates/stats");
    if attempt(Command::new("python3").args(["-m", "venv"]).arg(&folder), MODULE) {
        let install = ["-m", "pip", "install", "--quiet", "--retries", "1", MODULE];
        attempt(Command::new(&python).args(install), MODULE);
    }
}
