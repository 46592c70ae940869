//! `cargo xtask validate advise`: does a search find what measuring everything finds, in a fraction of the time?

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use writebench_model::Bytes;

use crate::command::{metadata, output, shown};
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

/// A search's answer.
struct Found {
    recommended: String,
    seconds: f64,
    bytes_written: u64,
}

/// Measures the grid, searches, and measures what both came to side by side; whether every recommendation was within
/// the tolerance.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let target_directory = metadata()?.target_directory.into_std_path_buf();
    let targets = memory_and_disk(&options.targets, &target_directory.join("advice"))?;
    let program = program::build(&target_directory)?;
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
        let candidates = self.candidates()?;
        let (best, grid_time) = self.grid(&candidates)?;
        println!(
            "grid: {} candidates × {} samples in {:.0} s; fastest: {best}",
            candidates.len(),
            self.options.samples,
            grid_time.as_secs_f64()
        );
        let budget = grid_time / self.options.part;
        let mut found = Vec::new();
        for number in 1..=self.options.searches {
            let answer = self.search(budget)?;
            println!(
                "search {number}: {:.0} s, {} written: {}",
                answer.seconds,
                Bytes(answer.bytes_written).approximate(),
                answer.recommended
            );
            found.push(answer.recommended);
        }
        let mut different = vec![best.clone()];
        for name in &found {
            if !different.contains(name) {
                different.push(name.clone());
            }
        }
        let side_by_side = self.run_cases(&different, ROUNDS)?;
        let best_ns = by_round(&side_by_side, &best)?;
        let mut good = true;
        println!("side by side, {ROUNDS} rounds: time / time of the grid's fastest");
        for name in &different[1..] {
            let ratio = ratio(&by_round(&side_by_side, name)?, &best_ns).context("no rounds in common")?;
            let is_good = ratio.estimate <= 1.0 + TOLERANCE;
            good &= is_good;
            let times = found.iter().filter(|it| *it == name).count();
            let verdict = if is_good { "within 3 %" } else { "slower by more than 3 %" };
            println!(
                "  {:.3} [{:.3}, {:.3}] {verdict}: {name}, in {times} of {}",
                ratio.estimate,
                ratio.low,
                ratio.high,
                found.len()
            );
        }
        let same = found.iter().filter(|name| **name == best).count();
        println!("  the grid's fastest itself, in {same} of {}", found.len());
        Ok(good)
    }

    fn candidates(&self) -> Result<Vec<String>> {
        let mut command = Command::new(self.program);
        command.arg("advise").arg(self.target).args(["--for", &self.options.purpose, "--dry-run", "--quiet"]);
        command.args(["--size", &self.options.size.to_string()]);
        let text = String::from_utf8(output(&mut command)?.stdout)?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.pop();
        if lines.is_empty() {
            bail!("{} names no candidates", shown(&command));
        }
        Ok(lines)
    }

    /// The fastest of all, and how long that took.
    fn grid(&self, candidates: &[String]) -> Result<(String, Duration)> {
        let start = Instant::now();
        let document = self.run_cases(candidates, self.options.samples)?;
        let elapsed = start.elapsed();
        let cases = document["cases"].as_array().context("cases")?;
        let time = |case: &Value| case["estimate"]["total_ns"]["median"].as_f64();
        let timed =
            cases.iter().filter(|case| case["outcome"] == "ok").filter_map(|case| Some((time(case)?, case)));
        let (_, best) = timed.min_by(|a, b| a.0.total_cmp(&b.0)).context("no candidate has a figure")?;
        Ok((best["id"].as_str().context("a name")?.to_owned(), elapsed))
    }

    fn search(&self, budget: Duration) -> Result<Found> {
        let mut command = Command::new(self.program);
        command.arg("advise").arg(self.target).args(["--for", &self.options.purpose]);
        command.args(["--size", &self.options.size.to_string()]);
        command.args(["--budget", &format!("{}ms", budget.as_millis())]);
        let start = Instant::now();
        let document = program::exported(command)?;
        let seconds = start.elapsed().as_secs_f64();
        let advice = &document["advice"];
        let recommended = advice["recommended"].as_str().context("the search ended without advice")?.to_owned();
        Ok(Found { recommended, seconds, bytes_written: advice["bytes_written"].as_u64().unwrap_or(0) })
    }

    fn run_cases(&self, cases: &[String], samples: u32) -> Result<Value> {
        let mut command = Command::new(self.program);
        command.arg("run").arg(self.target).args(["--samples", &samples.to_string()]);
        for case in cases {
            command.args(["--case", case]);
        }
        program::exported(command)
    }
}

/// Time of all phases of a case's undisturbed samples, with their rounds.
fn by_round(document: &Value, name: &str) -> Result<Vec<(u64, f64)>> {
    let cases = document["cases"].as_array().context("cases")?;
    let case =
        cases.iter().find(|case| case["id"] == name).with_context(|| format!("{name} was not measured"))?;
    let samples = case["samples"].as_array().context("samples")?.iter();
    let calm = samples.filter(|sample| sample["outcome"] == "ok" && sample["disturbed"].is_null());
    Ok(calm.filter_map(|sample| Some((sample["round"].as_u64()?, sample["total_ns"].as_f64()?))).collect())
}

/// The median of the ratios in rounds in common.
fn ratio(case: &[(u64, f64)], best: &[(u64, f64)]) -> Option<writebench_stats::Interval> {
    let in_round = |round: u64| best.iter().rev().find(|(other, _)| *other == round).map(|(_, time)| *time);
    let ratios: Vec<f64> = case.iter().filter_map(|(round, time)| Some(time / in_round(*round)?)).collect();
    writebench_stats::median_interval(&ratios, 0.95)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_compared_in_the_rounds_that_they_have_in_common() {
        let case = [(0, 2.0), (1, 4.0), (2, 60.0), (4, 9.0)];
        let best = [(0, 1.0), (1, 2.0), (3, 7.0), (4, 4.5)];
        assert!((ratio(&case, &best).unwrap().estimate - 2.0).abs() < 1e-9);
        assert!(ratio(&case, &[(9, 1.0)]).is_none());
    }

    #[test]
    fn only_undisturbed_samples_count() {
        let text = r#"{"cases": [{"id": "write", "samples": [
            {"outcome": "ok", "disturbed": null, "round": 0, "total_ns": 5},
            {"outcome": "ok", "disturbed": "why", "round": 1, "total_ns": 6},
            {"outcome": "failed", "disturbed": null, "round": 2, "total_ns": 7}]}]}"#;
        let document: Value = serde_json::from_str(text).unwrap();
        assert_eq!(by_round(&document, "write").unwrap(), [(0, 5.0)]);
        assert!(by_round(&document, "pwrite").is_err());
    }
}
