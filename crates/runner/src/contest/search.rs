//! The search for cases that are faster than the first ones of a contest.
//!
//! The limits pay for fewer samples than there are candidates. So a few dissimilar ones are measured first, and a
//! [`GaussianProcess`] forecasts the rest. Then each block has the candidates with the largest expected improvement
//! (Jones, Schonlau and Welch, *Efficient Global Optimization of Expensive Black-Box Functions*, Journal of Global
//! Optimization 1998). They are chosen one after the other as if those before were already measured (Desautels et
//! al., *Parallelizing Exploration-Exploitation Tradeoffs*, JMLR 2014).

use writebench_model::Case;
use writebench_stats::{GaussianProcess, Kernel, Observation, Point, as_f64, expected_improvement};

use super::Left;
use super::coordinates::coordinates;

/// What the samples say of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Known {
    Nothing,
    Failed,
    /// The logarithm of its time in a typical block, from so many samples.
    Time {
        log: f64,
        samples: usize,
    },
}

/// What the search knows of the candidates. Their numbers are places of the contest, which has them before any case that
/// joins later.
#[derive(Debug, Clone)]
pub(super) struct Search {
    points: Vec<Point>,
    kernel: Kernel,
    /// The number of observations from which the kernel was learnt.
    learnt_from: usize,
}

/// So many candidates are measured to learn which choices matter. They are as dissimilar as possible.
const EXPLORED: usize = 48;
/// The share of the limits at which the exploration ends, also with fewer candidates.
const EXPLORATION_SHARE: f64 = 0.25;
/// The candidates of a block. The leader is measured beside them.
const NEWCOMERS: usize = 6;
/// The search learns little from more samples of a candidate.
const MOST_SAMPLES: usize = 3;
/// The search ends if no candidate is expected to save this share of the time.
const LEAST_IMPROVEMENT: f64 = 0.00005;
/// The candidates that remain at its end.
const FINALISTS: usize = 8;
/// The samples of a final of nine cases that have one each, and need six.
const FINAL_SAMPLES: usize = 45;
/// The samples of each case in a final of few cases.
const ROUNDS: usize = writebench_stats::FEWEST_FOR_INTERVAL as usize;

impl Search {
    pub(super) fn among(cases: &[&Case]) -> Self {
        let points = coordinates(cases);
        let axes = points.first().map_or(0, Vec::len);
        Self {
            points,
            kernel: Kernel::unknown(axes),
            learnt_from: 0,
        }
    }

    /// How many candidates there are.
    pub(super) fn candidates(&self) -> usize {
        self.points.len()
    }

    /// The candidates that get a sample in the next block. There are none if nothing better is likely.
    pub(super) fn newcomers(&mut self, known: &[Known], left: Left) -> Vec<usize> {
        let most = most_newcomers(known, left.samples);
        let explored = if left.spent < EXPLORATION_SHARE {
            EXPLORED
        } else {
            0
        };
        let mut process = self.process(known);
        let mut open: Vec<usize> = (0..known.len())
            .filter(|&candidate| may_be_measured(known[candidate]))
            .collect();
        let measured = known.iter().filter(|known| is_measured(known)).count();
        let least = least_mean(&process, known);
        let mut newcomers = Vec::new();
        while newcomers.len() < most {
            let next = if measured + newcomers.len() < explored {
                largest(&open, |candidate| process.deviation(candidate))
            } else {
                let improvement = |candidate| {
                    let mean = process.mean(candidate);
                    expected_improvement(least - mean, process.deviation(candidate))
                };
                largest(&open, improvement)
                    .filter(|&candidate| improvement(candidate) > LEAST_IMPROVEMENT)
            };
            let Some(next) = next else { break };
            process.fantasize(next);
            open.retain(|&candidate| candidate != next);
            newcomers.push(next);
        }
        newcomers
    }

    /// The measured candidates that are probably the fastest.
    pub(super) fn finalists(&mut self, known: &[Known]) -> Vec<usize> {
        let process = self.process(known);
        let mut finalists: Vec<usize> = (0..known.len())
            .filter(|&candidate| is_measured(&known[candidate]))
            .collect();
        finalists.sort_by(|&a, &b| process.mean(a).total_cmp(&process.mean(b)));
        finalists.truncate(FINALISTS);
        finalists
    }

    /// The forecast of the logarithms of all times, around their mean. A failed candidate counts as the slowest, so
    /// similar ones are tried late.
    fn process(&mut self, known: &[Known]) -> GaussianProcess {
        let (mean, slowest) = mean_and_slowest(known);
        let mut observations = Vec::new();
        let mut observed = Vec::new();
        for (candidate, known) in known.iter().enumerate() {
            let (log, samples) = match *known {
                Known::Nothing => continue,
                Known::Failed => (slowest, 1),
                Known::Time { log, samples } => (log, samples),
            };
            observed.push(candidate);
            observations.push(Observation {
                point: self.points[candidate].clone(),
                figure: log - mean,
                samples: as_f64(samples as u64),
            });
        }
        self.learn(&observations);
        let mut process = GaussianProcess::new(self.kernel.clone(), self.points.clone());
        for (candidate, observation) in observed.into_iter().zip(&observations) {
            process.observe(candidate, observation.figure, observation.samples);
        }
        process
    }

    /// Learning takes most of a forecast's time, so it is repeated only after a fifth more observations.
    fn learn(&mut self, observations: &[Observation]) {
        if observations.len() > self.learnt_from + self.learnt_from / 5 {
            self.learnt_from = observations.len();
            self.kernel = self.kernel.clone().learnt(observations);
        }
    }
}

/// How many newcomers leave the samples of an answer to the final.
fn most_newcomers(known: &[Known], samples_left: usize) -> usize {
    let lacking: Vec<usize> = known
        .iter()
        .filter_map(|known| match known {
            Known::Time { samples, .. } => Some(ROUNDS.saturating_sub(*samples)),
            Known::Nothing | Known::Failed => None,
        })
        .collect();
    if lacking.len() > FINALISTS {
        return if samples_left > FINAL_SAMPLES {
            NEWCOMERS
        } else {
            0
        };
    }
    let needed = lacking.iter().sum::<usize>().min(FINAL_SAMPLES);
    // A newcomer takes the samples of its final, and beside it one of the leader.
    let is_too_many = |newcomers: &usize| needed + (ROUNDS + 1) * (newcomers + 1) > samples_left;
    (0..NEWCOMERS).find(is_too_many).unwrap_or(NEWCOMERS)
}

fn may_be_measured(known: Known) -> bool {
    match known {
        Known::Nothing => true,
        Known::Failed => false,
        Known::Time { samples, .. } => samples < MOST_SAMPLES,
    }
}

fn is_measured(known: &Known) -> bool {
    matches!(known, Known::Time { .. })
}

/// The process assumes that figures are 0 on average.
fn mean_and_slowest(known: &[Known]) -> (f64, f64) {
    let mut sum = 0.0;
    let mut count = 0;
    let mut slowest = f64::NEG_INFINITY;
    for known in known {
        if let Known::Time { log, .. } = known {
            sum += log;
            count += 1;
            slowest = slowest.max(*log);
        }
    }
    if count == 0 {
        return (0.0, 0.0);
    }
    (sum / as_f64(count), slowest)
}

/// The least forecast of the measured candidates, which others have to improve.
fn least_mean(process: &GaussianProcess, known: &[Known]) -> f64 {
    (0..known.len())
        .filter(|&candidate| is_measured(&known[candidate]))
        .map(|candidate| process.mean(candidate))
        .fold(f64::INFINITY, f64::min)
}

fn largest(among: &[usize], value: impl Fn(usize) -> f64) -> Option<usize> {
    among
        .iter()
        .copied()
        .max_by(|&a, &b| value(a).total_cmp(&value(b)))
}
