//! Repeats a search, or the first answer. The answers are compared with each other, with simpler cases, and with
//! the best of the grid.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::slice;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use writebench_model::{Axis, Bytes, Case, Goal, Space};
use writebench_stats::{Interval, Rounds};

use super::choice::{Gains, TOLERANCE};
use super::stages::{ranked, short_name};
use super::{Folder, Grid, goal};
use crate::export::{Clock, Measured, measured, result};
use crate::program::{Bench, compared, exported, exported_from};
use crate::promise;
use crate::target::{Targets, described};

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    targets: Targets,
    /// Goal of the searches [default: the first answer, which has several goals]
    #[arg(long = "for", value_parser = goal)]
    goal: Option<Goal>,
    /// Size of the file [default: that of the search]
    #[arg(long)]
    size: Option<Bytes>,
    /// Time limit of each search, such as 5s [default: that of writebench]
    #[arg(long)]
    budget: Option<String>,
    /// Searches on each target
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    searches: u32,
    /// Rounds of the comparison
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(6..))]
    rounds: u32,
    /// Name of an environment in the folder, to compare with its best cases and to keep the answers
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    folder: Folder,
}

const BEST: usize = 3;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    size: String,
    pub(super) cases: Vec<String>,
    /// A gain is the time of plain write over that of the case.
    pub(super) gains: Vec<f64>,
    /// A regret is the time over that of the fastest case, less 1. The fastest of many is so by chance. So one half
    /// of the rounds chooses it, and the other half measures it.
    pub(super) regrets: Vec<f64>,
    /// A step is the time of a case with one choice less, over that of the first answer.
    pub(super) steps: BTreeMap<String, f64>,
}

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

impl Options {
    fn validate(&self, bench: Bench<'_>) -> Result<bool> {
        let mut grid = match &self.name {
            Some(name) => Some(self.folder.environment(name)?),
            None => None,
        };
        let exports = self.searches(bench)?;
        let mut most_far = 0;
        for &goal in self.goal.as_ref().map_or(Goal::USUAL, slice::from_ref) {
            let answers = self.answers(&exports, goal)?;
            if answers.is_empty() {
                continue;
            }
            println!("{goal}: time / time of the fastest, {} rounds", self.rounds);
            let comparison = self.compare(bench, goal, &answers, grid.as_ref())?;
            most_far = most_far.max(comparison.print_far()?);
            let answer = comparison.answer()?;
            println!("{goal}: {answer:?}");
            if let Some(grid) = &mut grid {
                grid.answers.insert(goal.name().to_owned(), answer);
            }
        }
        if let (Some(name), Some(grid)) = (&self.name, grid) {
            self.folder.write(name, grid)?;
        }
        // The first answer promises nothing.
        if self.goal.is_none() {
            return Ok(true);
        }
        let broken = promise::broken(bench, &exports)?;
        Ok(self.is_rare(broken) && self.is_rare(most_far))
    }

    fn is_rare(&self, searches: u32) -> bool {
        searches <= self.searches / 10
    }

    /// A user's searches know the earlier ones, and a first answer knows none.
    fn searches(&self, bench: Bench<'_>) -> Result<Vec<Value>> {
        let scratch = tempfile::tempdir().context("a folder for the databases")?;
        let mut exports = Vec::new();
        for number in 1..=self.searches {
            let database = if self.goal.is_some() { 1 } else { number };
            exports.push(self.search(bench, &scratch.path().join(database.to_string()))?);
        }
        Ok(exports)
    }

    fn search(&self, bench: Bench<'_>, database: &Path) -> Result<Value> {
        let mut command = Command::new(bench.program);
        command.arg("advise").arg(bench.target);
        let options = [
            ("--for", self.goal.map(|goal| goal.to_string())),
            ("--size", self.size.map(|size| size.to_string())),
            ("--budget", self.budget.clone()),
        ];
        for (name, value) in options {
            if let Some(value) = value {
                command.args([name, &value]);
            }
        }
        let start = Instant::now();
        let export = exported_from(command, database)?;
        let written = Bytes(export["run"]["written_bytes"].as_u64().unwrap_or(0)).approximate();
        println!(
            "a search: {:.0} s, {written} written",
            start.elapsed().as_secs_f64()
        );
        Ok(export)
    }

    fn answers(&self, exports: &[Value], goal: Goal) -> Result<Vec<Case>> {
        let mut answers = Vec::new();
        for export in exports {
            answers.extend(recommended(export, goal)?);
        }
        ensure!(
            self.goal.is_none() || answers.len() == exports.len(),
            "a search ended without advice"
        );
        Ok(answers)
    }

    fn compare(
        &self,
        bench: Bench<'_>,
        goal: Goal,
        answers: &[Case],
        grid: Option<&Grid<Gains>>,
    ) -> Result<Comparison> {
        // A small budget may have allowed only smaller files in the final.
        let size = match self.size {
            Some(size) => size.to_string(),
            None => answers[0].value(Axis::Size),
        };
        let space = Space::for_goal(goal, &[(Axis::Size, vec![size.clone()])])?;
        let mut sized = Vec::new();
        for case in answers {
            sized.push(case.with(Axis::Size, &size)?);
        }
        let simpler = sized[0].simplifications(&space.baseline);
        let best = grid.map(|grid| best_of(grid, goal, &space));
        let mut cases = vec![space.baseline.clone()];
        for case in sized.iter().chain(&simpler).chain(best.iter().flatten()) {
            if !cases.contains(case) {
                cases.push(case.clone());
            }
        }
        let run = compared(bench.run(&cases, self.rounds));
        Ok(Comparison {
            goal,
            size,
            plain: space.baseline,
            answers: sized,
            simpler,
            measured: measured(&exported(run)?)?,
        })
    }
}

/// The grid names cases without their size, and the space has that.
fn best_of(grid: &Grid<Gains>, goal: Goal, space: &Space) -> Vec<Case> {
    let Some(gains) = grid.goals.get(goal.name()) else {
        return Vec::new();
    };
    let workload = space.baseline.workload();
    let of_workload = |case: &&Case| case.workload() == workload;
    let mut best = Vec::new();
    for name in ranked(gains) {
        let mut cases = space.others.iter().filter(of_workload);
        best.extend(cases.find(|case| short_name(goal, case) == name).cloned());
    }
    best.truncate(BEST);
    best
}

/// The answers of one goal are measured in the same rounds as plain write, the best of the grid, and the first answer
/// with one choice less.
struct Comparison {
    goal: Goal,
    size: String,
    plain: Case,
    answers: Vec<Case>,
    simpler: Vec<Case>,
    measured: Vec<Measured>,
}

impl Comparison {
    /// Returns the number of answers proven to be outside the tolerance.
    fn print_far(&self) -> Result<u32> {
        let fastest = self
            .measured
            .iter()
            .min_by(|a, b| a.value_ns.total_cmp(&b.value_ns))
            .context("no results")?;
        let mut far = 0;
        for case in &self.answers {
            let Interval {
                estimate,
                low,
                high,
                ..
            } = result(&self.measured, case)?.ratio(fastest, Clock::Total)?;
            let verdict = if low > 1.0 + TOLERANCE {
                far += 1;
                "slower by more than 3 %"
            } else if estimate > 1.0 + TOLERANCE {
                "not distinguishable from 3 %"
            } else {
                "within 3 %"
            };
            println!("  {estimate:.3} [{low:.3}, {high:.3}] {verdict}: {case}");
        }
        Ok(far)
    }

    fn answer(&self) -> Result<Answer> {
        let plain_ns = result(&self.measured, &self.plain)?.value_ns;
        let mut gains = Vec::new();
        for case in &self.answers {
            gains.push(rounded(plain_ns / result(&self.measured, case)?.value_ns));
        }
        Ok(Answer {
            size: self.size.clone(),
            cases: self.answers.iter().map(|case| self.name(case)).collect(),
            gains,
            regrets: regrets(&self.measured, &self.answers)?,
            steps: self.steps()?,
        })
    }

    fn name(&self, case: &Case) -> String {
        short_name(self.goal, case)
    }

    fn steps(&self) -> Result<BTreeMap<String, f64>> {
        let first_ns = result(&self.measured, &self.answers[0])?.value_ns;
        let mut steps = BTreeMap::new();
        for case in self.simpler.iter().filter(|case| **case != self.plain) {
            // A simpler case may have failed.
            if let Ok(simpler) = result(&self.measured, case) {
                steps.insert(self.name(case), rounded(simpler.value_ns / first_ns));
            }
        }
        Ok(steps)
    }
}

/// A search has one recommendation, and the first answer has one for each goal.
fn recommended(export: &Value, goal: Goal) -> Result<Option<Case>> {
    let of_search = export["advice"]["recommended"].as_str();
    let name = match of_search {
        Some(name) => Some(name),
        None => first_answer(export, goal)?,
    };
    Ok(name.map(Case::parse).transpose()?)
}

fn first_answer(export: &Value, goal: Goal) -> Result<Option<&str>> {
    let title = Space::for_goal(goal, &[])?.title;
    let cases = export["cases"]
        .as_array()
        .context("an export without cases")?;
    let findings = export["findings"]
        .as_array()
        .context("an export without findings")?;
    let of_goal = cases.iter().filter(|case| case["section"] == *title);
    let finding = findings
        .iter()
        .map(|finding| &finding["case"])
        .find(|name| of_goal.clone().any(|case| case["name"] == **name));
    Ok(finding.and_then(Value::as_str))
}

/// A regret is the mean of both halves of the rounds.
fn regrets(measured: &[Measured], answers: &[Case]) -> Result<Vec<f64>> {
    let even = logarithms(measured, 0).context("too few rounds")?;
    let odd = logarithms(measured, 1).context("too few rounds")?;
    // The one half chooses the fastest case, and the other measures it.
    let fastest_of_odd = fastest(&odd);
    let fastest_of_even = fastest(&even);
    let mut regrets = Vec::new();
    for answer in answers {
        let index = measured
            .iter()
            .position(|case| case.case == *answer)
            .context("an answer has no result")?;
        let in_even = even[index] - even[fastest_of_odd];
        let in_odd = odd[index] - odd[fastest_of_even];
        regrets.push(rounded(((in_even + in_odd) / 2.0).exp() - 1.0));
    }
    Ok(regrets)
}

/// Takes every second round.
fn logarithms(measured: &[Measured], remainder: u32) -> Option<Vec<f64>> {
    let mut times = Vec::new();
    for case in measured {
        let mut in_half = case.times(Clock::Total);
        in_half.retain(|(round, _)| round % 2 == remainder);
        times.push(in_half);
    }
    let rounds = Rounds::fit(&times);
    (0..measured.len())
        .map(|case| rounds.value(case).map(f64::ln))
        .collect()
}

fn fastest(times: &[f64]) -> usize {
    (0..times.len())
        .min_by(|&a, &b| times[a].total_cmp(&times[b]))
        .unwrap_or(0)
}

pub(super) fn rounded(ratio: f64) -> f64 {
    (ratio * 1000.0).round() / 1000.0
}

/// A regret up to this counts as near.
const NEAR: f64 = 0.05;

/// The least gain by a choice, and the largest difference between equal answers.
const SAME: f64 = 0.03;

/// Each answer comes with its environment and its goal.
pub(super) fn summary(answers: &[(&str, &str, &Answer)]) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let mut text = format!(
        include_str!("answers.md"),
        near_limit = NEAR * 100.0,
        same_limit = SAME * 100.0,
        near = share(answers, Answer::are_near),
        alike = share(answers, |answer| vec![answer.is_the_same_each_time()]),
        minimal = share(answers, Answer::are_choices_worth_it),
    );
    for (environment, goal, answer) in answers {
        text += &answer.row(environment, goal);
    }
    text
}

/// Counts the claims that hold, as in `2 of 3`.
fn share(answers: &[(&str, &str, &Answer)], claims: impl Fn(&Answer) -> Vec<bool>) -> String {
    let all: Vec<bool> = answers
        .iter()
        .flat_map(|(.., answer)| claims(answer))
        .collect();
    let held = all.iter().filter(|holds| **holds).count();
    format!("{held} of {}", all.len())
}

impl Answer {
    fn are_near(&self) -> Vec<bool> {
        self.regrets.iter().map(|regret| *regret <= NEAR).collect()
    }

    fn is_the_same_each_time(&self) -> bool {
        let least = self.regrets.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.regrets.iter().copied().fold(0.0, f64::max);
        let is_same = self.cases.iter().all(|case| *case == self.cases[0]);
        is_same || (1.0 + most) / (1.0 + least) <= 1.0 + SAME
    }

    fn are_choices_worth_it(&self) -> Vec<bool> {
        let steps = self.steps.values();
        steps.map(|step| *step >= 1.0 + SAME).collect()
    }

    fn row(&self, environment: &str, goal: &str) -> String {
        let gains: Vec<_> = self.gains.iter().map(|gain| format!("{gain:.2}")).collect();
        let percent = |regret: &f64| format!("{:.0} %", regret * 100.0);
        let regrets: Vec<_> = self.regrets.iter().map(percent).collect();
        format!(
            "| {environment} | {goal} | {} | {} | {} | `{}` |\n",
            self.size,
            gains.join(", "),
            regrets.join(", "),
            self.cases[0]
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{PhasesNs, Sample};

    #[test]
    fn a_summary_counts_kept_promises() {
        let answer = Answer {
            size: "32MiB".to_owned(),
            cases: vec!["a".to_owned(), "b".to_owned(), "a".to_owned()],
            gains: vec![2.0, 1.9, 2.0],
            regrets: vec![0.0, 0.06, 0.0],
            steps: BTreeMap::from([("a-".to_owned(), 1.5), ("a--".to_owned(), 1.01)]),
        };
        let text = summary(&[("ext4", "stream", &answer)]);
        for line in [
            "- within 5 % of the fastest: 2 of 3\n",
            "- the same each time, or within 3 %: 0 of 1\n",
            "- a choice less costs 3 % or more: 1 of 2\n",
            "| ext4 | stream | 32MiB | 2.00, 1.90, 2.00 | 0 %, 6 %, 0 % | `a` |\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(summary(&[]), "");
    }

    #[test]
    fn a_case_fast_by_chance_in_half_of_the_rounds_adds_no_regret() {
        let case = |name: &str, times: &[u64]| {
            let sample = |(round, &time): (u32, &u64)| Sample {
                round,
                phases_ns: PhasesNs {
                    write: time,
                    ..PhasesNs::default()
                },
                ..Sample::default()
            };
            let samples = (0..).zip(times).map(sample).collect();
            Measured {
                case: Case::parse(name).unwrap(),
                value_ns: 1.0,
                limit_share: None,
                samples,
            }
        };
        let measured = [
            case("write", &[100; 6]),
            case("pwrite", &[50, 100, 50, 100, 50, 100]),
            case("mmap", &[200; 6]),
        ];
        let answers = [&measured[0], &measured[2]].map(|measured| measured.case.clone());
        assert_eq!(regrets(&measured, &answers).unwrap(), [0.0, 1.0]);
    }
}
