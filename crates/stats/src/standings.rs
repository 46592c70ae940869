//! Which way to do the same work is the fastest, and what it may cost to be wrong about that.
//!
//! The scheduler of a contest and the report ask the same questions of the same samples, so both ask here.
//!
//! Each way has a typical time, which is the value that reports show, and a standard error. From these follows the
//! *loss* of a way: how much longer it takes than the fastest one, which nobody knows. So a loss is a distribution,
//! and a decision weighs its tail and its mean. Plain write is a way like the others.
//!
//! The constants come from simulations on recorded noise, which has heavier tails than a normal distribution:
//! see `docs/explanation/answers.md`.

use crate::normal::{normal_above, normal_density};
use crate::{CLOSE, FEWEST_FOR_INTERVAL, Rounds, median};

/// A loss below this ratio of times is not worth a more complicated program.
const TOLERATED: f64 = 1.05;
/// A way is out if it is so many standard errors behind the leader.
const BEATEN_ERRORS: f64 = 2.5;
/// A way needs so many samples before it can be beaten, or counts as a rival.
pub const FEWEST_COMPARED: usize = 3;
/// A way needs so many samples before it can be the answer.
const FEWEST_FOR_ANSWER: usize = FEWEST_FOR_INTERVAL as usize;
/// Ways are equally good if they are at most so many standard errors apart.
const ALIKE_ERRORS: f64 = 2.0;
/// The standard error is so much larger than for a normal distribution, for the tails of the recorded noise, and because the
/// answer is the luckiest of many ways. In replays of searches, bounds then held as often as they say.
const HEAVY_TAILS: f64 = 1.25;
/// The standard deviation of a normal distribution over its median of absolute deviations.
const FROM_MAD: f64 = 1.4826;
/// How many samples the spread of all ways counts for, in the spread of one.
const SHARED_SPREAD: f64 = 6.0;
/// The least standard error of a logarithm. Clocks and noise are never more exact, and a division by zero helps nobody.
const LEAST_ERROR: f64 = 1e-4;

/// The answer is the least effort whose probability of a loss above 5 % is at most this, or at most so much
/// above that of the safest way.
const RISK: f64 = 0.05;
const MORE_RISK: f64 = 0.02;
/// The expected loss of the answer is at most so much above the least one. Ways so close are equally good, and the
/// simplest of them is the answer.
const MORE_LOSS: f64 = CLOSE - 1.0;
/// A contest is decided if the answer's probability of a loss above 5 % is at most this.
const DECIDED: f64 = 0.02;

/// Steps of the numeric integrals over normal distributions, from `-REACH` to `REACH` standard errors.
const STEPS: u32 = 120;
const REACH: f64 = 6.0;

/// The ways of a contest, as far as they have been measured. Indices of ways are those of the tables given to
/// [`Standings::of`].
#[derive(Debug, Clone)]
pub struct Standings {
    model: Rounds,
    ways: Vec<Option<Way>>,
}

#[derive(Debug, Clone, Copy)]
struct Way {
    /// The logarithm of the time in a typical round.
    mean: f64,
    /// The standard error of the mean.
    error: f64,
    /// The number of samples.
    count: usize,
}

impl Standings {
    /// Judges ways by their rounds and positive times, of usable samples only.
    pub fn of(times: &[Vec<(u32, f64)>]) -> Self {
        let model = Rounds::fit(times);
        let mut means = Vec::new();
        let mut all_deviations = Vec::new();
        for way in 0..times.len() {
            let mean = model.value(way).map(f64::ln);
            let logs = model.logs_without_effects(way);
            means.push(mean);
            all_deviations.push(deviations(&logs, mean.unwrap_or(0.0)));
        }
        let shared = spread(&all_deviations.concat());
        let ways = means
            .iter()
            .zip(&all_deviations)
            .map(|(mean, own)| Some(Way::new((*mean)?, own, shared)))
            .collect();
        Self { model, ways }
    }

    /// The model of all samples, for values and ratios.
    pub fn model(&self) -> &Rounds {
        &self.model
    }

    /// The logarithm of a way's time in a typical round. It is `None` before its first sample.
    pub fn log_time(&self, way: usize) -> Option<f64> {
        self.way(way).map(|way| way.mean)
    }

    /// The number of usable samples of a way.
    pub fn count(&self, way: usize) -> usize {
        self.way(way).map_or(0, |way| way.count)
    }

    /// Whether a way has the samples that an answer needs.
    pub fn can_answer(&self, way: usize) -> bool {
        self.count(way) >= FEWEST_FOR_ANSWER
    }

    /// Whether a way has the samples to be beaten, or to be a rival.
    pub fn is_compared(&self, way: usize) -> bool {
        self.compared(way).is_some()
    }

    /// Whether the ratio of two ways has an interval.
    pub fn are_compared(&self, way: usize, other: usize) -> bool {
        self.model.ratio_count(way, other) >= FEWEST_FOR_ANSWER
    }

    /// The fastest of these by the samples so far.
    pub fn leader(&self, among: impl IntoIterator<Item = usize>) -> Option<usize> {
        among
            .into_iter()
            .filter_map(|way| Some((way, self.compared(way)?.mean)))
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(way, _)| way)
    }

    /// Whether the way `by` is so far ahead that more samples would hardly change it.
    pub fn is_beaten(&self, way: usize, by: usize) -> bool {
        let Some(way) = self.compared(way) else {
            return false;
        };
        let Some(by) = self.compared(by) else {
            return false;
        };
        way.mean - by.mean > BEATEN_ERRORS * way.error.hypot(by.error)
    }

    /// The other ways with the samples of an answer that may be as fast as this one or faster, the fastest first.
    pub fn as_good_as(&self, answer: usize) -> Vec<usize> {
        let Some(own) = self.way(answer) else {
            return Vec::new();
        };
        let is_as_good = |&way: &usize| {
            self.way(way)
                .is_some_and(|way| way.mean - own.mean <= ALIKE_ERRORS * way.error.hypot(own.error))
        };
        let mut ways: Vec<usize> = (0..self.ways.len())
            .filter(|&way| way != answer && self.can_answer(way))
            .filter(is_as_good)
            .collect();
        ways.sort_by(|&a, &b| self.mean(a).total_cmp(&self.mean(b)));
        ways
    }

    /// The probability that a way takes more than 5 % longer than the fastest.
    pub fn risk(&self, way: usize) -> f64 {
        1.0 - self.probability_within(way, TOLERATED.ln())
    }

    /// The expected logarithm of a way's time over the fastest one's.
    pub fn expected_loss(&self, way: usize) -> f64 {
        self.way(way).map_or(f64::INFINITY, |own| {
            (own.mean - self.expected_least()).max(0.0)
        })
    }

    /// The upper end, at 95 %, of the way's time over the fastest one's. It is at least 1, and `None` before the way
    /// has the samples of an answer.
    pub fn bound(&self, way: usize) -> Option<f64> {
        if !self.can_answer(way) {
            return None;
        }
        let mut least = 0.0;
        let mut most = 0.01;
        while self.probability_within(way, most) < crate::CONFIDENCE {
            least = most;
            most *= 2.0;
        }
        // The precision is far below what is printed.
        while most - least > 1e-5 {
            let middle = f64::midpoint(least, most);
            if self.probability_within(way, middle) < crate::CONFIDENCE {
                least = middle;
            } else {
                most = middle;
            }
        }
        Some(most.exp())
    }

    /// The answer: the way of the least effort whose loss is probably small. The baseline has no effort.
    ///
    /// It is `None` if no way has enough samples, or if the baseline has too few: a way that is not compared with the
    /// baseline is no reason to replace it. It is also `None` if only the baseline has enough, and others are not beaten.
    pub fn answer<E: Ord>(&self, among: &[(usize, Option<E>)]) -> Option<usize> {
        let (baselines, others): (Vec<_>, Vec<_>) =
            among.iter().partition(|(_, effort)| effort.is_none());
        if !baselines.is_empty() && !baselines.iter().any(|(way, _)| self.can_answer(*way)) {
            return None;
        }
        let able: Vec<&(usize, Option<E>)> = baselines
            .into_iter()
            .chain(others.iter().copied())
            .filter(|(way, _)| self.can_answer(*way))
            .collect();
        let fastest = self.leader(able.iter().map(|(way, _)| *way))?;
        let has_only_baseline = able.iter().all(|(_, effort)| effort.is_none());
        let may_win = |way: usize| self.is_compared(way) && !self.is_beaten(way, fastest);
        if has_only_baseline && others.iter().any(|(way, _)| may_win(*way)) {
            return None;
        }
        let simplest = able
            .into_iter()
            .filter(|(way, _)| *way == fastest || self.is_nearly_as_safe(*way, fastest))
            .min_by(|(a, a_effort), (b, b_effort)| {
                let by_effort = a_effort.cmp(b_effort);
                by_effort.then(self.mean(*a).total_cmp(&self.mean(*b)))
            });
        simplest.map(|(way, _)| *way)
    }

    /// Whether a way may be the answer instead of the fastest one, because it is simpler.
    fn is_nearly_as_safe(&self, way: usize, fastest: usize) -> bool {
        let most_risk = RISK.max(self.risk(fastest) + MORE_RISK);
        let most_loss = self.expected_loss(fastest) + MORE_LOSS;
        self.risk(way) <= most_risk && self.expected_loss(way) <= most_loss
    }

    fn mean(&self, way: usize) -> f64 {
        self.way(way).map_or(f64::INFINITY, |way| way.mean)
    }

    /// Whether more samples would hardly lead to another answer.
    pub fn is_decided(&self, answer: usize) -> bool {
        self.can_answer(answer) && self.risk(answer) <= DECIDED
    }

    fn way(&self, way: usize) -> Option<&Way> {
        self.ways.get(way)?.as_ref()
    }

    fn compared(&self, way: usize) -> Option<&Way> {
        self.way(way).filter(|way| way.count >= FEWEST_COMPARED)
    }

    fn rivals(&self, of: usize) -> impl Iterator<Item = &Way> {
        (0..self.ways.len())
            .filter(move |&way| way != of)
            .filter_map(|way| self.compared(way))
    }

    /// The probability that the logarithm of a way's time is at most `loss` above that of the fastest.
    fn probability_within(&self, way: usize, loss: f64) -> f64 {
        let Some(own) = self.way(way) else {
            return 0.0;
        };
        let rivals: Vec<&Way> = self.rivals(way).collect();
        let step = 2.0 * REACH / f64::from(STEPS);
        let mut sum = 0.0;
        for number in 0..=STEPS {
            let deviate = step * f64::from(number) - REACH;
            let least = own.mean + own.error * deviate - loss;
            sum += normal_density(deviate) * all_above(&rivals, least);
        }
        sum * step
    }

    /// The expectation of the least time's logarithm: the integral of the probability that all ways are above a value.
    fn expected_least(&self) -> f64 {
        let ways: Vec<&Way> = self.rivals(usize::MAX).collect();
        if ways.is_empty() {
            return f64::INFINITY;
        }
        let mut low = f64::INFINITY;
        let mut high = f64::INFINITY;
        for way in &ways {
            low = low.min(way.mean - REACH * way.error);
            high = high.min(way.mean + REACH * way.error);
        }
        let step = (high - low) / f64::from(STEPS);
        let mut inner = 0.0;
        for number in 1..STEPS {
            inner += all_above(&ways, low + step * f64::from(number));
        }
        // The integral is a sum of trapezoids, whose first value is 1.
        let last = all_above(&ways, low + step * f64::from(STEPS));
        low + step * (inner + f64::midpoint(1.0, last))
    }
}

/// The probability that the logarithms of all these ways' times are above a value.
fn all_above(ways: &[&Way], value: f64) -> f64 {
    ways.iter().map(|way| way.is_above(value)).product()
}

impl Way {
    fn new(mean: f64, deviations: &[f64], shared: f64) -> Self {
        let count = deviations.len();
        let own = spread(deviations);
        let weight = count as f64;
        let variance =
            (SHARED_SPREAD * shared.powi(2) + weight * own.powi(2)) / (SHARED_SPREAD + weight);
        let error = (HEAVY_TAILS * (variance / weight.max(1.0)).sqrt()).max(LEAST_ERROR);
        Self { mean, error, count }
    }

    /// The probability that the logarithm of the way's time is above a value.
    fn is_above(&self, value: f64) -> f64 {
        normal_above((value - self.mean) / self.error)
    }
}

/// The deviations from the way's typical time, enlarged for what the fit took out of them: a typical time lies closer
/// to its `n` samples than the truth does, and so does the effect of a round with few ways.
fn deviations(logs: &[(f64, usize)], mean: f64) -> Vec<f64> {
    let for_samples = fit_correction(logs.len());
    logs.iter()
        .map(|(log, ways)| (log - mean) * for_samples * fit_correction(*ways))
        .collect()
}

/// The factor for deviations from a mean of so many values.
fn fit_correction(count: usize) -> f64 {
    if count < 2 {
        1.0
    } else {
        (count as f64 / (count as f64 - 1.0)).sqrt()
    }
}

/// A robust standard deviation: few outliers hardly change it. The median of few deviations may be 0, although
/// they are large, so half of the usual standard deviation is the least.
fn spread(deviations: &[f64]) -> f64 {
    if deviations.is_empty() {
        return 0.0;
    }
    let sizes: Vec<f64> = deviations.iter().map(|deviation| deviation.abs()).collect();
    let squares: f64 = deviations.iter().map(|deviation| deviation.powi(2)).sum();
    let usual = (squares / deviations.len() as f64).sqrt();
    HEAVY_TAILS * (FROM_MAD * median(&sizes).unwrap_or(0.0)).max(usual / 2.0)
}

#[cfg(test)]
mod tests;
