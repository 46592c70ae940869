//! Answers are judged in common rounds with what could be better or simpler.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use writebench_model::{Axis, Case, Goal, Space};
use writebench_stats::{Interval, Rounds};

use super::given::Given;
use super::record::{Answer, Bound};
use super::{BEST, rounded};
use crate::export::{Clock, Measured, measured, result};
use crate::grid::Grid;
use crate::grid::choice::{Gains, TOLERANCE};
use crate::grid::stages::{ranked, short_name};
use crate::program::{Bench, compared, exported};

/// The answers to one goal with files of one size, and the cases that are measured in the same rounds.
pub(super) struct Judging {
    goal: Goal,
    plain: Case,
    answers: Vec<Given>,
    pub(super) cases: Vec<Case>,
}

impl Judging {
    /// Each answer is judged at its own size. The sizes are in the order of their first answer.
    pub(super) fn of(
        goal: Goal,
        answers: Vec<Given>,
        grid: Option<&Grid<Gains>>,
    ) -> Result<Vec<Self>> {
        let mut sizes: Vec<(String, Vec<Given>)> = Vec::new();
        for answer in answers {
            let size = answer.size();
            match sizes.iter_mut().find(|(known, _)| *known == size) {
                Some((_, answers)) => answers.push(answer),
                None => sizes.push((size, vec![answer])),
            }
        }
        sizes
            .into_iter()
            .map(|(size, answers)| Self::at(goal, &size, answers, grid))
            .collect()
    }

    /// Measured are plain write, the answers, their forms with one choice less, the fastest other case of each
    /// answer's contest, and the best of the grid.
    fn at(goal: Goal, size: &str, answers: Vec<Given>, grid: Option<&Grid<Gains>>) -> Result<Self> {
        let space = Space::for_goal(goal, &[(Axis::Size, vec![size.to_owned()])])?;
        let mut cases = vec![space.baseline.clone()];
        cases.extend(answers.iter().map(|answer| answer.case.clone()));
        for answer in &answers {
            cases.extend(answer.case.simplifications(&space.baseline));
            cases.extend(answer.compared.first().cloned());
        }
        cases.extend(grid.iter().flat_map(|grid| best_of(grid, goal, &space)));
        Ok(Self {
            goal,
            plain: space.baseline,
            answers,
            cases: distinct(cases),
        })
    }

    /// Measures all cases in so many rounds.
    pub(super) fn measure(self, bench: Bench<'_>, rounds: u32) -> Result<Judged> {
        let run = compared(bench.run(&self.cases, rounds));
        Ok(Judged {
            measured: measured(&exported(run)?)?,
            judging: self,
        })
    }
}

fn distinct(cases: Vec<Case>) -> Vec<Case> {
    let mut distinct: Vec<Case> = Vec::new();
    for case in cases {
        if !distinct.contains(&case) {
            distinct.push(case);
        }
    }
    distinct
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

/// What the common rounds say.
pub(super) struct Judged {
    judging: Judging,
    measured: Vec<Measured>,
}

impl Judged {
    /// Returns the number of answers proven to be outside the tolerance.
    pub(super) fn print_far(&self) -> Result<u32> {
        let fastest = self
            .measured
            .iter()
            .min_by(|a, b| a.value_ns.total_cmp(&b.value_ns))
            .context("no results")?;
        let mut far = 0;
        for Given { case, .. } in &self.judging.answers {
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

    pub(super) fn answers(&self) -> Result<Vec<Answer>> {
        let halves = Halves::of(&self.measured)?;
        self.judging
            .answers
            .iter()
            .map(|given| self.answer(given, &halves))
            .collect()
    }

    fn answer(&self, given: &Given, halves: &Halves) -> Result<Answer> {
        let own = self.place(&given.case).context("an answer has no result")?;
        let all: Vec<usize> = (0..self.measured.len()).collect();
        let mut compared = vec![own];
        compared.extend(given.compared.iter().filter_map(|case| self.place(case)));
        let bound = Bound {
            printed: rounded(given.bound),
            loss: rounded(halves.loss(own, &compared)),
            least_loss: rounded(self.least_loss(own, &compared, halves)?),
        };
        let plain_ns = result(&self.measured, &self.judging.plain)?.value_ns;
        Ok(Answer {
            size: given.size(),
            case: self.name(&given.case),
            as_good: given.as_good.iter().map(|case| self.name(case)).collect(),
            gain: rounded(plain_ns / self.measured[own].value_ns),
            regret: rounded(halves.loss(own, &all)),
            bound: Some(bound),
            steps: self.steps(given)?,
        })
    }

    fn place(&self, case: &Case) -> Option<usize> {
        self.measured
            .iter()
            .position(|measured| measured.case == *case)
    }

    fn name(&self, case: &Case) -> String {
        short_name(self.judging.goal, case)
    }

    /// The lower end of the interval of the loss. One half of the rounds chooses the fastest case, and the other has
    /// the interval.
    fn least_loss(&self, own: usize, among: &[usize], halves: &Halves) -> Result<f64> {
        let rival = halves.fastest_of_even(among);
        if rival == own {
            return Ok(0.0);
        }
        let times = [own, rival].map(|place| times_of_half(&self.measured[place], 1));
        let rounds = Rounds::fit(&times);
        let ratio = rounds.ratio(0, (&rounds, 1)).context("too few rounds")?;
        Ok(ratio.low - 1.0)
    }

    /// The simpler forms of the answer with their time over its own, and plain write.
    fn steps(&self, given: &Given) -> Result<BTreeMap<String, f64>> {
        let plain = &self.judging.plain;
        if given.case == *plain {
            return Ok(BTreeMap::new());
        }
        let own_ns = result(&self.measured, &given.case)?.value_ns;
        let mut steps = BTreeMap::new();
        for case in given.case.simplifications(plain).iter().chain([plain]) {
            // A simpler case may have failed.
            if let Ok(simpler) = result(&self.measured, case) {
                steps.insert(self.name(case), rounded(simpler.value_ns / own_ns));
            }
        }
        Ok(steps)
    }
}

/// The logarithms of the cases' times in the even and in the odd rounds. The fastest of many is so by chance. So one
/// half chooses it, and the other half measures it.
struct Halves {
    even: Vec<f64>,
    odd: Vec<f64>,
}

impl Halves {
    fn of(measured: &[Measured]) -> Result<Self> {
        Ok(Self {
            even: logarithms(measured, 0).context("too few rounds")?,
            odd: logarithms(measured, 1).context("too few rounds")?,
        })
    }

    /// The time over that of the fastest, less 1: the mean of both halves.
    fn loss(&self, own: usize, among: &[usize]) -> f64 {
        let in_even = self.even[own] - self.even[fastest(&self.odd, among)];
        let in_odd = self.odd[own] - self.odd[fastest(&self.even, among)];
        f64::midpoint(in_even, in_odd).exp() - 1.0
    }

    fn fastest_of_even(&self, among: &[usize]) -> usize {
        fastest(&self.even, among)
    }
}

fn logarithms(measured: &[Measured], remainder: u32) -> Option<Vec<f64>> {
    let times: Vec<_> = measured
        .iter()
        .map(|case| times_of_half(case, remainder))
        .collect();
    let rounds = Rounds::fit(&times);
    (0..measured.len())
        .map(|case| rounds.value(case).map(f64::ln))
        .collect()
}

/// Takes every second round.
fn times_of_half(measured: &Measured, remainder: u32) -> Vec<(u32, f64)> {
    let mut times = measured.times(Clock::Total);
    times.retain(|(round, _)| round % 2 == remainder);
    times
}

/// The first of equal ones.
fn fastest(logarithms: &[f64], among: &[usize]) -> usize {
    let fastest = among
        .iter()
        .min_by(|&&a, &&b| logarithms[a].total_cmp(&logarithms[b]));
    fastest.copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use writebench_model::{PhasesNs, Sample};

    use super::*;

    fn case(name: &str) -> Case {
        Case::parse(name).unwrap()
    }

    fn measured(name: &str, times: &[u64]) -> Measured {
        let sample = |(round, &time): (u32, &u64)| Sample {
            round,
            phases_ns: PhasesNs {
                write: time,
                ..PhasesNs::default()
            },
            ..Sample::default()
        };
        Measured {
            case: case(name),
            value_ns: times[0] as f64,
            limit_share: None,
            samples: (0..).zip(times).map(sample).collect(),
        }
    }

    fn given(name: &str, bound: f64, compared: &[&str]) -> Given {
        Given {
            case: case(name),
            bound,
            as_good: Vec::new(),
            compared: compared.iter().map(|name| case(name)).collect(),
        }
    }

    #[test]
    fn a_case_fast_by_chance_in_half_of_the_rounds_adds_no_regret() {
        let measured = [
            measured("write", &[100; 6]),
            measured("pwrite", &[50, 100, 50, 100, 50, 100]),
            measured("mmap", &[200; 6]),
        ];
        let halves = Halves::of(&measured).unwrap();
        assert!(halves.loss(0, &[0, 1, 2]).abs() < 1e-9);
        assert!((halves.loss(2, &[0, 1, 2]) - 1.0).abs() < 1e-9);
        assert!(halves.loss(2, &[2]).abs() < 1e-9);
    }

    #[test]
    fn each_answer_is_judged_at_its_own_size() {
        let answers = vec![
            given(
                "write,size=16MiB,prepare=fallocate",
                0.01,
                &["mmap,size=16MiB"],
            ),
            given("write,size=64MiB", 0.01, &[]),
            given("pwrite,size=16MiB", 0.01, &["mmap,size=16MiB"]),
        ];
        let judgings = Judging::of(Goal::Stream, answers, None).unwrap();
        let names = |judging: &Judging| {
            let names: Vec<String> = judging.cases.iter().map(Case::to_string).collect();
            names
        };
        assert_eq!(
            names(&judgings[0]),
            [
                "write,size=16MiB",
                "write,size=16MiB,prepare=fallocate",
                "pwrite,size=16MiB",
                "mmap,size=16MiB"
            ]
        );
        assert_eq!(names(&judgings[1]), ["write,size=64MiB"]);
        assert_eq!(judgings.len(), 2);
    }

    #[test]
    fn a_bound_is_judged_among_the_compared_cases_and_a_regret_among_all() {
        let size = ",size=64MiB";
        let own = format!("write{size},prepare=fallocate");
        let rival = format!("pwrite{size}");
        let judging = Judging {
            goal: Goal::Stream,
            plain: case(&format!("write{size}")),
            answers: vec![given(&own, 0.02, &[&rival, "splice,size=64MiB"])],
            cases: Vec::new(),
        };
        let judged = Judged {
            judging,
            measured: vec![
                measured(&format!("write{size}"), &[200; 20]),
                measured(&own, &[110; 20]),
                measured(&rival, &[100; 20]),
                measured(&format!("mmap{size}"), &[55; 20]),
            ],
        };
        let answers = judged.answers().unwrap();
        let answer = &answers[0];
        let bound = answer.bound.unwrap();
        assert_eq!(
            (bound.printed, bound.loss, bound.least_loss),
            (0.02, 0.1, 0.1)
        );
        assert_eq!((answer.regret, answer.gain), (1.0, 1.818));
        assert_eq!(answer.steps, BTreeMap::from([("write".to_owned(), 1.818)]));
        assert_eq!(judged.print_far().unwrap(), 1);
    }
}
