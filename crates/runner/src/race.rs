//! A race: many candidates are screened cheaply, the slow ones are dropped in rounds, and the remaining few
//! are measured beside the baseline in the final.
//!
//! The screening has levels, each with larger files, like successive halving (Jamieson and Talwalkar,
//! *Non-stochastic Best Arm Identification and Hyperparameter Optimization*, AISTATS 2016). Each level drops
//! the candidates that are much slower than the best median, and at least half of all. The final drops only
//! candidates whose interval is clear of the leader's. Six rounds of the final are reserved before the
//! screening, because fewer cannot reach 95 %.

use std::collections::HashMap;
use std::time::Duration;

use writebench_stats::{CONFIDENCE, Verdict, as_f64};

use crate::schedule::{Schedule, Spent, Taken};

/// A candidate.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Its effort for a programmer.
    pub effort: u32,
    /// Its cases in the plan, one for each size of the screening. A case may serve several candidates.
    pub screening: Vec<usize>,
    /// Its cases in the plan, one for each possible size of the final.
    pub finals: Vec<usize>,
}

/// The limits of a race.
#[derive(Debug, Clone)]
pub struct RaceLimits {
    /// The total time.
    pub budget: Duration,
    /// The total bytes.
    pub max_bytes: u64,
    /// The bytes of one sample on each level of the screening, ascending.
    pub screening_bytes: Vec<u64>,
    /// The possible bytes of one sample of the final: the requested size, then smaller ones.
    pub final_bytes: Vec<u64>,
    /// The most bytes that a sample writes, as a multiple of its file's size, including filling it with zeros
    /// first.
    pub times_written: u64,
}

impl RaceLimits {
    /// The bytes of a final with files of this size and the most finalists.
    #[must_use]
    pub fn finals_bytes(file_bytes: u64, times_written: u64) -> u64 {
        Self::rounds_bytes(FINALISTS, file_bytes, times_written)
    }

    /// The least limit on bytes that allows a final with files of this size: the share left by the screening
    /// pays for the rounds of two finalists and the baseline.
    #[must_use]
    pub fn least_bytes(file_bytes: u64, times_written: u64) -> u64 {
        let finals = Self::rounds_bytes(LEAST_FINALISTS, file_bytes, times_written);
        finals.saturating_add(finals / 3)
    }

    fn rounds_bytes(finalists: usize, file_bytes: u64, times_written: u64) -> u64 {
        let files = (finalists as u64).saturating_mul(times_written).saturating_add(1);
        file_bytes.saturating_mul(PLANNED_ROUNDS as u64).saturating_mul(files)
    }

    /// The bytes reserved for the final, at most three quarters of the total.
    fn set_aside_bytes(&self) -> u64 {
        let largest = self.final_bytes.first().copied().unwrap_or_default();
        Self::finals_bytes(largest, self.times_written).min(self.max_bytes / 4 * 3)
    }
}

/// The stage of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Screening(usize),
    Final(usize),
}

/// The schedule of a race. It depends only on the samples and the time and bytes spent.
#[derive(Debug)]
pub struct Race {
    candidates: Vec<Candidate>,
    // All candidates are compared with the baseline; it is always in the final.
    baseline: usize,
    limits: RaceLimits,
    level: Level,
    is_over: bool,
    // The remaining candidates.
    alive: Vec<usize>,
    // The undisturbed samples that each of them needs on this level.
    rounds: usize,
    // The time and bytes spent, and the samples taken, when the level began.
    begin: (Spent, usize),
    wanted: Vec<usize>,
}

/// The most candidates in the final beside the baseline, and the least.
const FINALISTS: usize = 4;
const LEAST_FINALISTS: usize = 2;
/// The screening's share of the time, divided among its levels.
const SCREENING_SHARE: f64 = 0.5;
/// The share of the time with which the final is planned: its samples may be slower than the screening
/// suggests.
const TIME_RESERVE: f64 = 0.85;
/// The largest ratio to the leader that a candidate may have after each round of screening; the last value
/// holds for all later rounds.
const CUTOFF: [f64; 3] = [1.8, 1.4, 1.25];
/// Half of the places go to the fastest candidates; the others to the simplest of those within this ratio,
/// which is the resolution of one or two samples.
const SCREENING_TIE: f64 = 1.15;
/// In the final, before an interval of 95 % is possible, a candidate is dropped only if it lost every round
/// by this ratio.
const CLEAR_LOSS: f64 = 1.25;
const CLEAR_LOSS_ROUNDS: usize = 3;
/// The fewest rounds for an interval of 95 % of the median.
const ROUNDS: usize = 6;
/// The rounds that the limits must pay for, since a disturbed sample does not count in its round.
const PLANNED_ROUNDS: usize = 8;
/// More rounds do not narrow an interval by much.
const MOST_ROUNDS: usize = 100;
/// Candidates within this share of each other are equally good.
const CLOSE: f64 = 0.03;

impl Race {
    /// A race of all candidates. `baseline` is an index among them.
    #[must_use]
    pub fn new(candidates: Vec<Candidate>, baseline: usize, limits: RaceLimits) -> Self {
        let level = if limits.screening_bytes.is_empty() { Level::Final(0) } else { Level::Screening(0) };
        Self {
            alive: (0..candidates.len()).collect(),
            candidates,
            baseline,
            limits,
            level,
            is_over: false,
            rounds: 1,
            begin: (Spent::default(), 0),
            wanted: Vec::new(),
        }
    }

    fn case(&self, candidate: usize) -> usize {
        let candidate = &self.candidates[candidate];
        match self.level {
            Level::Screening(level) => candidate.screening[level],
            Level::Final(size) => candidate.finals[size],
        }
    }

    /// Ends complete rounds and levels, until a candidate wants a sample or the race is over.
    fn advance(&mut self, taken: &[Vec<Taken>], spent: Spent) {
        let has_failed = |index: usize| taken[index].iter().any(|sample| !sample.is_ok);
        self.is_over |= spent.elapsed >= self.limits.budget;
        while !self.is_over {
            let alive = std::mem::take(&mut self.alive);
            self.alive = alive.into_iter().filter(|&it| !has_failed(self.case(it))).collect();
            let is_complete = !self.alive.iter().any(|&it| self.wants(self.case(it), taken));
            match self.level {
                Level::Screening(level) if self.is_spent(level, spent) => self.next_level(level, taken, spent),
                _ if !is_complete => return,
                Level::Screening(level) => self.end_screening_round(level, taken, spent),
                Level::Final(_) => self.end_final_round(taken),
            }
        }
    }

    fn wants(&self, case: usize, taken: &[Vec<Taken>]) -> bool {
        let samples = &taken[case];
        // If every sample is disturbed, half of the samples count.
        usable(samples).len().max(samples.len() / 2) < self.rounds || samples.is_empty()
    }

    fn is_spent(&self, level: usize, spent: Spent) -> bool {
        let (seconds, bytes) = self.left_for_screening(level, spent);
        seconds <= 0.0 || bytes <= 0.0
    }

    /// The remaining seconds and bytes of the levels up to this one.
    fn left_for_screening(&self, level: usize, spent: Spent) -> (f64, f64) {
        let share = as_f64(level as u64 + 1) / as_f64(self.limits.screening_bytes.len().max(1) as u64);
        let bytes = as_f64(self.limits.max_bytes.saturating_sub(self.limits.set_aside_bytes()));
        let seconds = SCREENING_SHARE * self.limits.budget.as_secs_f64();
        (share * seconds - spent.elapsed.as_secs_f64(), share * bytes - as_f64(spent.bytes))
    }

    fn end_screening_round(&mut self, level: usize, taken: &[Vec<Taken>], spent: Spent) {
        let ranked = self.ranked(taken);
        let cutoff = CUTOFF[(self.rounds - 1).min(CUTOFF.len() - 1)];
        let Some(&(_, best_ns)) = ranked.first() else {
            self.is_over = true;
            return;
        };
        let half = ranked.len().div_ceil(2).max(2 * FINALISTS);
        let near: Vec<(usize, f64)> =
            ranked.into_iter().filter(|(_, time_ns)| *time_ns <= cutoff * best_ns).collect();
        self.alive = self.best(&near, half);
        let round_s = self.sample_s(taken, spent) * as_f64(self.alive.len() as u64);
        let round_bytes = self.limits.screening_bytes[level].saturating_mul(self.alive.len() as u64);
        let (left_s, left_bytes) = self.left_for_screening(level, spent);
        let is_last = self.rounds >= CUTOFF.len() || self.alive.len() <= FINALISTS;
        if is_last || round_s > left_s || as_f64(round_bytes) > left_bytes {
            self.next_level(level, taken, spent);
        } else {
            self.rounds += 1;
        }
    }

    /// The time per sample on this level, including the work around it.
    fn sample_s(&self, taken: &[Vec<Taken>], spent: Spent) -> f64 {
        let samples = taken.iter().map(Vec::len).sum::<usize>().saturating_sub(self.begin.1);
        let time = spent.elapsed.saturating_sub(self.begin.0.elapsed);
        time.as_secs_f64() / as_f64(samples.max(1) as u64)
    }

    /// Continues with the best candidates, as many as the next level can measure often enough.
    fn next_level(&mut self, level: usize, taken: &[Vec<Taken>], spent: Spent) {
        // The time grows at most in proportion to the file.
        let byte_s = self.sample_s(taken, spent) / as_f64(self.limits.screening_bytes[level].max(1));
        let ranked = self.ranked(taken);
        // A slow sample may have used up the next level's share, too.
        let levels = level + 1..self.limits.screening_bytes.len();
        let next = levels.into_iter().find(|&next| !self.is_spent(next, spent));
        self.rounds = 1;
        self.begin = (spent, taken.iter().map(Vec::len).sum());
        let Some(next) = next else {
            self.enter_finals(&ranked, byte_s, taken, spent);
            return;
        };
        let sample_bytes = as_f64(self.limits.screening_bytes[next].max(1));
        let (left_s, left_bytes) = self.left_for_screening(next, spent);
        let twice = (left_s / (byte_s * sample_bytes).max(1e-9)).min(left_bytes / sample_bytes) / 2.0;
        let most = floor(twice).max(2 * FINALISTS);
        self.level = Level::Screening(next);
        self.alive = self.best(&ranked, most);
        self.is_over = self.alive.is_empty();
    }

    /// Starts the final with the largest size for which the remaining limits pay for six rounds with the
    /// fewest finalists, and with as many finalists as they pay for.
    fn enter_finals(&mut self, ranked: &[(usize, f64)], byte_s: f64, taken: &[Vec<Taken>], spent: Spent) {
        let left_s = TIME_RESERVE * self.limits.budget.saturating_sub(spent.elapsed).as_secs_f64();
        let left_bytes = as_f64(self.limits.max_bytes.saturating_sub(spent.bytes));
        let baseline_byte_s = self.baseline_byte_s(taken).max(byte_s);
        let finalists = |sample_bytes: u64| {
            let round_bytes = as_f64(sample_bytes.max(1)) * as_f64(PLANNED_ROUNDS as u64);
            let of_time = (left_s / round_bytes - baseline_byte_s) / byte_s.max(1e-18);
            let of_bytes = (left_bytes / round_bytes - 1.0) / as_f64(self.limits.times_written.max(1));
            floor(of_time.min(of_bytes))
        };
        let sizes = &self.limits.final_bytes;
        let is_enough = |&size: &usize| finalists(sizes[size]) >= LEAST_FINALISTS;
        let size = (0..sizes.len()).find(is_enough).unwrap_or(sizes.len() - 1);
        let most = finalists(sizes[size]).clamp(LEAST_FINALISTS, FINALISTS);
        let others: Vec<(usize, f64)> = ranked.iter().copied().filter(|(it, _)| *it != self.baseline).collect();
        self.level = Level::Final(size);
        self.alive = self.best(&others, most);
        let baseline = &self.candidates[self.baseline];
        let mut cases = baseline.screening.iter().chain(&baseline.finals);
        if cases.all(|&case| taken[case].iter().all(|sample| sample.is_ok)) {
            self.alive.push(self.baseline);
        }
        self.is_over = self.alive.is_empty();
    }

    /// The baseline's seconds per byte on the first level; later levels may have dropped it.
    fn baseline_byte_s(&self, taken: &[Vec<Taken>]) -> f64 {
        let baseline = &self.candidates[self.baseline];
        let first = baseline.screening.first().zip(self.limits.screening_bytes.first());
        let times = first.map(|(&case, _)| by_round(&taken[case]).into_values().collect::<Vec<f64>>());
        let time_ns = times.and_then(|times| writebench_stats::median(&times)).unwrap_or(0.0);
        time_ns / 1e9 / first.map_or(1.0, |(_, &bytes)| as_f64(bytes.max(1)))
    }

    /// Half of them the fastest, half the simplest of those that are nearly as fast: the advice is the
    /// simplest candidate that is not distinguishable from the fastest, so the simple ones must stay.
    fn best(&self, ranked: &[(usize, f64)], most: usize) -> Vec<usize> {
        let best_ns = ranked.first().map_or(f64::INFINITY, |(_, time_ns)| *time_ns);
        let (fastest, rest) = ranked.split_at(most.div_ceil(2).min(ranked.len()));
        let mut rest: Vec<(usize, u32)> = rest
            .iter()
            .map(|&(candidate, time_ns)| {
                let is_near = time_ns <= SCREENING_TIE * best_ns;
                (candidate, if is_near { self.candidates[candidate].effort } else { u32::MAX })
            })
            .collect();
        // The sort is stable, so that the faster of two equally simple candidates comes first.
        rest.sort_by_key(|(_, effort)| *effort);
        let fastest = fastest.iter().map(|(candidate, _)| *candidate);
        fastest.chain(rest.into_iter().map(|(candidate, _)| candidate)).take(most).collect()
    }

    fn end_final_round(&mut self, taken: &[Vec<Taken>]) {
        let ranked = self.ranked_beside_baseline(taken);
        let Some(&(leader, _)) = ranked.first() else {
            self.is_over = true;
            return;
        };
        let to_leader = |candidate| self.ratios(candidate, leader, taken);
        let stays = |&candidate: &usize| {
            [self.baseline, leader].contains(&candidate) || !is_clear_loss(&to_leader(candidate))
        };
        let kept: Vec<usize> = self.alive.iter().copied().filter(stays).collect();
        // The answer depends on the leader's ratio to the baseline, and on the candidates that are as fast as
        // the leader.
        let is_open = |&candidate: &usize| candidate != leader && verdict(&to_leader(candidate)).is_open();
        let is_decided = self.rounds >= ROUNDS && !kept.iter().any(is_open);
        self.alive = kept;
        self.is_over = is_decided || self.rounds >= MOST_ROUNDS;
        self.rounds += 1;
    }

    /// The remaining candidates with figures on this level, the fastest first.
    fn ranked(&self, taken: &[Vec<Taken>]) -> Vec<(usize, f64)> {
        let median = |&candidate: &usize| {
            let times: Vec<f64> = by_round(&taken[self.case(candidate)]).into_values().collect();
            writebench_stats::median(&times).map(|median| (candidate, median))
        };
        self.in_order(median)
    }

    /// The same by the ratio to the baseline in common rounds, which cancels drift.
    fn ranked_beside_baseline(&self, taken: &[Vec<Taken>]) -> Vec<(usize, f64)> {
        if !self.alive.contains(&self.baseline) {
            return self.ranked(taken);
        }
        self.in_order(|&candidate| {
            let ratios = self.ratios(candidate, self.baseline, taken);
            writebench_stats::median(&ratios).map(|median| (candidate, median))
        })
    }

    fn in_order(&self, figure: impl Fn(&usize) -> Option<(usize, f64)>) -> Vec<(usize, f64)> {
        let mut ranked: Vec<(usize, f64)> = self.alive.iter().filter_map(figure).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        ranked
    }

    /// One candidate's times divided by the other's, in common rounds.
    fn ratios(&self, candidate: usize, other: usize, taken: &[Vec<Taken>]) -> Vec<f64> {
        let other = by_round(&taken[self.case(other)]);
        let own = by_round(&taken[self.case(candidate)]);
        own.iter().filter_map(|(round, time)| other.get(round).map(|other| time / other)).collect()
    }
}

fn verdict(ratios: &[f64]) -> Verdict {
    writebench_stats::median_interval(ratios, CONFIDENCE)
        .map_or(Verdict::TooFew, |ratio| Verdict::of(&ratio, CLOSE))
}

/// Whether these ratios to the leader in common rounds are above 1 at 95 %, or high enough that fewer rounds
/// suffice.
fn is_clear_loss(ratios: &[f64]) -> bool {
    let is_far = |ratio: &f64| *ratio > CLEAR_LOSS;
    verdict(ratios) == Verdict::Slower || ratios.len() >= CLEAR_LOSS_ROUNDS && ratios.iter().all(is_far)
}

impl Schedule for Race {
    fn wanted(&mut self, taken: &[Vec<Taken>], spent: Spent) -> &[usize] {
        self.advance(taken, spent);
        self.wanted = vec![0; taken.len()];
        for &candidate in self.alive.iter().filter(|_| !self.is_over) {
            let case = self.case(candidate);
            self.wanted[case] = usize::from(self.wants(case, taken));
        }
        &self.wanted
    }
}

/// The same as [`writebench_model::Sample::usable`]: the good samples without the disturbed, or all if every
/// sample was disturbed.
fn usable(samples: &[Taken]) -> Vec<&Taken> {
    let good: Vec<&Taken> = samples.iter().filter(|sample| sample.is_ok).collect();
    let calm: Vec<&Taken> = good.iter().copied().filter(|sample| !sample.is_disturbed).collect();
    if calm.is_empty() { good } else { calm }
}

/// The total time, by round.
fn by_round(samples: &[Taken]) -> HashMap<u32, f64> {
    usable(samples).into_iter().map(|sample| (sample.round, as_f64(sample.total_ns))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, and saturating")]
fn floor(value: f64) -> usize {
    value as usize
}

#[cfg(test)]
mod tests;
