pub(super) mod answer;
mod choice;
mod document;
mod stages;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
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

/// A file per environment, with the gains of each case.
#[derive(clap::Args)]
struct Folder {
    /// Folder of the environments [default: studies/grid]
    #[arg(long = "grids", value_name = "FOLDER")]
    path: Option<PathBuf>,
}

fn goal(name: &str) -> Result<Goal, &'static str> {
    Goal::from_name(name).ok_or("no such goal")
}

/// The file of an environment.
#[derive(Serialize, Deserialize)]
struct Grid<G> {
    environment: Provenance,
    goals: BTreeMap<String, G>,
    /// By goal.
    #[serde(default = "BTreeMap::new", skip_serializing_if = "BTreeMap::is_empty")]
    answers: BTreeMap<String, answer::Answer>,
}

type Provenance = BTreeMap<String, String>;

/// By the name of the file.
type Grids = BTreeMap<String, Grid<Gains>>;

pub(crate) fn run(options: &Options) -> Result<bool> {
    if options.choose {
        let paths = document::paths();
        let texts = document::texts(
            &options.folder.read()?,
            &fs::read_to_string(&paths[0]).context("portfolio.toml")?,
        )?;
        for (path, text) in paths.iter().zip(texts) {
            fs::write(path, text).with_context(|| path.display().to_string())?;
        }
        return Ok(true);
    }
    /// For a copy, its source and files in removal.
    const IMAGE_SIZES: u64 = 16;
    options.targets.each(
        "grid",
        Bytes(options.size.0.saturating_mul(IMAGE_SIZES).max(1 << 30)),
        |bench| options.measure(bench),
    )
}

impl Folder {
    fn path(&self) -> PathBuf {
        let usual = || root().join("studies/grid");
        self.path.clone().unwrap_or_else(usual)
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
        let goals = Goal::ALL
            .iter()
            .filter(|goal| self.goals.is_empty() || self.goals.contains(goal));
        for &goal in goals.filter(|goal| **goal != Goal::LargerThanMemory) {
            let space = |size: Bytes| {
                let usual = Space::for_goal(goal, &[])?;
                // Records, and sets of files.
                let is_small = usual.baseline.axes().size_bytes <= self.size.0;
                if is_small {
                    Ok(usual)
                } else {
                    Space::for_goal(goal, &[(Axis::Size, vec![size.to_string()])])
                }
            };
            let (small, full) = (space(self.small)?, space(self.size)?);
            // Memory is not durable.
            if full.baseline.contract().durability == Durability::Durable
                && is_memory(bench.target)?
            {
                continue;
            }
            let start = Instant::now();
            let (gains, export) = Measurement { bench, goal }.gains(&small, &full)?;
            let name = self.keep(bench.target, goal, &gains, &export)?;
            let (count, seconds) = (full.others.len(), start.elapsed().as_secs());
            let best = ranked(&gains).into_iter().next().unwrap_or_default();
            let gain = choice::gain(&gains, &best);
            println!("{name}: {goal}, {count} cases in {seconds} s, {gain:.3}: {best}");
        }
        Ok(true)
    }

    /// A file of other settings is replaced. Returns its name.
    fn keep(&self, target: &Path, goal: Goal, gains: &Gains, export: &Value) -> Result<String> {
        let environment = self.provenance(export)?;
        let own_name = || format!("{} {}", filesystem(target), environment["cpu"]);
        let words = self.name.clone().unwrap_or_else(own_name).to_lowercase();
        let words = words
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty());
        let name = words.collect::<Vec<_>>().join("-");
        let is_other =
            |fact: &(&String, &String)| fact.0 != "date" && environment.get(fact.0) != Some(fact.1);
        let old = self
            .folder
            .read()?
            .remove(&name)
            .filter(|old| !old.environment.iter().any(|fact| is_other(&fact)));
        let (mut goals, answers) = old.map(|old| (old.goals, old.answers)).unwrap_or_default();
        goals.insert(goal.name().to_owned(), gains.clone());
        self.folder.write(
            &name,
            Grid {
                environment,
                goals,
                answers,
            },
        )?;
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
        let fact = |name: &str| export["run"][name].as_str().unwrap_or_default().to_owned();
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
            ("version", fact("version")),
            (
                "date",
                fact("started").chars().take("2026-01-01".len()).collect(),
            ),
            ("size", self.size.to_string()),
            ("small", self.small.to_string()),
        ];
        Ok(facts.map(|(name, fact)| (name.to_owned(), fact)).into())
    }
}

/// Gains with three decimals.
fn best_first(gains: &Gains) -> toml::Table {
    let rounded = |name: &String| toml::Value::Float(answer::rounded(choice::gain(gains, name)));
    ranked(gains)
        .into_iter()
        .map(|name| (name.clone(), rounded(&name)))
        .collect()
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
        let old = document::paths().map(|path| fs::read_to_string(path).unwrap());
        let new = document::texts(&Folder { path: None }.read().unwrap(), &old[0]).unwrap();
        assert!(old == new, "run `cargo studies grid --choose`");
    }
}
