//! A race: many candidates are screened cheaply, losers are dropped in rounds, and the few that are left are
//! measured beside the baseline in the finals.
//!
//! The screening goes up in levels, each with larger files than the one before, as successive halving does (Jamieson and
//! Talwalkar, *Non-stochastic Best Arm Identification and Hyperparameter Optimization*, AISTATS 2016). On each of them
//! those that are much slower than the best of a round's medians are dropped, and at least half of all. The finals
//! drop only those whose interval is clear of the leader's. Six rounds of them are set aside before anything is
//! screened, because fewer prove nothing at 95 %.

use std::collections::HashMap;
use std::time::Duration;

use writebench_stats::{CONFIDENCE, Verdict, as_f64};

use crate::schedule::{Schedule, Spent, Taken};

/// A way that takes part.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// How much it asks of whoever writes the program.
    pub effort: u32,
    /// Its cases in the plan, one for each size of the screening. A case may stand in several places.
    pub screening: Vec<usize>,
    /// Its cases in the plan, one for each size that the finals may have.
    pub finals: Vec<usize>,
}

/// What a race may take.
#[derive(Debug, Clone)]
pub struct RaceLimits {
    /// Time for all of it.
    pub budget: Duration,
    /// Bytes for all of it.
    pub max_bytes: u64,
    /// Bytes of one sample on each level of the screening, the smallest first.
    pub screening_bytes: Vec<u64>,
    /// Bytes of one sample that the finals may have: those that were asked for, then smaller ones.
    pub final_bytes: Vec<u64>,
    /// How many times the size of its file a sample writes at most: filling it with zeros first counts, too.
    pub times_written: u64,
}

impl RaceLimits {
    /// Bytes that the finals take with files of this size and as many finalists as there may be.
    #[must_use]
    pub fn finals_bytes(file_bytes: u64, times_written: u64) -> u64 {
        Self::rounds_bytes(FINALISTS, file_bytes, times_written)
    }

    /// The least limit on bytes with which the finals can have files of this size: the share that the screening leaves
    /// to them pays for the rounds of two finalists and the baseline.
    #[must_use]
    pub fn least_bytes(file_bytes: u64, times_written: u64) -> u64 {
        let finals = Self::rounds_bytes(LEAST_FINALISTS, file_bytes, times_written);
        finals.saturating_add(finals / 3)
    }

    fn rounds_bytes(finalists: usize, file_bytes: u64, times_written: u64) -> u64 {
        let files = (finalists as u64).saturating_mul(times_written).saturating_add(1);
        file_bytes.saturating_mul(PLANNED_ROUNDS as u64).saturating_mul(files)
    }

    /// Bytes that are kept for the finals, at most three quarters of all.
    fn set_aside_bytes(&self) -> u64 {
        let largest = self.final_bytes.first().copied().unwrap_or_default();
        Self::finals_bytes(largest, self.times_written).min(self.max_bytes / 4 * 3)
    }
}

/// Where a race is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Screening(usize),
    Final(usize),
}

/// The schedule of a race. What it decides follows from the samples and what was spent, and from nothing else.
#[derive(Debug)]
pub struct Race {
    candidates: Vec<Candidate>,
    // All are compared with it in the end; it is in the finals whatever the screening says.
    baseline: usize,
    limits: RaceLimits,
    level: Level,
    is_over: bool,
    // Candidates still in the race.
    alive: Vec<usize>,
    // Undisturbed samples that each of them should have on this level.
    rounds: usize,
    // What was spent, and how many samples were taken, when the level began.
    begin: (Spent, usize),
    wanted: Vec<usize>,
}

/// Most candidates in the finals, beside the baseline, and the least.
const FINALISTS: usize = 4;
const LEAST_FINALISTS: usize = 2;
/// The share of the time that the screening may take, divided among its levels.
const SCREENING_SHARE: f64 = 0.5;
/// The part of the time that the finals are planned with: samples of the finals may take longer than the screening says.
const TIME_RESERVE: f64 = 0.85;
/// How much slower than the leader a candidate may be after so many rounds of screening; the last holds for all later
/// ones.
const CUTOFF: [f64; 3] = [1.8, 1.4, 1.25];
/// Half of those that go on are the fastest; the others are the simplest of those that were no slower than this, which
/// is what one or two samples can tell.
const SCREENING_TIE: f64 = 1.15;
/// In the finals, with fewer rounds than an interval of 95 % takes, only a candidate that lost every one of them by so
/// much is dropped.
const CLEAR_LOSS: f64 = 1.25;
const CLEAR_LOSS_ROUNDS: usize = 3;
/// The least with an interval of 95 % for the median.
const ROUNDS: usize = 6;
/// With what the limits must pay for, since a disturbed sample is no part of its round.
const PLANNED_ROUNDS: usize = 8;
/// More rounds than these change no verdict.
const MOST_ROUNDS: usize = 25;

impl Race {
    /// With all candidates at the start. `baseline` is an index among them.
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

    /// Ends rounds and levels that are complete, until a candidate wants a sample or the race is over.
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
        // A machine that is always disturbed gives half of the samples.
        usable(samples).len().max(samples.len() / 2) < self.rounds || samples.is_empty()
    }

    fn is_spent(&self, level: usize, spent: Spent) -> bool {
        let (seconds, bytes) = self.left_for_screening(level, spent);
        seconds <= 0.0 || bytes <= 0.0
    }

    /// Seconds and bytes that are left of what the levels up to this one may take.
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

    /// The time that a sample of this level took, with all that is done beside it.
    fn sample_s(&self, taken: &[Vec<Taken>], spent: Spent) -> f64 {
        let samples = taken.iter().map(Vec::len).sum::<usize>().saturating_sub(self.begin.1);
        let time = spent.elapsed.saturating_sub(self.begin.0.elapsed);
        time.as_secs_f64() / as_f64(samples.max(1) as u64)
    }

    /// Goes on with the best, as many as can be measured often enough on the next level.
    fn next_level(&mut self, level: usize, taken: &[Vec<Taken>], spent: Spent) {
        // A larger file takes longer in proportion, at most.
        let byte_s = self.sample_s(taken, spent) / as_f64(self.limits.screening_bytes[level].max(1));
        let ranked = self.ranked(taken);
        // One slow sample may have spent the share of the next level, too.
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

    /// With the largest size, of which what is left pays for six rounds of the least finals, and as many finalists as it
    /// pays for.
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

    /// Seconds for a byte, as the first level found them; the baseline may have been dropped on the way.
    fn baseline_byte_s(&self, taken: &[Vec<Taken>]) -> f64 {
        let baseline = &self.candidates[self.baseline];
        let first = baseline.screening.first().zip(self.limits.screening_bytes.first());
        let times = first.map(|(&case, _)| by_round(&taken[case]).into_values().collect::<Vec<f64>>());
        let time_ns = times.and_then(|times| writebench_stats::median(&times)).unwrap_or(0.0);
        time_ns / 1e9 / first.map_or(1.0, |(_, &bytes)| as_f64(bytes.max(1)))
    }

    /// Half of them the fastest, half of them the simplest of those that are nearly as fast: the simplest of those
    /// that cannot be told apart is recommended, so the simple ones must stay.
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
        // Stable, so that the faster of two that are as simple comes first.
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
        // The answer rests on how the leader compares with the baseline, and on which of the others are as fast as it.
        let is_open = |&candidate: &usize| candidate != leader && verdict(&to_leader(candidate)).is_open();
        let is_decided = self.rounds >= ROUNDS && !kept.iter().any(is_open);
        self.alive = kept;
        self.is_over = is_decided || self.rounds >= MOST_ROUNDS;
        self.rounds += 1;
    }

    /// Those still in the race that have figures on this level, the fastest first.
    fn ranked(&self, taken: &[Vec<Taken>]) -> Vec<(usize, f64)> {
        let median = |&candidate: &usize| {
            let times: Vec<f64> = by_round(&taken[self.case(candidate)]).into_values().collect();
            writebench_stats::median(&times).map(|median| (candidate, median))
        };
        self.in_order(median)
    }

    /// The same by the ratio to the baseline in rounds in common, which a drift of the machine does not change.
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

    /// One candidate's times divided by the other's, in rounds in common.
    fn ratios(&self, candidate: usize, other: usize, taken: &[Vec<Taken>]) -> Vec<f64> {
        let other = by_round(&taken[self.case(other)]);
        let own = by_round(&taken[self.case(candidate)]);
        own.iter().filter_map(|(round, time)| other.get(round).map(|other| time / other)).collect()
    }
}

fn verdict(ratios: &[f64]) -> Verdict {
    writebench_stats::median_interval(ratios, CONFIDENCE)
        .map_or(Verdict::TooFew, |ratio| Verdict::of(&ratio, Verdict::MARGIN))
}

/// Whether these ratios to the leader, in rounds in common, are above 1 at 95 %; or by so much that fewer rounds say it.
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

/// As [`writebench_model::Sample::usable`]: the good ones, less the disturbed unless all are.
fn usable(samples: &[Taken]) -> Vec<&Taken> {
    let good: Vec<&Taken> = samples.iter().filter(|sample| sample.is_ok).collect();
    let calm: Vec<&Taken> = good.iter().copied().filter(|sample| !sample.is_disturbed).collect();
    if calm.is_empty() { good } else { calm }
}

/// Time of all phases, by round.
fn by_round(samples: &[Taken]) -> HashMap<u32, f64> {
    usable(samples).into_iter().map(|sample| (sample.round, as_f64(sample.total_ns))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, and saturating")]
fn floor(value: f64) -> usize {
    value as usize
}

#[cfg(test)]
mod tests;
