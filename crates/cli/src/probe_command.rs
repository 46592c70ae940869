//! `writebench probe`.

use std::path::Path;

use anyhow::{Context, Result};
use model::Environment;
use report::visible;

use crate::arguments::ProbeCommand;
use crate::exit::{self, Exit};
use crate::output::Output;

/// Shows facts about the machine and a target.
pub fn probe(command: &ProbeCommand, output: &Output) -> Result<Exit> {
    let target = existing_path(&command.target)?;
    let environment = probe::environment(&target)?;
    let text = if command.json {
        serde_json::to_string_pretty(&environment).context("cannot write JSON")? + "\n"
    } else {
        text(&environment, &target)
    };
    output.results(&text)?;
    Ok(Exit::Ok)
}

/// The absolute path of something that is there.
pub fn existing_path(target: &Path) -> Result<std::path::PathBuf> {
    target.canonicalize().map_err(|error| {
        let why = exit::meaning(&error);
        exit::usage(format!("target {}: {why}; give a directory that exists", target.display()))
    })
}

fn text(environment: &Environment, target: &Path) -> String {
    let mut text = String::new();
    for (label, line) in report::machine_lines(environment, &target.display().to_string()) {
        text += &format!("{label:<12}{}\n", visible(&line));
    }
    for (path, value) in &environment.tunables {
        text += &format!("  {path:<52}{}\n", visible(value));
    }
    text
}
