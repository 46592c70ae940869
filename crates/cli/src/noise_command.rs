//! `writebench probe --noise`.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use report::{NoiseReport, formats};

use crate::arguments::ProbeCommand;
use crate::exit::{self, Exit};
use crate::output::Output;
use crate::probe_command::existing_path;
use crate::{database, measure};

/// No run has that number: the workspace is recorded like those of runs, and removed like them if it is left.
const NO_RUN: i64 = 0;

/// Measures how much the same work varies, and says what that lets be told.
pub fn noise(command: &ProbeCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    let target = existing_path(&command.target)?;
    if !target.is_dir() {
        return Err(exit::usage(format!("target {}: --noise needs a directory", target.display())));
    }
    let governor = probe::environment(&target)?.cpu.governor;
    let store = database::open(db)?;
    measure::remove_left_overs(&store, output)?;
    let stop = measure::stop_on_signals()?;
    output.note(&format!("Doing the same work again and again for {} s …", command.seconds));
    let workspace = measure::make_workspace(&store, NO_RUN, &target)?;
    let path = workspace.path().to_path_buf();
    let time = Duration::from_secs(command.seconds);
    let measured =
        measure::worker_in(&workspace).and_then(|worker| Ok(runner::measure_noise(&worker, time, &stop)?));
    let removed = workspace.remove();
    let measured = measured?;
    removed?;
    store.forget_workspace(&path)?;
    let Some(noise) = measured else { return Ok(Exit::Interrupted) };
    let report = NoiseReport::of(&noise, governor.as_deref());
    let text = if command.json {
        serde_json::to_string_pretty(&report).context("cannot write JSON")? + "\n"
    } else {
        formats::terminal::noise(&report, output.width())
    };
    output.results(&text)?;
    Ok(Exit::Ok)
}
