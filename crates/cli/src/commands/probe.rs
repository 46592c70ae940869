use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use writebench_model::{Environment, Reserve};
use writebench_report::{NoiseReport, formats, visible};
use writebench_runner::{Casualties, TargetKind, Written};

use crate::database;
use crate::exit::{Exit, usage};
use crate::global::Global;
use crate::session::{Place, Workspaces, look_at, no_target};
use crate::signals::stop_on_signals;

/// Facts about the machine and a target
#[derive(Args)]
pub(crate) struct ProbeCommand {
    /// Directory that would be written to
    #[arg(default_value = ".", value_name = "TARGET", value_hint = ValueHint::DirPath)]
    target: PathBuf,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Measure instead how much the same work varies here, and say which differences can be told
    #[arg(long)]
    noise: bool,
    /// For how long
    #[arg(long, value_name = "N", default_value_t = 10, requires = "noise",
        value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
}

/// No run has that number: the workspace is recorded like those of runs, and removed like them if it is left.
const NO_RUN: i64 = 0;

impl ProbeCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let output = &global.output;
        let found = if self.noise { self.measure_noise(global)? } else { Some(self.facts()?) };
        let Some(text) = found else { return Ok(Exit::Interrupted) };
        output.results(&text)?;
        Ok(Exit::Ok)
    }

    fn facts(&self) -> Result<String> {
        let (_, look) = look_at(&self.target, None)?;
        let environment = look.environment.ok_or_else(|| no_target(&self.target))?;
        if self.json {
            json(serde_json::to_string_pretty(&environment))
        } else {
            Ok(text(&environment, &look.path))
        }
    }

    /// How much the same work varies, and which differences can be told; none if interrupted.
    fn measure_noise(&self, global: &Global) -> Result<Option<String>> {
        let output = &global.output;
        let (keeper, look) = look_at(&self.target, None)?;
        if look.kind != TargetKind::Directory {
            return Err(usage!("target {}: --noise needs a directory", look.path.display()));
        }
        let governor = look.environment.as_ref().and_then(|it| it.cpu.governor.clone());
        let store = database::open(global.db.as_deref())?;
        let stop = stop_on_signals()?;
        let place = Place::new(&self.target, (keeper, look))?.claim(false, Reserve::NONE, output)?;
        let places = vec![place];
        let mut workspaces = Workspaces {
            store: &store,
            run: NO_RUN,
            places,
            limit: None,
            stop: &stop,
            output,
            others: &global.others,
        };
        workspaces.remove_left_overs()?;
        output.note(&format!("Doing the same work again and again for {} s …", self.seconds));
        workspaces.make(&mut Written::default())?;
        let time = Duration::from_secs(self.seconds);
        let measured = workspaces
            .worker(None)
            .and_then(|worker| Ok(writebench_runner::measure_noise(&worker, time, &stop)?));
        let removed = workspaces.remove(&mut Casualties::default());
        let measured = output.after_tidying(measured, removed)?;
        let Some(noise) = measured else { return Ok(None) };
        let report = NoiseReport::of(&noise, governor.as_deref());
        let shown = if self.json {
            json(serde_json::to_string_pretty(&report))?
        } else {
            formats::terminal::noise(&report, output.width())
        };
        Ok(Some(shown))
    }
}

fn json(written: serde_json::Result<String>) -> Result<String> {
    Ok(written.context("cannot write JSON")? + "\n")
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
