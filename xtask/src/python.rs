//! SciPy, which computes the reference figures of crates/stats.

use std::process::Command;

use writebench_testkit::python_with;

use crate::command::target_directory;
use crate::part::Part;

/// SciPy in a Python environment in cargo's target directory, unless some Python has it.
pub(crate) fn missing() -> Vec<Part> {
    const MODULE: &str = "scipy";
    let Ok(folder) = target_directory().map(|folder| folder.join("python")) else { return Vec::new() };
    if python_with(MODULE).is_some() {
        return Vec::new();
    }
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv"]).arg(&folder);
    let mut install = Command::new(folder.join("bin/python3"));
    install.args(["-m", "pip", "install", "--quiet", "--retries", "1", MODULE]);
    vec![Part { name: MODULE.to_owned(), size: "240 MB", commands: vec![environment, install] }]
}
