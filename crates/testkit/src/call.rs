use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Runs a command in the C locale. It is an error if the command fails.
pub fn call(command: &mut Command) -> Result<()> {
    let output = command
        .env("LC_ALL", "C")
        .output()
        .with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// strace of all processes and threads. Only the chosen calls stop them.
#[must_use]
pub fn strace() -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "--seccomp-bpf"]);
    command
}

/// Whether a program is on the path, or in root's directories.
#[must_use]
pub fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories_of_root = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(directories_of_root)
        .any(|directory| directory.join(name).is_file())
}
