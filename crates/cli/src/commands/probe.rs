//! `writebench probe`.

use std::path::Path;

use anyhow::{Context, Result};
use writebench_model::Environment;
use writebench_report::visible;

use crate::arguments::ProbeCommand;
use crate::exit::{self, Exit};
use crate::output::Output;
use crate::session::place::look_at;

/// Shows facts about the machine and a target.
pub fn probe(command: &ProbeCommand, output: &Output) -> Result<Exit> {
    let (_, look) = look_at(&command.target, None)?;
    let target = command.target.display();
    let environment = look
        .environment
        .ok_or_else(|| exit::usage(format!("target {target}: neither a directory nor a block device")))?;
    let text = if command.json {
        serde_json::to_string_pretty(&environment).context("cannot write JSON")? + "\n"
    } else {
        text(&environment, &look.path)
    };
    output.results(&text)?;
    Ok(Exit::Ok)
}

fn text(environment: &Environment, target: &Path) -> String {
    let mut text = String::new();
    for (label, line) in writebench_report::machine_lines(environment, &target.display().to_string()) {
        text += &format!("{label:<12}{}\n", visible(&line));
    }
    for (path, value) in &environment.tunables {
        text += &format!("  {path:<52}{}\n", visible(value));
    }
    text
}
