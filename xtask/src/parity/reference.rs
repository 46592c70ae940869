//! The reference programs: built from `parity/*.c`, run one at a time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::case::Case;
use super::reading::Reading;
use super::twin::Twin;
use crate::command::{output, root, succeed};

const FLAGS: &[&str] = &["-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-pthread"];

/// Programs that need a library.
const LIBRARIES: &[(&str, &str)] = &[("uring", "-luring")];

/// The built programs.
pub(super) struct Reference {
    folder: PathBuf,
}

impl Reference {
    /// Builds every program, afresh: it takes a second, and is never of another compiler's making.
    pub(super) fn build(folder: &Path) -> Result<Self> {
        let sources = root().join("parity");
        for entry in sources.read_dir().with_context(|| format!("reading {}", sources.display()))? {
            let source = entry?.path();
            let name = source.file_stem().unwrap_or_default();
            if source.extension().is_some_and(|extension| extension == "c") {
                let mut compiler = Command::new("cc");
                compiler.args(FLAGS).arg(&source).arg("-o").arg(folder.join(name));
                compiler
                    .args(LIBRARIES.iter().filter(|(program, _)| name == *program).map(|(_, library)| library));
                succeed(&mut compiler)?;
            }
        }
        Ok(Self { folder: folder.to_owned() })
    }

    /// Runs the case once.
    pub(super) fn measure(&self, twin: &Twin, target: &Path) -> Result<Reading> {
        run(&mut self.command(twin, target), &twin.case)
    }

    /// Runs the case once and has the program read its files back.
    pub(super) fn check(&self, twin: &Twin, target: &Path) -> Result<()> {
        run(self.command(twin, target).env("PARITY_CHECK", "1"), &twin.case).map(drop)
    }

    /// Makes the target quiet and the memory warm for a program that does not do so itself; what the
    /// memory-copy probe took.
    pub(super) fn settle(&self, target: &Path, size_bytes: u64) -> Result<u64> {
        let mut command = Command::new(self.folder.join("machine"));
        let output = output(command.arg(target).arg(size_bytes.to_string()).stdin(Stdio::null()))?;
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).context("the line is no JSON")?;
        json["probe_ns"].as_u64().context("no probe_ns")
    }

    fn command(&self, twin: &Twin, target: &Path) -> Command {
        let mut command = Command::new(self.folder.join(&twin.program));
        command.arg(target).args(&twin.arguments).stdin(Stdio::null());
        command
    }
}

fn run(command: &mut Command, case: &Case) -> Result<Reading> {
    let output = output(command)?;
    let json = serde_json::from_slice(&output.stdout).context("the reference's line is no JSON")?;
    Reading::of(&json, case)
}
