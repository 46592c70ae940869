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
    /// Over plain write.
    pub(super) gains: Vec<f64>,
    /// The time over that of the fastest case, less 1. The fastest of many is so by chance. So one half of the
    /// rounds chooses it, and the other half measures it.
    pub(super) regrets: Vec<f64>,
    /// The time of each case with one choice less, over that of the first answer.
    pub(super) steps: BTreeMap<String, f64>,
}

/// Returns whether at most one of ten searches is proven to be outside the tolerance, and as few promises are
/// broken. The first answer promises nothing.
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
        let grid = |name| {
            self.folder
                .read()?
                .remove(name)
                .with_context(|| format!("no such environment in {}", self.folder.path().display()))
        };
        let mut grid = self.name.as_ref().map(grid).transpose()?;
        // Searches of a user know the earlier ones.
        let scratch = tempfile::tempdir().context("a folder for the databases")?;
        let database = |number: u32| if self.goal.is_some() { 1 } else { number }.to_string();
        let searches = 1..=self.searches;
        let exports =
            searches.map(|number| self.search(bench, &scratch.path().join(database(number))));
        let exports: Vec<Value> = exports.collect::<Result<_>>()?;
        let mut most_far = 0;
        for &goal in self.goal.as_ref().map_or(Goal::USUAL, slice::from_ref) {
            let cases = exports
                .iter()
                .filter_map(|export| recommended(export, goal).transpose());
            let cases: Vec<Case> = cases.collect::<Result<_>>()?;
            ensure!(
                self.goal.is_none() || cases.len() == exports.len(),
                "a search ended without advice"
            );
            if cases.is_empty() {
                continue;
            }
            println!("{goal}: time / time of the fastest, {} rounds", self.rounds);
            let (answer, far) = self.check(bench, goal, &cases, grid.as_ref())?;
            println!("{goal}: {answer:?}");
            most_far = most_far.max(far);
            grid.as_mut()
                .map(|grid| grid.answers.insert(goal.name().to_owned(), answer));
        }
        if let Some((name, grid)) = self.name.as_ref().zip(grid) {
            self.folder.write(name, grid)?;
        }
        let is_rare = |searches: u32| searches <= self.searches / 10;
        Ok(self.goal.is_none() || is_rare(promise::broken(bench, &exports)?) && is_rare(most_far))
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
            command.args(
                value
                    .map(|value| [name.to_owned(), value])
                    .into_iter()
                    .flatten(),
            );
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

    /// Measures the answers, plain write, the best of the grid, and all cases with one choice less. Also returns
    /// the number of answers proven to be outside the tolerance.
    fn check(
        &self,
        bench: Bench<'_>,
        goal: Goal,
        answers: &[Case],
        grid: Option<&Grid<Gains>>,
    ) -> Result<(Answer, u32)> {
        // A small budget may have allowed only smaller files in the final.
        let size = self.size.map_or_else(
            || answers[0].axes().get(Axis::Size),
            |size| size.to_string(),
        );
        let space = Space::for_goal(goal, &[(Axis::Size, vec![size.clone()])])?;
        let sized: Vec<Case> = answers
            .iter()
            .map(|case| case.with(Axis::Size, &size))
            .collect::<Result<_, _>>()?;
        let simpler = sized[0].simplifications(&space.baseline);
        let best = grid
            .and_then(|grid| grid.goals.get(goal.name()))
            .map(ranked)
            .unwrap_or_default();
        let contract = space.baseline.contract();
        let of_grid = |name: &String| {
            let is_same =
                |case: &&Case| short_name(goal, case) == *name && case.contract() == contract;
            space.others.iter().find(is_same).cloned()
        };
        let mut cases = vec![space.baseline.clone()];
        for case in sized
            .iter()
            .chain(&simpler)
            .cloned()
            .chain(best.iter().filter_map(of_grid).take(BEST))
        {
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        let measured = measured(&exported(compared(bench.run(&cases, self.rounds)))?)?;
        let found = |wanted: &Case| result(&measured, wanted);
        let plain_ns = found(&space.baseline)?.value_ns;
        let answers: Vec<&Measured> = sized.iter().map(found).collect::<Result<_>>()?;
        let fastest = measured
            .iter()
            .min_by(|a, b| a.value_ns.total_cmp(&b.value_ns))
            .context("no results")?;
        let mut far = 0;
        for answer in &answers {
            let Interval {
                estimate,
                low,
                high,
                ..
            } = answer.ratio(fastest, Clock::Total)?;
            let [is_far, may_be_far] = [low, estimate].map(|ratio| ratio > 1.0 + TOLERANCE);
            let verdict = match (is_far, may_be_far) {
                (true, _) => "slower by more than 3 %",
                (_, true) => "not distinguishable from 3 %",
                _ => "within 3 %",
            };
            far += u32::from(is_far);
            println!(
                "  {estimate:.3} [{low:.3}, {high:.3}] {verdict}: {}",
                answer.case
            );
        }
        let steps = simpler
            .iter()
            .filter(|case| **case != space.baseline)
            .filter_map(|case| {
                Some((
                    short_name(goal, case),
                    rounded(found(case).ok()?.value_ns / answers[0].value_ns),
                ))
            });
        let answer = Answer {
            size,
            cases: sized.iter().map(|case| short_name(goal, case)).collect(),
            gains: answers
                .iter()
                .map(|answer| rounded(plain_ns / answer.value_ns))
                .collect(),
            regrets: regrets(&measured, &sized)?,
            steps: steps.collect(),
        };
        Ok((answer, far))
    }
}

/// Of a search, or of the first answer.
fn recommended(export: &Value, goal: Goal) -> Result<Option<Case>> {
    let title = Space::for_goal(goal, &[])?.title;
    let cases = export["cases"]
        .as_array()
        .context("an export without cases")?;
    let is_of_goal = |name: &Value| {
        cases
            .iter()
            .any(|case| case["name"] == *name && case["section"] == *title)
    };
    let findings = export["findings"]
        .as_array()
        .context("an export without findings")?;
    let finding = findings
        .iter()
        .map(|finding| &finding["case"])
        .find(|name| is_of_goal(name));
    let name = export["advice"]["recommended"]
        .as_str()
        .or_else(|| finding?.as_str());
    Ok(name.map(Case::parse).transpose()?)
}

/// The mean over both halves of the rounds.
fn regrets(measured: &[Measured], answers: &[Case]) -> Result<Vec<f64>> {
    let half = |remainder: u32| {
        let in_half = |case: &Measured| {
            let mut times = case.times(Clock::Total);
            times.retain(|(round, _)| round % 2 == remainder);
            times
        };
        let rounds = Rounds::fit(&measured.iter().map(in_half).collect::<Vec<_>>());
        (0..measured.len())
            .map(|case| rounds.value(case).map(f64::ln))
            .collect::<Option<Vec<f64>>>()
    };
    let halves = [
        half(0).context("too few rounds")?,
        half(1).context("too few rounds")?,
    ];
    let fastest = |half: &Vec<f64>| {
        (0..half.len())
            .min_by(|&a, &b| half[a].total_cmp(&half[b]))
            .unwrap_or(0)
    };
    let [first, second] = [fastest(&halves[1]), fastest(&halves[0])];
    let regret = |answer: &Case| {
        let index = measured
            .iter()
            .position(|case| case.case == *answer)
            .context("an answer has no result")?;
        let difference = halves[0][index] - halves[0][first] + halves[1][index] - halves[1][second];
        Ok(rounded((difference / 2.0).exp() - 1.0))
    };
    answers.iter().map(regret).collect()
}

pub(super) fn rounded(ratio: f64) -> f64 {
    (ratio * 1000.0).round() / 1000.0
}

pub(super) fn summary<'a>(
    answers: impl Iterator<Item = (&'a str, &'a str, &'a Answer)> + Clone,
) -> String {
    const NEAR: f64 = 0.05;
    /// The least gain by a choice, and the largest difference between equal answers.
    const SAME: f64 = 0.03;
    if answers.clone().next().is_none() {
        return String::new();
    }
    let share = |kept: &dyn Fn(&Answer) -> Vec<bool>| {
        let all: Vec<bool> = answers
            .clone()
            .flat_map(|(.., answer)| kept(answer))
            .collect();
        format!(
            "{} of {}",
            all.iter().filter(|is_kept| **is_kept).count(),
            all.len()
        )
    };
    let near = share(&|answer| {
        answer
            .regrets
            .iter()
            .map(|regret| *regret <= NEAR)
            .collect()
    });
    let alike = share(&|answer| {
        let least = answer.regrets.iter().copied().fold(f64::INFINITY, f64::min);
        let most = answer.regrets.iter().copied().fold(0.0, f64::max);
        let is_same = answer.cases.iter().all(|case| *case == answer.cases[0]);
        vec![is_same || (1.0 + most) / (1.0 + least) <= 1.0 + SAME]
    });
    let minimal = share(&|answer| {
        answer
            .steps
            .values()
            .map(|step| *step >= 1.0 + SAME)
            .collect()
    });
    let mut text = format!(
        include_str!("answers.md"),
        near_limit = NEAR * 100.0,
        same_limit = SAME * 100.0,
        near = near,
        alike = alike,
        minimal = minimal,
    );
    for (environment, goal, answer) in answers {
        let gains: Vec<_> = answer
            .gains
            .iter()
            .map(|gain| format!("{gain:.2}"))
            .collect();
        let regrets: Vec<_> = answer
            .regrets
            .iter()
            .map(|regret| format!("{:.0} %", regret * 100.0))
            .collect();
        let (gains, regrets, case) = (gains.join(", "), regrets.join(", "), &answer.cases[0]);
        text += &format!(
            "| {environment} | {goal} | {} | {gains} | {regrets} | `{case}` |\n",
            answer.size
        );
    }
    text
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
        let text = summary([("ext4", "stream", &answer)].into_iter());
        for line in [
            "- within 5 % of the fastest: 2 of 3\n",
            "- the same each time, or within 3 %: 0 of 1\n",
            "- a choice less costs 3 % or more: 1 of 2\n",
            "| ext4 | stream | 32MiB | 2.00, 1.90, 2.00 | 0 %, 6 %, 0 % | `a` |\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(summary(std::iter::empty()), "");
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
