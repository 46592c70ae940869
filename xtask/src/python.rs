//! Python with what reference figures are made with.

use std::process::Command;

use writebench_testkit::python_with;

use crate::command::{attempt, target_directory};

/// Installs what is missing, in an environment of its own; the tests find it in cargo's target directory. Never fails.
pub(crate) fn install_modules() {
    const MODULE: &str = "scipy";
    let Ok(folder) = target_directory().map(|folder| folder.join("python")) else { return };
    if python_with(MODULE).is_some() {
        return;
    }
    println!("setup: missing {MODULE}, for the reference figures of crates/stats");
    if attempt(Command::new("python3").args(["-m", "venv"]).arg(&folder), MODULE) {
        let install = ["-m", "pip", "install", "--quiet", "--retries", "1", MODULE];
        attempt(Command::new(folder.join("bin/python3")).args(install), MODULE);
    }
}
