//! `cargo xtask validate advise`: does a search find what measuring everything finds, in a fraction of the time?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use writebench_model::Bytes;
use writebench_stats::Interval;

use super::order::Order;
use crate::command::{output, shown};
use crate::program;
use crate::target::{described, memory_and_disk};

/// Where, how large and how often.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `advice` of cargo's target directory]
    targets: Vec<PathBuf>,
    /// Purpose of the search
    #[arg(long = "for", default_value = "stream")]
    purpose: String,
    /// Size of the file
    #[arg(long, default_value = "256MiB")]
    size: Bytes,
    /// Samples of each candidate in the full grid
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Searches on each target
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    searches: u32,
    /// What part of the grid's time a search gets
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    part: u32,
}

/// How much slower than the best of the grid a recommendation may be.
const TOLERANCE: f64 = 0.03;

/// Rounds of the best of the grid beside what was recommended.
const ROUNDS: u32 = 15;

/// Measures the grid, searches, and measures what both came to side by side; whether every recommendation was within
/// the tolerance.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let targets = memory_and_disk(&options.targets, "advice")?;
    let program = program::build()?;
    let mut good = true;
    for target in &targets {
        println!("\n{}", described(target));
        good &= Search { program: &program, target, options }.validate()?;
    }
    Ok(good)
}

struct Search<'s> {
    program: &'s Path,
    target: &'s Path,
    options: &'s Options,
}

impl Search<'_> {
    fn validate(&self) -> Result<bool> {
        let Options { samples, searches, part, .. } = *self.options;
        let candidates = self.candidates()?;
        let start = Instant::now();
        let grid = self.run_cases(&candidates, samples)?;
        let grid_time = start.elapsed();
        let best = &grid.cases[0].id;
        let (count, seconds) = (candidates.len(), grid_time.as_secs_f64());
        println!("grid: {count} candidates × {samples} samples in {seconds:.0} s; fastest: {best}");
        // Of each answer, how often it was given.
        let mut found = BTreeMap::<String, u32>::new();
        for number in 1..=searches {
            let mut command = self.advise();
            command.args(["--budget", &format!("{}ms", (grid_time / part).as_millis())]);
            let start = Instant::now();
            let advice = &program::exported(command)?["advice"];
            let seconds = start.elapsed().as_secs_f64();
            let recommended = advice["recommended"].as_str().context("the search ended without advice")?;
            let written = Bytes(advice["bytes_written"].as_u64().unwrap_or(0)).approximate();
            println!("search {number}: {seconds:.0} s, {written} written: {recommended}");
            *found.entry(recommended.to_owned()).or_default() += 1;
        }
        let same = found.remove(best).unwrap_or(0);
        let are_good = found.is_empty() || self.side_by_side(best, &found)?;
        println!("  the grid's fastest itself, in {same} of {searches}");
        Ok(are_good)
    }

    /// Measures what was recommended in the same rounds as the grid's fastest; whether all of it is within the tolerance.
    fn side_by_side(&self, best: &String, others: &BTreeMap<String, u32>) -> Result<bool> {
        let names: Vec<String> = [best].into_iter().chain(others.keys()).cloned().collect();
        let order = self.run_cases(&names, ROUNDS)?;
        let case = |name: &str| order.case(name).with_context(|| format!("{name} was not measured"));
        let mut are_good = true;
        println!("side by side, {ROUNDS} rounds: time / time of the grid's fastest");
        for (name, times) in others {
            let Interval { estimate, low, high, .. } =
                case(name)?.ratio(case(best)?).context("no rounds in common")?;
            let is_good = estimate <= 1.0 + TOLERANCE;
            are_good &= is_good;
            let verdict = if is_good { "within 3 %" } else { "slower by more than 3 %" };
            let searches = self.options.searches;
            println!("  {estimate:.3} [{low:.3}, {high:.3}] {verdict}: {name}, in {times} of {searches}");
        }
        Ok(are_good)
    }

    fn advise(&self) -> Command {
        let mut command = Command::new(self.program);
        command.arg("advise").arg(self.target).args(["--for", &self.options.purpose]);
        command.args(["--size", &self.options.size.to_string()]);
        command
    }

    fn candidates(&self) -> Result<Vec<String>> {
        let mut command = self.advise();
        command.args(["--dry-run", "--quiet"]);
        let text = String::from_utf8(output(&mut command)?.stdout)?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.pop();
        if lines.is_empty() {
            bail!("{} names no candidates", shown(&command));
        }
        Ok(lines)
    }

    fn run_cases(&self, cases: &[String], samples: u32) -> Result<Order> {
        let mut command = Command::new(self.program);
        command.arg("run").arg(self.target).args(["--samples", &samples.to_string()]);
        for case in cases {
            command.args(["--case", case]);
        }
        Order::of_export(&program::exported(command)?)
    }
}
