use std::collections::HashMap;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use writebench_model::{Axis, Bytes, Case};
use writebench_stats::Interval;

use super::promise::{self, Advice};
use crate::command::printed;
use crate::export::{Clock, Measured, measured};
use crate::program::{Bench, exported, exported_from};
use crate::target::{Targets, described};

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    targets: Targets,
    /// Goal of the search
    #[arg(long = "for", default_value = "stream")]
    goal: String,
    /// Size of the file [default: that of the search]
    #[arg(long)]
    size: Option<Bytes>,
    /// Samples of each candidate in the full grid. 0 skips the grid and only compares the searches
    #[arg(long, default_value_t = 6)]
    samples: u32,
    /// Searches on each target
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    searches: u32,
    /// The divisor of the grid's time that gives a search's budget
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    part: u32,
}

const TOLERANCE: f64 = 0.03;

const ROUNDS: u32 = 120;

/// Returns whether at most one of ten answers is proven to be outside the tolerance, and as few promises are
/// broken.
pub(crate) fn run(options: &Options) -> Result<bool> {
    /// For a copy of 1 GiB, its source and metadata.
    const IMAGE_SIZE: Bytes = Bytes(4 << 30);
    options.targets.each("advice", IMAGE_SIZE, |bench| {
        println!("\n{}", described(bench.target));
        options.validate(bench)
    })
}

impl Options {
    fn validate(&self, bench: Bench<'_>) -> Result<bool> {
        let Options { size, samples, searches, part, .. } = *self;
        let mut found = HashMap::<Case, u32>::new();
        let (mut budget, mut grid_s) = (None, None);
        if samples > 0 {
            let candidates = self.candidates(bench)?;
            let start = Instant::now();
            let grid = run_cases(bench, &candidates, samples)?;
            let time = start.elapsed();
            let (count, best, seconds) = (candidates.len(), &grid[0].case, time.as_secs_f64());
            println!("grid: {count} candidates × {samples} samples in {seconds:.0} s, fastest: {best}");
            found.insert(best.clone(), 0);
            (budget, grid_s) = (Some(time / part), Some(seconds));
        }
        // Searches of a user know the earlier ones.
        let scratch = tempfile::tempdir().context("a folder for the database")?;
        let (mut answers, mut search_s) = (Vec::new(), 0.0);
        for number in 1..=searches {
            let mut command = self.advise(bench);
            if let Some(budget) = budget {
                command.args(["--budget", &format!("{}ms", budget.as_millis())]);
            }
            let start = Instant::now();
            let export = exported_from(command, &scratch.path().join("db"))?;
            let seconds = start.elapsed().as_secs_f64();
            search_s += seconds / f64::from(searches);
            let advice = Advice::deserialize(&export["advice"]).context("the search ended without advice")?;
            let mut recommended = Case::parse(&advice.recommended)?;
            if let Some(size) = size {
                // A small budget may have allowed only smaller files in the final.
                recommended = recommended.with(Axis::Size, &size.to_string())?;
            }
            let written = Bytes(export["run"]["written_bytes"].as_u64().unwrap_or(0)).approximate();
            let gain = advice.gain.as_ref().map_or(String::new(), |gain| format!(", {:.2} ×", gain.times));
            println!("search {number}: {seconds:.0} s, {written} written: {recommended}{gain}");
            answers.push(advice);
            *found.entry(recommended).or_default() += 1;
        }
        if let Some(grid_s) = grid_s {
            let ratio = grid_s / search_s;
            println!("a search took {search_s:.0} s, a part of 1/{ratio:.0} of the grid's time");
        }
        let broken = promise::broken(bench, &answers)?;
        let is_kept = self.is_rare(broken);
        if found.len() == 1 {
            println!("searches within 3 %: {searches} of {searches}, all equal");
            return Ok(is_kept);
        }
        Ok(self.side_by_side(bench, &found)? && is_kept)
    }

    fn is_rare(&self, searches: u32) -> bool {
        searches <= self.searches / 10
    }

    fn side_by_side(&self, bench: Bench<'_>, found: &HashMap<Case, u32>) -> Result<bool> {
        let names: Vec<Case> = found.keys().cloned().collect();
        let cases = run_cases(bench, &names, ROUNDS)?;
        let (mut near, mut far) = (0, 0);
        let searches = self.searches;
        println!("side by side, {ROUNDS} rounds: time / time of the fastest of these");
        for case in &cases {
            let Interval { estimate, low, high, .. } =
                case.ratio(&cases[0], Clock::Total).context("no rounds in common")?;
            let times = found.get(&case.case).copied().unwrap_or(0);
            let verdict = if low > 1.0 + TOLERANCE {
                far += times;
                "slower by more than 3 %"
            } else if estimate > 1.0 + TOLERANCE {
                "not distinguishable from 3 %"
            } else {
                near += times;
                "within 3 %"
            };
            println!(
                "  {estimate:.3} [{low:.3}, {high:.3}] {verdict}: {}, in {times} of {searches}",
                case.case
            );
        }
        println!("searches within 3 %: {near} of {searches}, slower by more than 3 %: {far}");
        Ok(self.is_rare(far))
    }

    fn advise(&self, bench: Bench<'_>) -> Command {
        let mut command = bench.advise();
        command.args(["--for", &self.goal]);
        if let Some(size) = self.size {
            command.args(["--size", &size.to_string()]);
        }
        command
    }

    fn candidates(&self, bench: Bench<'_>) -> Result<Vec<Case>> {
        let mut command = self.advise(bench);
        let text = printed(command.args(["--dry-run", "--quiet"]))?;
        // The last line is the sum.
        let names = text.lines().rev().skip(1);
        let cases = names.map(|name| Case::parse(name).context("a candidate is not a case"));
        let cases: Vec<Case> = cases.collect::<Result<_>>()?;
        ensure!(!cases.is_empty(), "the dry run names no candidates");
        Ok(cases)
    }
}

/// The fastest is first.
fn run_cases(bench: Bench<'_>, cases: &[Case], samples: u32) -> Result<Vec<Measured>> {
    let mut cases = measured(&exported(bench.run(cases, samples))?)?;
    ensure!(cases.len() > 1, "fewer than two cases have results");
    cases.sort_by(|a, b| a.value_ns.total_cmp(&b.value_ns));
    Ok(cases)
}
