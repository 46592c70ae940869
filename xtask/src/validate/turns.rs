//! Runs of two builds of writebench in turns, and what its `compare` says of them.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::command::{output, shown};

/// The cases of each run, and the samples of each.
pub(super) struct Work<'w> {
    pub(super) target: &'w Path,
    pub(super) cases: &'w [String],
    pub(super) samples: u32,
}

impl Work<'_> {
    /// A run of that build; its export, as an argument of `compare`.
    pub(super) fn run(&self, program: &Path, export: &Path) -> Result<String> {
        let mut command = Command::new(program);
        command.arg("run").arg(self.target).args(["--quiet", "--yes"]);
        for case in self.cases {
            command.args(["--case", case]);
        }
        command.arg("--samples").arg(self.samples.to_string());
        command.arg("--db").arg(export.with_extension("db"));
        command.arg(format!("--export=json={}", export.display()));
        output(command.stdin(Stdio::null()))?;
        Ok(export.display().to_string())
    }
}

/// A case in a comparison.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Compared {
    pub(super) id: String,
    pub(super) verdict: Verdict,
    pub(super) speed_ratio: Ratio,
}

#[derive(Debug, Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Faster,
    Slower,
    Same,
    Inconclusive,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Ratio {
    pub(super) estimate: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Compares the runs of both sides, names of exports joined by commas; returns the cases.
pub(super) fn compare(program: &Path, a: &str, b: &str) -> Result<Vec<Compared>> {
    let mut command = Command::new(program);
    command.args(["compare", a, b, "--export", "json=-"]);
    let text = output(command.stdin(Stdio::null()))?.stdout;
    let document: Value = serde_json::from_slice(&text).with_context(|| shown(&command))?;
    let cases = &document["cases"];
    Vec::<Compared>::deserialize(cases).with_context(|| format!("a comparison that came to {cases}"))
}
