use std::collections::BTreeMap;
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

/// The lines of what `strace -f` wrote, a call each, in the order of their ends and without the numbers of their threads.
/// strace splits a call whenever another thread makes one meanwhile, so a line of the file may hold only half of a call.
#[must_use]
pub fn traced_calls(text: &str) -> Vec<String> {
    let mut unfinished = BTreeMap::<&str, String>::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let (thread, call) = line.split_once(' ').unwrap_or(("", line));
        let call = call.trim_start();
        if let Some(start) = call.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, start.to_owned());
        } else if let Some((_, end)) = call
            .strip_prefix("<... ")
            .and_then(|rest| rest.split_once(" resumed>"))
        {
            lines.push(unfinished.remove(thread).unwrap_or_default() + end);
        } else {
            lines.push(call.to_owned());
        }
    }
    lines
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
