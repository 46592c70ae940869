//! Runs other programs in the root of the repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

#[must_use]
pub fn root() -> &'static Path {
    let testkit = Path::new(env!("CARGO_MANIFEST_DIR"));
    testkit.ancestors().nth(2).unwrap_or(testkit)
}

pub fn metadata() -> Result<cargo_metadata::Metadata> {
    let mut command = cargo_metadata::MetadataCommand::new();
    command.current_dir(root()).no_deps();
    command.exec().context("cargo metadata")
}

pub fn target_directory() -> Result<PathBuf> {
    Ok(metadata()?.target_directory.into_std_path_buf())
}

pub fn folder_for(name: &str) -> Result<PathBuf> {
    let folder = target_directory()?.join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    Ok(folder)
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program())
        .file_name()
        .unwrap_or_default();
    let settings = command.get_envs().filter_map(|(key, value)| {
        value.map(|value| format!("{}='{}'", key.display(), value.display()))
    });
    let words = std::iter::once(name).chain(command.get_args()).map(quoted);
    settings.chain(words).collect::<Vec<_>>().join(" ")
}

pub fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{word}'")
    }
}

/// The command shares standard output and error with this process.
pub fn succeed(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Prints the command before it runs.
#[expect(clippy::print_stdout, reason = "a tool's long steps show what they do")]
pub fn announced(command: &mut Command) -> Result<()> {
    println!("{}", shown(command));
    succeed(command)
}

pub fn printed(command: &mut Command) -> Result<String> {
    Ok(String::from_utf8(output(command)?.stdout)?)
}

pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// The error has the last line of standard error.
pub fn output(command: &mut Command) -> Result<Output> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let last = complaint
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("no message");
        bail!("{} ended with {}: {last}", shown(command), output.status);
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_can_be_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command
            .args(["clippy", "--", "-D", "two words"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            shown(&command),
            "RUSTDOCFLAGS='-D warnings' cargo clippy -- -D 'two words'"
        );
    }

    #[test]
    fn a_failure_names_the_command_and_its_last_complaint() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo first >&2; echo last >&2; exit 3"]);
        let error = output(&mut command).unwrap_err().to_string();
        assert!(
            error.contains("sh -c") && error.ends_with("exit status: 3: last"),
            "{error}"
        );
    }
}
