//! The search for cases that are faster than the first ones of a contest.
//!
//! The limits pay for fewer samples than there are candidates. So a forecast says which ones are measured. It begins with
//! what is known from other environments ([`Experience`]), and a [`GaussianProcess`] corrects it by the samples here. Without
//! experience, a few dissimilar candidates are measured first. Then each block has the candidates with the largest expected improvement
//! (Jones, Schonlau and Welch, *Efficient Global Optimization of Expensive Black-Box Functions*, Journal of Global
//! Optimization 1998). They are chosen one after the other as if those before were already measured (Desautels et
//! al., *Parallelizing Exploration-Exploitation Tradeoffs*, JMLR 2014).

use writebench_model::{Case, Experience};
use writebench_stats::{GaussianProcess, Kernel, Observation, Point, as_f64, expected_improvement};

use super::Left;
use super::coordinates::coordinates;
use super::experience::ExpectedTimes;
use super::known::Known;

/// What the search knows of the candidates. Their numbers are places of the contest, which has them before any case that
/// joins later.
#[derive(Debug, Clone)]
pub(super) struct Search {
    points: Vec<Point>,
    expected: ExpectedTimes,
    kernel: Kernel,
    /// The number of observations from which the kernel was learnt.
    learnt_from: usize,
}

/// So many candidates are measured to learn which choices matter, if nothing is known from elsewhere. They are as
/// dissimilar as possible.
const EXPLORED: usize = 48;
/// The share of the limits at which the exploration ends, also with fewer candidates.
const EXPLORATION_SHARE: f64 = 0.25;
/// The candidates of a block. The leader is measured beside them.
const NEWCOMERS: usize = 6;
/// The search learns little from more samples of a candidate.
const MOST_SAMPLES: usize = 3;
/// The search ends if no candidate is expected to save this share of the time.
const LEAST_IMPROVEMENT: f64 = 0.000001;
/// The standard deviation of the part of a candidate's logarithm that neither similar candidates nor other environments
/// predict. Without it, a few samples close to the forecast would end a search.
const OWN_DEVIATION: f64 = 0.1;
/// The candidates that remain at its end.
const FINALISTS: usize = 8;
/// The samples of a final of five cases that have none yet. In replays with few samples, a larger final found the best of
/// an unknown environment less often, and a smaller one that of a known one.
const FINAL_SAMPLES: usize = 30;
/// The samples of each case in a final of few cases.
const ROUNDS: usize = writebench_stats::FEWEST_FOR_INTERVAL as usize;

impl Search {
    pub(super) fn among(cases: &[&Case], experience: &Experience) -> Self {
        let points = coordinates(cases);
        let axes = points.first().map_or(0, Vec::len);
        Self {
            points,
            expected: ExpectedTimes::new(cases, experience),
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
        let explored = if left.spent < EXPLORATION_SHARE && self.expected.are_unknown() {
            EXPLORED
        } else {
            0
        };
        let mut forecast = self.forecast(known);
        let mut open: Vec<usize> = (0..known.len())
            .filter(|&candidate| may_be_measured(known[candidate]))
            .collect();
        let measured = known.iter().filter(|known| is_measured(known)).count();
        let least = least_mean(&forecast, known);
        let mut newcomers = Vec::new();
        while newcomers.len() < most {
            let next = if measured + newcomers.len() < explored {
                largest(&open, |candidate| forecast.deviation(candidate))
            } else {
                let improvement = |candidate| {
                    let mean = forecast.mean(candidate);
                    expected_improvement(least - mean, forecast.deviation(candidate))
                };
                largest(&open, improvement)
                    .filter(|&candidate| improvement(candidate) > LEAST_IMPROVEMENT)
            };
            let Some(next) = next else { break };
            forecast.fantasize(next);
            open.retain(|&candidate| candidate != next);
            newcomers.push(next);
        }
        newcomers
    }

    /// The measured candidates that are probably the fastest.
    pub(super) fn finalists(&mut self, known: &[Known]) -> Vec<usize> {
        let forecast = self.forecast(known);
        let mut finalists: Vec<usize> = (0..known.len())
            .filter(|&candidate| is_measured(&known[candidate]))
            .collect();
        finalists.sort_by(|&a, &b| forecast.mean(a).total_cmp(&forecast.mean(b)));
        finalists.truncate(FINALISTS);
        finalists
    }

    /// The forecast of the logarithms of all times, around their mean. A failed candidate counts as the slowest, so
    /// similar ones are tried late.
    fn forecast(&mut self, known: &[Known]) -> Forecast {
        let expected = self.expected.log_times(known);
        let known: Vec<Known> = known
            .iter()
            .zip(&expected)
            .map(|(known, expected)| known.less(*expected))
            .collect();
        let (mean, slowest) = mean_and_slowest(&known);
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
        let mut is_observed = vec![false; known.len()];
        for (candidate, observation) in observed.into_iter().zip(&observations) {
            process.observe(candidate, observation.figure, observation.samples);
            is_observed[candidate] = true;
        }
        Forecast {
            process,
            expected,
            is_observed,
        }
    }

    /// Learning takes most of a forecast's time, so it is repeated only after a fifth more observations.
    fn learn(&mut self, observations: &[Observation]) {
        if observations.len() > self.learnt_from + self.learnt_from / 5 {
            self.learnt_from = observations.len();
            self.kernel = self.kernel.clone().learnt(observations);
        }
    }
}

/// The logarithms of all times around their mean: what other environments let expect, corrected by the samples here.
struct Forecast {
    process: GaussianProcess,
    expected: Vec<f64>,
    /// Whether a candidate has a sample, or is as if it had one.
    is_observed: Vec<bool>,
}

impl Forecast {
    fn mean(&self, candidate: usize) -> f64 {
        self.expected[candidate] + self.process.mean(candidate)
    }

    fn deviation(&self, candidate: usize) -> f64 {
        let deviation = self.process.deviation(candidate);
        if self.is_observed[candidate] {
            deviation
        } else {
            deviation.hypot(OWN_DEVIATION)
        }
    }

    fn fantasize(&mut self, candidate: usize) {
        self.process.fantasize(candidate);
        self.is_observed[candidate] = true;
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
fn least_mean(forecast: &Forecast, known: &[Known]) -> f64 {
    (0..known.len())
        .filter(|&candidate| is_measured(&known[candidate]))
        .map(|candidate| forecast.mean(candidate))
        .fold(f64::INFINITY, f64::min)
}

fn largest(among: &[usize], value: impl Fn(usize) -> f64) -> Option<usize> {
    among
        .iter()
        .copied()
        .max_by(|&a, &b| value(a).total_cmp(&value(b)))
}
