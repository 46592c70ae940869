use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use writebench_model::Environment;
use writebench_report::formats::folded;
use writebench_report::visible;

use crate::exit::Exit;
use crate::global::Global;
use crate::session::Target;

/// Show facts about the machine and a target
#[derive(Args)]
pub(crate) struct ProbeCommand {
    /// Directory or file on the target
    #[arg(default_value = ".", value_name = "TARGET", value_hint = ValueHint::DirPath)]
    target: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ProbeCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let target = Target::inspect(&self.target, None)?;
        let width = global.output.width();
        let text = match self.json {
            true => {
                serde_json::to_string_pretty(&target.environment).context("cannot write JSON")?
                    + "\n"
            }
            false => text(&target.environment, target.path(), width),
        };
        global.output.results(&text)
    }
}

fn text(environment: &Environment, target: &Path, width: Option<usize>) -> String {
    const LABEL: usize = 12;
    let mut text = String::new();
    let lines = [
        writebench_report::machine_lines(environment, &target.display().to_string()),
        writebench_report::write_lines(environment),
    ];
    for (label, line) in lines.into_iter().flatten() {
        let line = format!("{label:<LABEL$}{}", visible(&line));
        text += &folded(&line, width.unwrap_or(usize::MAX), LABEL);
    }
    for (path, value) in &environment.tunables {
        text += &format!("  /{path:<51}{}\n", visible(value));
    }
    text
}
