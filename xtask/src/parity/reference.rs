//! The reference programs: built from `parity/*.c`, run one at a time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::case::Case;
use super::reading::Reading;
use crate::command::{output, root, succeed};

const FLAGS: &[&str] = &["-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-pthread"];

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
                succeed(compiler.args(FLAGS).arg(&source).arg("-o").arg(folder.join(name)))?;
            }
        }
        Ok(Self { folder: folder.to_owned() })
    }

    /// Runs the case once.
    pub(super) fn measure(&self, case: &Case, target: &Path) -> Result<Reading> {
        run(&mut self.command(case, target), case)
    }

    /// Runs the case once and has the program read its files back.
    pub(super) fn check(&self, case: &Case, target: &Path) -> Result<()> {
        run(self.command(case, target).env("PARITY_CHECK", "1"), case).map(drop)
    }

    fn command(&self, case: &Case, target: &Path) -> Command {
        let mut command = Command::new(self.folder.join(case.method));
        command.arg(target).args(&case.arguments).stdin(Stdio::null());
        command
    }
}

fn run(command: &mut Command, case: &Case) -> Result<Reading> {
    let output = output(command)?;
    let json = serde_json::from_slice(&output.stdout).context("the reference's line is no JSON")?;
    let reading = Reading::of_reference(&json, case.work)?;
    ensure!(reading.bytes == case.size_bytes, "{} bytes instead of {}", reading.bytes, case.size_bytes);
    Ok(reading)
}
