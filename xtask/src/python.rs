//! Python with what reference figures are made with.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{find_program, metadata, shown, succeed};

/// Installs what is missing, in an environment of its own; the tests find it in cargo's target directory. Never fails.
pub(crate) fn install_modules() {
    const MODULE: &str = "scipy";
    let Ok(metadata) = metadata() else { return };
    let folder = metadata.target_directory.into_std_path_buf().join("python");
    let python = folder.join("bin/python3");
    let imports = |python: &Path| {
        let output = Command::new(python).args(["-c", &format!("import {MODULE}")]).output();
        output.is_ok_and(|output| output.status.success())
    };
    if imports(&python) || imports(Path::new("python3")) {
        return;
    }
    println!("setup: missing {MODULE}, for the reference figures of crates/stats");
    let Some(system) = find_program("python3") else {
        println!("setup: no python3 here; install it, or the tests that need it are skipped");
        return;
    };
    let mut environment = Command::new(system);
    environment.args(["-m", "venv"]).arg(&folder);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--retries", "1", MODULE]);
    for mut command in [environment, install] {
        println!("setup: {}", shown(&command));
        if let Err(error) = succeed(command.stdin(Stdio::null())) {
            println!("setup: {error:#}; going on without {MODULE}");
            return;
        }
    }
}
