pub(super) mod answer;
mod choice;
mod document;
mod experience;
mod rates;
pub(super) mod replay;
mod stages;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use writebench_model::{Axis, Bytes, Durability, Environment, Goal, Space};
use writebench_testkit::command::root;

use self::choice::Gains;
use self::stages::{Measurement, ranked};
use crate::export::environment;
use crate::program::Bench;
use crate::target::{Targets, filesystem, is_memory};

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    targets: Targets,
    /// Only these goals. May be repeated
    #[arg(long = "goal", value_parser = goal)]
    goals: Vec<Goal>,
    /// Size of the files
    #[arg(long, default_value = "64MiB")]
    size: Bytes,
    /// Size of the files in the first stage, which measures all cases
    #[arg(long, default_value = "16MiB")]
    small: Bytes,
    /// Name of the environment [default: the filesystem and the CPU]
    #[arg(long)]
    name: Option<String>,
    /// Choose the portfolios from the folder, without a measurement
    #[arg(long, conflicts_with = "targets")]
    choose: bool,
    #[command(flatten)]
    folder: Folder,
}

/// Each environment has a file with the gains of its cases.
#[derive(clap::Args)]
struct Folder {
    /// Folder of the environments [default: studies/grid]
    #[arg(long = "grids", value_name = "FOLDER")]
    path: Option<PathBuf>,
}

fn goal(name: &str) -> Result<Goal, &'static str> {
    Goal::from_name(name).ok_or("no such goal")
}

/// An environment is a file.
#[derive(Serialize, Deserialize)]
struct Grid<G> {
    environment: Provenance,
    goals: BTreeMap<String, G>,
    /// Goals without an answer are missing.
    #[serde(default = "BTreeMap::new", skip_serializing_if = "BTreeMap::is_empty")]
    answers: BTreeMap<String, answer::Answers>,
}

type Provenance = BTreeMap<String, String>;

/// The key is the name of the file.
type Grids = BTreeMap<String, Grid<Gains>>;

pub(crate) fn run(options: &Options) -> Result<bool> {
    if options.choose {
        let grids = options.folder.read()?;
        let path = experience::path();
        fs::write(&path, experience::text(&grids)).with_context(|| path.display().to_string())?;
        let paths = document::paths();
        let texts = document::texts(&grids, &document::read()?)?;
        for (path, text) in paths.iter().zip(texts) {
            fs::write(path, text).with_context(|| path.display().to_string())?;
        }
        return Ok(true);
    }
    /// A copy needs room for its source, and for files that are being removed.
    const IMAGE_SIZES: u64 = 16;
    options.targets.each(
        "grid",
        Bytes(options.size.0.saturating_mul(IMAGE_SIZES).max(1 << 30)),
        |bench| options.measure(bench),
    )
}

impl Folder {
    fn path(&self) -> PathBuf {
        match &self.path {
            Some(path) => path.clone(),
            None => root().join("studies/grid"),
        }
    }

    fn read(&self) -> Result<Grids> {
        let mut grids = Grids::new();
        for entry in fs::read_dir(self.path())? {
            let path = entry?.path();
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let text = fs::read_to_string(&path)?;
            grids.insert(
                name,
                toml::from_str(&text).with_context(|| path.display().to_string())?,
            );
        }
        Ok(grids)
    }

    fn environment(&self, name: &str) -> Result<Grid<Gains>> {
        self.read()?
            .remove(name)
            .with_context(|| format!("no such environment in {}", self.path().display()))
    }

    fn write(&self, name: &str, grid: Grid<Gains>) -> Result<()> {
        let goals = grid
            .goals
            .into_iter()
            .map(|(goal, gains)| (goal, best_first(&gains)))
            .collect();
        let grid = Grid {
            environment: grid.environment,
            goals,
            answers: grid.answers,
        };
        let file = self.path().join(format!("{name}.toml"));
        fs::write(&file, toml::to_string(&grid)?)
            .with_context(|| format!("writing {}", file.display()))
    }
}

impl Options {
    fn measure(&self, bench: Bench<'_>) -> Result<bool> {
        let is_all = self.goals.is_empty();
        for &goal in Goal::ALL {
            let is_chosen = is_all || self.goals.contains(&goal);
            if goal == Goal::LargerThanMemory || !is_chosen {
                continue;
            }
            let full = self.space(goal, self.size)?;
            // Memory is not durable.
            if full.baseline.workload().durability == Durability::Durable
                && is_memory(bench.target)?
            {
                continue;
            }
            let small = self.space(goal, self.small)?;
            let start = Instant::now();
            let (gains, export) = Measurement { bench, goal }.gains(&small, &full)?;
            let name = self.keep(bench, goal, &gains, &export)?;
            let best = ranked(&gains).into_iter().next().unwrap_or_default();
            println!(
                "{name}: {goal}, {} cases in {} s, {:.3}: {best}",
                full.others.len(),
                start.elapsed().as_secs(),
                choice::gain(&gains, &best)
            );
        }
        Ok(true)
    }

    fn space(&self, goal: Goal, size: Bytes) -> Result<Space> {
        let usual = Space::for_goal(goal, &[])?;
        // Records and sets of files are small already.
        if usual.baseline.given().size_bytes <= self.size.0 {
            return Ok(usual);
        }
        Ok(Space::for_goal(
            goal,
            &[(Axis::Size, vec![size.to_string()])],
        )?)
    }

    /// A file of other settings is replaced. Returns its name.
    fn keep(&self, bench: Bench<'_>, goal: Goal, gains: &Gains, export: &Value) -> Result<String> {
        let mut environment = self.provenance(export)?;
        if let Some(kind) = bench.made {
            environment.insert("made".to_owned(), kind.to_owned());
            // The image has another name each time.
            environment.insert("device".to_owned(), "made for the study".to_owned());
        }
        let name = match (&self.name, bench.made) {
            (Some(name), _) => name.clone(),
            (None, Some(kind)) => format!("{kind} {}", environment["cpu"]),
            (None, None) => format!("{} {}", filesystem(bench.target), environment["cpu"]),
        };
        let name = file_name(&name);
        let mut grid = Grid {
            environment,
            goals: BTreeMap::new(),
            answers: BTreeMap::new(),
        };
        if let Some(old) = self.folder.read()?.remove(&name)
            && has_same_settings(&old.environment, &grid.environment)
        {
            grid.goals = old.goals;
            grid.answers = old.answers;
        }
        grid.goals.insert(goal.name().to_owned(), gains.clone());
        self.folder.write(&name, grid)?;
        Ok(name)
    }

    fn provenance(&self, export: &Value) -> Result<Provenance> {
        let Environment {
            cpu,
            memory,
            system,
            filesystem,
            device,
            ..
        } = environment(export)?;
        let run = &export["run"];
        let version = run["version"].as_str().unwrap_or_default();
        let started = run["started"].as_str().unwrap_or_default();
        let date = started.split('T').next().unwrap_or_default();
        let device = device.and_then(|device| device.model).unwrap_or_default();
        let facts = [
            ("cpu", cpu.model.unwrap_or_else(|| "unknown".to_owned())),
            ("cpus", cpu.available.to_string()),
            ("memory", Bytes(memory.total_bytes).approximate()),
            ("kernel", system.kernel),
            ("filesystem", filesystem.kind),
            ("mount-options", filesystem.mount_options),
            (
                "device",
                format!("{} {device}", filesystem.source).trim().to_owned(),
            ),
            ("version", version.to_owned()),
            ("date", date.to_owned()),
            ("size", self.size.to_string()),
            ("small", self.small.to_string()),
        ];
        Ok(facts.map(|(name, fact)| (name.to_owned(), fact)).into())
    }
}

/// A name has lower-case words with hyphens.
fn file_name(title: &str) -> String {
    let title = title.to_lowercase();
    let words = title.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-")
}

fn has_same_settings(old: &Provenance, new: &Provenance) -> bool {
    let mut facts = old.iter().filter(|(name, _)| *name != "date");
    facts.all(|(name, fact)| new.get(name) == Some(fact))
}

/// Three decimals are more than the noise permits.
fn best_first(gains: &Gains) -> toml::Table {
    let mut table = toml::Table::new();
    for name in ranked(gains) {
        let gain = answer::rounded(choice::gain(gains, &name));
        table.insert(name, toml::Value::Float(gain));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_best_case_first() {
        let gains = Gains::from([("a".to_owned(), 0.5), ("b,c=1".to_owned(), 1.23456)]);
        assert_eq!(
            best_first(&gains).to_string(),
            "\"b,c=1\" = 1.235\na = 0.5\n"
        );
    }

    #[test]
    fn the_portfolio_and_its_document_follow_from_the_measurements() {
        let old = document::read().unwrap();
        let new = document::texts(&Folder { path: None }.read().unwrap(), &old).unwrap();
        assert!(old == new, "run `cargo studies grid --choose`");
    }
}
