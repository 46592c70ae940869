//! `writebench probe --noise`.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use writebench_report::{NoiseReport, formats};
use writebench_runner::{Casualties, TargetKind};

use crate::arguments::ProbeCommand;
use crate::database;
use crate::exit::{self, Exit};
use crate::output::Output;
use crate::session::measure;
use crate::session::place::look_at;
use crate::session::workspaces::{self, Waiting};

/// No run has that number: the workspace is recorded like those of runs, and removed like them if it is left.
const NO_RUN: i64 = 0;

/// Measures how much the same work varies, and says what that lets be told.
pub fn noise(command: &ProbeCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    let (keeper, look) = look_at(&command.target, None)?;
    let target = look.path.as_path();
    if look.kind != TargetKind::Directory {
        return Err(exit::usage(format!("target {}: --noise needs a directory", target.display())));
    }
    let governor = look.environment.as_ref().and_then(|it| it.cpu.governor.clone());
    let store = database::open(db)?;
    let stop = measure::stop_on_signals()?;
    workspaces::remove_left_overs(&store, std::iter::once(target), &stop, output)?;
    output.note(&format!("Doing the same work again and again for {} s …", command.seconds));
    let waiting = Waiting { limit: None, stop: &stop };
    let mut place = [workspaces::make_one(&store, (keeper, target), NO_RUN, waiting)?];
    let time = Duration::from_secs(command.seconds);
    let measured = measure::worker_in(&place[0])
        .and_then(|worker| Ok(writebench_runner::measure_noise(&worker, time, &stop)?));
    let removed = workspaces::remove_all(&store, &mut place, &mut Casualties::default(), (waiting, output));
    let measured = measured?;
    removed?;
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
