//! Repeats a search, or the first answer. The answers are compared with each other, with simpler cases, and with
//! the best of the grid.

mod given;
mod judging;
mod record;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_model::{Bytes, Case, Goal};
use writebench_stats::{as_f64, median};

use self::given::Given;
use self::judging::Judging;
pub(super) use self::record::{Answers, rates_of_versions, summary};
use super::{Folder, goal};
use crate::export::{Clock, measured};
use crate::program::{Bench, exported_from};
use crate::promise;
use crate::target::{Targets, described};

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    targets: Targets,
    /// Search for this goal. Several goals are those of the first answer [default: the first answer with its own goals]
    #[arg(long = "for", value_parser = goal)]
    goals: Vec<Goal>,
    /// Size of the file [default: that of the search]
    #[arg(long)]
    size: Option<Bytes>,
    /// Time limit of each search, such as 5s [default: that of writebench]
    #[arg(long)]
    budget: Option<String>,
    /// Most bytes that each search writes, such as 16GiB [default: that of writebench, which is little in an image]
    #[arg(long)]
    max_bytes: Option<Bytes>,
    /// Searches on each target
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    searches: u32,
    /// Rounds of the comparison. With 15, a perfect answer fails once in twenty times on a noisy machine
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(6..))]
    rounds: u32,
    /// Name of an environment in the folder, to compare with its best cases and to keep the answers
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    folder: Folder,
}

/// The cases of the grid that an answer is compared with.
const BEST: usize = 3;

/// Returns whether at most one of ten searches is proven to be outside the tolerance, and as few promises are
/// broken. The first answer promises nothing.
pub(crate) fn run(options: &Options) -> Result<bool> {
    /// A copy of 1 GiB needs room for its source and metadata, too.
    const IMAGE_SIZE: Bytes = Bytes(4 << 30);
    options.targets.each("advice", IMAGE_SIZE, |bench| {
        println!("\n{}", described(bench.target));
        options.validate(bench)
    })
}

/// A search or a first answer that has ended.
struct Ended {
    export: Value,
    took: Duration,
}

impl Options {
    fn validate(&self, bench: Bench<'_>) -> Result<bool> {
        let mut grid = match &self.name {
            Some(name) => Some(self.folder.environment(name)?),
            None => None,
        };
        let ended = self.searches(bench)?;
        let answers = self.answers(&ended)?;
        let mut judgings = Vec::new();
        for (goal, given) in answers {
            judgings.push((goal, Judging::of(goal, given, grid.as_ref())?));
        }
        self.announce(&judgings, &ended);
        let mut most_far = 0;
        for (goal, judgings) in judgings {
            let mut kept = self.none_given(&ended);
            for judging in judgings {
                let judged = judging.measure(bench, self.rounds)?;
                println!("{goal}: time / time of the fastest, {} rounds", self.rounds);
                most_far = most_far.max(judged.print_far()?);
                kept.given.extend(judged.answers()?);
            }
            println!("{goal}: {kept:?}");
            if let Some(grid) = &mut grid {
                grid.answers.insert(goal.name().to_owned(), kept);
            }
        }
        if let (Some(name), Some(grid)) = (&self.name, grid) {
            self.folder.write(name, grid)?;
        }
        // The first answer promises nothing.
        if !self.is_search() {
            return Ok(true);
        }
        let exports: Vec<Value> = ended.into_iter().map(|ended| ended.export).collect();
        let broken = promise::broken(bench, &exports)?;
        Ok(self.is_rare(broken) && self.is_rare(most_far))
    }

    /// A search has one goal, and the first answer has several.
    fn is_search(&self) -> bool {
        self.goals.len() == 1
    }

    fn is_rare(&self, searches: u32) -> bool {
        searches <= self.searches / 10
    }

    /// A user's searches know the earlier ones, and a first answer knows none.
    fn searches(&self, bench: Bench<'_>) -> Result<Vec<Ended>> {
        let scratch = tempfile::tempdir().context("a folder for the databases")?;
        let mut ended = Vec::new();
        for number in 1..=self.searches {
            let database = if self.is_search() { 1 } else { number };
            ended.push(self.search(bench, &scratch.path().join(database.to_string()))?);
        }
        Ok(ended)
    }

    fn search(&self, bench: Bench<'_>, database: &Path) -> Result<Ended> {
        let mut command = Command::new(bench.program);
        command.arg("advise").arg(bench.target);
        for goal in &self.goals {
            command.args(["--for", goal.name()]);
        }
        let options = [
            ("--size", self.size.map(|size| size.to_string())),
            ("--budget", self.budget.clone()),
            ("--max-bytes", self.max_bytes.map(|most| most.to_string())),
        ];
        for (name, value) in options {
            if let Some(value) = value {
                command.args([name, &value]);
            }
        }
        let start = Instant::now();
        let export = exported_from(command, database)?;
        let took = start.elapsed();
        let written = Bytes(export["run"]["written_bytes"].as_u64().unwrap_or(0)).approximate();
        println!("a search: {:.0} s, {written} written", took.as_secs_f64());
        Ok(Ended { export, took })
    }

    /// The goals that have an answer.
    fn answers(&self, ended: &[Ended]) -> Result<Vec<(Goal, Vec<Given>)>> {
        let goals = if self.goals.is_empty() {
            Goal::USUAL
        } else {
            &self.goals
        };
        let mut answers = Vec::new();
        for &goal in goals {
            let mut given = Vec::new();
            for Ended { export, .. } in ended {
                given.extend(Given::of(export, goal, self.is_search())?);
            }
            ensure!(
                !self.is_search() || given.len() == ended.len(),
                "a search ended without advice"
            );
            // Such as a durable goal in memory.
            if given.is_empty() {
                println!("{goal}: no answer");
            } else {
                answers.push((goal, given));
            }
        }
        Ok(answers)
    }

    fn none_given(&self, ended: &[Ended]) -> Answers {
        let version = ended[0].export["run"]["version"].as_str();
        Answers {
            version: version.unwrap_or_default().to_owned(),
            rounds: self.rounds,
            asked: self.searches,
            given: Vec::new(),
        }
    }

    /// Says how long the comparison takes, because it takes longer than the answers.
    fn announce(&self, judgings: &[(Goal, Vec<Judging>)], ended: &[Ended]) {
        let cases = judgings.iter().flat_map(|(_, judgings)| judgings);
        let cases: Vec<&Case> = cases.flat_map(|judging| &judging.cases).collect();
        let seconds: f64 = cases.iter().map(|case| sample_s(case, ended)).sum();
        println!(
            "{} cases in {} rounds: about {:.0} min",
            cases.len(),
            self.rounds,
            seconds * f64::from(self.rounds) / 60.0
        );
    }
}

/// About how long a sample of the case takes with everything around it. One that was never measured is like the others.
fn sample_s(case: &Case, ended: &[Ended]) -> f64 {
    let mut own = Vec::new();
    let mut all = Vec::new();
    let mut took_s = 0.0;
    for Ended { export, took } in ended {
        took_s += took.as_secs_f64();
        for other in measured(export).unwrap_or_default() {
            let times = other.times(Clock::Total);
            let seconds = times.iter().map(|(_, time_ns)| time_ns / 1e9);
            if other.case == *case {
                own.extend(seconds.clone());
            }
            all.extend(seconds);
        }
    }
    let around_s = (took_s - all.iter().sum::<f64>()) / as_f64(all.len().max(1) as u64);
    around_s + median(&own).or_else(|| median(&all)).unwrap_or(0.0)
}

pub(super) fn rounded(ratio: f64) -> f64 {
    (ratio * 1000.0).round() / 1000.0
}
