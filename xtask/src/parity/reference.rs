//! The reference programs: built from `parity/*.c`, run one at a time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use super::case::Case;
use super::reading::Reading;
use crate::command::{output, root, shown, succeed};

const FLAGS: &[&str] = &["-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-pthread"];

/// The exit code of `refuse` in `parity/parity.h`.
const REFUSED: i32 = 77;

/// The built programs.
pub(super) struct Reference {
    folder: PathBuf,
}

impl Reference {
    /// Builds every program anew, which takes a second and always uses the current compiler.
    pub(super) fn build(folder: &Path) -> Result<Self> {
        let sources = root().join("parity");
        for entry in sources.read_dir().with_context(|| format!("reading {}", sources.display()))? {
            let source = entry?.path();
            let name = source.file_stem().unwrap_or_default();
            if source.extension().is_some_and(|extension| extension == "c") {
                let mut compiler = Command::new("cc");
                compiler.args(FLAGS).arg(&source).arg("-o").arg(folder.join(name));
                // Only these programs need a library.
                let is_uring = name.to_string_lossy().starts_with("uring");
                succeed(compiler.args(is_uring.then_some("-luring")))?;
            }
        }
        Ok(Self { folder: folder.to_owned() })
    }

    /// Runs a program once on the case. It reads its files back if `checks` is set.
    pub(super) fn measure(&self, program: &str, case: &Case, target: &Path, checks: bool) -> Result<Reading> {
        let mut command = self.command(program, target);
        Reading::of(&said(command.envs(checks.then_some(("PARITY_CHECK", "1"))))?, case)
    }

    /// Why the target cannot do the program's work, if it cannot: its filesystem shares no blocks, for example.
    pub(super) fn refusal(&self, program: &str, target: &Path) -> Result<Option<String>> {
        let mut command = self.command(program, target);
        let output = command.stdin(Stdio::null()).output().with_context(|| shown(&command))?;
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Ok((output.status.code() == Some(REFUSED)).then_some(reason))
    }

    fn command(&self, program: &str, target: &Path) -> Command {
        let mut words = program.split_whitespace();
        let mut command = Command::new(self.folder.join(words.next().unwrap_or_default()));
        command.arg(target).args(words);
        command
    }

    /// Makes the target quiet and the memory warm for a program that does not do so itself; returns the
    /// probe's time.
    pub(super) fn settle(&self, target: &Path, size_bytes: u64) -> Result<u64> {
        let mut command = Command::new(self.folder.join("machine"));
        let json = said(command.arg(target).arg(size_bytes.to_string()))?;
        json["probe_ns"].as_u64().context("no probe_ns")
    }
}

fn said(command: &mut Command) -> Result<Value> {
    let output = output(command.stdin(Stdio::null()))?;
    serde_json::from_slice(&output.stdout).context("the reference's line is no JSON")
}
