//! A race: many candidates are looked at cheaply, losers are dropped in rounds, the few that are left are
//! measured at the real size.
//!
//! It goes up in levels, each with larger files than the one before, as successive halving does (Jamieson and
//! Talwalkar, *Non-stochastic Best Arm Identification and Hyperparameter Optimization*, AISTATS 2016). On the levels
//! of looks who is much slower than the best of a round's medians is dropped, and at least half of all; on the
//! last level only whose interval is clear of the leader's.

use std::collections::HashMap;
use std::time::Duration;

use writebench_stats::{CONFIDENCE, as_f64};

use crate::schedule::{Schedule, Spent, Taken};

/// What a race may take.
#[derive(Debug, Clone)]
pub struct RaceLimits {
    /// Time for all of it.
    pub budget: Duration,
    /// Bytes for all of it.
    pub max_bytes: u64,
    /// Bytes of one sample on each level, the real size last.
    pub level_bytes: Vec<u64>,
}

/// The schedule of a race. What it decides follows from the samples and what was spent, and from nothing else.
#[derive(Debug)]
pub struct Race {
    // For each candidate the places of its cases in the plan, one for each level. Levels may share a case.
    candidates: Vec<Vec<usize>>,
    // The one that all are compared with in the end; it is measured whatever the looks say.
    naive: usize,
    limits: RaceLimits,
    level: usize,
    is_over: bool,
    // Candidates still in the race.
    alive: Vec<usize>,
    // Undisturbed samples that each of them should have on this level.
    target: usize,
    // What was spent, and how many samples were taken, when the level began.
    begin: (Spent, usize),
    wanted: Vec<usize>,
}

/// Most that are measured at the real size, beside the naive one, and the least.
const FINALISTS: usize = 8;
const LEAST_FINALISTS: usize = 2;
/// The share of the limits that all levels of looks may take, divided among them.
const LOOKS_SHARE: f64 = 0.5;
/// How much slower than the leader a candidate may look after so many rounds; the last holds for all later ones.
const CUTOFF: [f64; 3] = [1.8, 1.4, 1.25];
/// On the last level, with fewer rounds than an interval of 95 % takes, only who lost every one of them by so much is
/// dropped.
const CLEAR_LOSS: f64 = 1.25;
const CLEAR_LOSS_ROUNDS: usize = 3;
/// The least with an interval of 95 % for the median.
const ROUNDS_FOR_95: usize = 6;
/// Nobody needs more.
const MOST_FINAL_ROUNDS: usize = 25;

impl Race {
    /// With all candidates at the start. `naive` is an index among them.
    #[must_use]
    pub fn new(candidates: Vec<Vec<usize>>, naive: usize, limits: RaceLimits) -> Self {
        Self {
            alive: (0..candidates.len()).collect(),
            candidates,
            naive,
            limits,
            level: 0,
            is_over: false,
            target: 1,
            begin: (Spent::default(), 0),
            wanted: Vec::new(),
        }
    }

    fn case(&self, candidate: usize) -> usize {
        self.candidates[candidate][self.level]
    }

    fn is_final(&self) -> bool {
        self.level + 1 == self.limits.level_bytes.len()
    }

    /// Ends rounds and levels that are complete, until somebody wants a sample or the race is over.
    fn advance(&mut self, taken: &[Vec<Taken>], spent: Spent) {
        let has_failed = |index: usize| taken[index].iter().any(|sample| !sample.is_ok);
        self.is_over |= spent.elapsed >= self.limits.budget;
        while !self.is_over {
            let alive = std::mem::take(&mut self.alive);
            self.alive = alive.into_iter().filter(|&it| !has_failed(self.case(it))).collect();
            if !self.is_final() && self.is_spent(spent) {
                self.next_level(taken, spent);
            } else if self.alive.iter().any(|&it| self.wants(self.case(it), taken)) {
                return;
            } else if self.is_final() {
                self.end_final_round(taken);
            } else {
                self.end_round_of_looks(taken, spent);
            }
        }
    }

    fn wants(&self, case: usize, taken: &[Vec<Taken>]) -> bool {
        let samples = &taken[case];
        // A machine that is never itself gives half of the samples.
        usable(samples).len().max(samples.len() / 2) < self.target || samples.is_empty()
    }

    /// Of one sample on this level.
    fn sample_bytes(&self) -> f64 {
        as_f64(self.limits.level_bytes[self.level].max(1))
    }

    /// The share of the limits that may be spent when this level ends.
    fn share(&self) -> f64 {
        let looks = self.limits.level_bytes.len().saturating_sub(1).max(1);
        LOOKS_SHARE * as_f64(self.level as u64 + 1) / as_f64(looks as u64)
    }

    fn is_spent(&self, spent: Spent) -> bool {
        let (seconds, bytes) = self.left(self.share(), spent);
        seconds <= 0.0 || bytes <= 0.0
    }

    /// Seconds and bytes that are left of that share of the limits.
    fn left(&self, share: f64, spent: Spent) -> (f64, f64) {
        let seconds = share * self.limits.budget.as_secs_f64() - spent.elapsed.as_secs_f64();
        (seconds, share * as_f64(self.limits.max_bytes) - as_f64(spent.bytes))
    }

    fn end_round_of_looks(&mut self, taken: &[Vec<Taken>], spent: Spent) {
        let ranked = self.ranked(taken);
        let cutoff = CUTOFF[(self.target - 1).min(CUTOFF.len() - 1)];
        let Some(&(_, best_ns)) = ranked.first() else {
            self.is_over = true;
            return;
        };
        let half = ranked.len().div_ceil(2).max(FINALISTS);
        let kept = ranked.iter().take(half).filter(|(_, time_ns)| *time_ns <= cutoff * best_ns);
        self.alive = kept.map(|(candidate, _)| *candidate).collect();
        let (samples, seconds) = self.since_begin(taken, spent);
        let round_s = seconds / samples * as_f64(self.alive.len() as u64);
        let round_bytes = self.limits.level_bytes[self.level].saturating_mul(self.alive.len() as u64);
        let (left_s, left_bytes) = self.left(self.share(), spent);
        let is_last = self.target >= CUTOFF.len() || self.alive.len() <= FINALISTS;
        if is_last || round_s > left_s || as_f64(round_bytes) > left_bytes {
            self.next_level(taken, spent);
        } else {
            self.target += 1;
        }
    }

    /// Samples taken on this level, one at least, and the time they took.
    fn since_begin(&self, taken: &[Vec<Taken>], spent: Spent) -> (f64, f64) {
        let samples = taken.iter().map(Vec::len).sum::<usize>().saturating_sub(self.begin.1);
        let time = spent.elapsed.saturating_sub(self.begin.0.elapsed);
        (as_f64(samples.max(1) as u64), time.as_secs_f64())
    }

    /// Goes on with the best, as many as can be measured often enough on the next level.
    fn next_level(&mut self, taken: &[Vec<Taken>], spent: Spent) {
        let (samples, seconds) = self.since_begin(taken, spent);
        let (own_bytes, ranked) = (self.sample_bytes(), self.ranked(taken));
        self.level += 1;
        // One slow sample may have spent the share of the next level, too.
        while !self.is_final() && self.is_spent(spent) {
            self.level += 1;
        }
        let next_bytes = self.sample_bytes();
        let (rounds, share, beside) =
            if self.is_final() { (ROUNDS_FOR_95, 1.0, 1) } else { (2, self.share(), 0) };
        // A larger file takes longer in proportion, at most.
        let sample_s = seconds / samples * next_bytes / own_bytes;
        let (left_s, left_bytes) = self.left(share, spent);
        let affordable = (left_s / sample_s.max(1e-9)).min(left_bytes / next_bytes) / as_f64(rounds as u64);
        let most = if self.is_final() { FINALISTS } else { usize::MAX };
        let most = floor(affordable).saturating_sub(beside).clamp(LEAST_FINALISTS, most);
        self.alive = ranked.into_iter().take(most).map(|(candidate, _)| candidate).collect();
        self.is_over = self.alive.is_empty();
        self.target = 1;
        self.begin = (spent, taken.iter().map(Vec::len).sum());
        let naive = &self.candidates[self.naive];
        let is_able = naive.iter().all(|&case| taken[case].iter().all(|sample| sample.is_ok));
        if self.is_final() && is_able && !self.alive.contains(&self.naive) {
            self.alive.push(self.naive);
        }
    }

    fn end_final_round(&mut self, taken: &[Vec<Taken>]) {
        let ranked = self.ranked(taken);
        let Some(&(best, _)) = ranked.first() else {
            self.is_over = true;
            return;
        };
        let leader = by_round(&taken[self.case(best)]);
        let has_lost = |candidate: usize| {
            let own = by_round(&taken[self.case(candidate)]);
            let ratios: Vec<f64> =
                own.iter().filter_map(|(round, time)| leader.get(round).map(|best| time / best)).collect();
            candidate != best && is_clear_loss(&ratios)
        };
        let alive = self.alive.iter().copied();
        // The naive one has to be measured, not to win.
        let kept = alive.filter(|&it| !has_lost(it) || (it == self.naive && self.target < ROUNDS_FOR_95));
        self.alive = kept.collect();
        let rivals =
            self.alive.iter().filter(|&&candidate| candidate != self.naive || best == candidate).count();
        let is_decided = rivals <= 1 && self.target >= ROUNDS_FOR_95;
        self.is_over = is_decided || self.target >= MOST_FINAL_ROUNDS;
        self.target += 1;
    }

    /// Those still in the race that have figures on this level, the fastest first.
    fn ranked(&self, taken: &[Vec<Taken>]) -> Vec<(usize, f64)> {
        let median = |&candidate: &usize| {
            let times: Vec<f64> = by_round(&taken[self.case(candidate)]).into_values().collect();
            writebench_stats::median(&times).map(|median| (candidate, median))
        };
        let mut ranked: Vec<(usize, f64)> = self.alive.iter().filter_map(median).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        ranked
    }
}

/// Whether the interval of these ratios to the leader, in rounds in common, lies above 1; or nearly as sure, with fewer.
fn is_clear_loss(ratios: &[f64]) -> bool {
    let Some(interval) = writebench_stats::median_interval(ratios, CONFIDENCE) else { return false };
    if interval.confidence >= CONFIDENCE {
        return interval.low > 1.0;
    }
    ratios.len() >= CLEAR_LOSS_ROUNDS && ratios.iter().all(|&ratio| ratio > CLEAR_LOSS)
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
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const LEVEL_BYTES: [u64; 3] = [4 << 20, 32 << 20, 256 << 20];
    const LEVELS: usize = LEVEL_BYTES.len();

    /// A race on a machine whose samples take `times` seconds for each GiB, with so much noise, half of it common to
    /// a round.
    struct World {
        seconds_per_gib: Vec<f64>,
        noise: f64,
        fails: Option<usize>,
        random: Pcg64Mcg,
        taken: Vec<Vec<Taken>>,
        spent: Spent,
    }

    impl World {
        fn new(seconds_per_gib: Vec<f64>, noise: f64, seed: u8) -> Self {
            let cases = seconds_per_gib.len() * LEVELS;
            let random = Pcg64Mcg::from_seed([seed | 1; 16]);
            Self {
                seconds_per_gib,
                noise,
                fails: None,
                random,
                taken: vec![Vec::new(); cases],
                spent: Spent::default(),
            }
        }

        fn limits(&self) -> RaceLimits {
            RaceLimits {
                budget: Duration::from_secs(60),
                max_bytes: 32 * LEVEL_BYTES[LEVELS - 1],
                level_bytes: LEVEL_BYTES.to_vec(),
            }
        }

        /// Runs until nobody wants a sample; the fastest at the real size.
        fn run(&mut self, naive: usize) -> usize {
            let count = self.seconds_per_gib.len();
            let mut race = Race::new(candidates(count), naive, self.limits());
            for round in 0.. {
                let wanted = race.wanted(&self.taken, self.spent).to_vec();
                if wanted.iter().all(|&wanted| wanted == 0) {
                    break;
                }
                let drift = 1.0 + self.noise * self.random.random::<f64>();
                for case in (0..LEVELS * count).filter(|&case| wanted[case] > 0) {
                    self.sample(case, round, drift);
                }
            }
            let median = |case: usize| {
                writebench_stats::median(&by_round(&self.taken[case]).into_values().collect::<Vec<_>>())
            };
            let medians = (0..count).filter_map(|index| Some((index, median((LEVELS - 1) * count + index)?)));
            medians.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index).unwrap()
        }

        fn sample(&mut self, case: usize, round: u32, drift: f64) {
            let count = self.seconds_per_gib.len();
            let bytes = LEVEL_BYTES[case / count];
            let noise = drift * (1.0 + self.noise * self.random.random::<f64>());
            let seconds = self.seconds_per_gib[case % count] * as_f64(bytes) / as_f64(1 << 30) * noise;
            let total_ns = u64::try_from(Duration::from_secs_f64(seconds).as_nanos()).unwrap();
            let is_ok = self.fails != Some(case);
            self.spent.elapsed += Duration::from_secs_f64(seconds + 0.03);
            self.spent.bytes += bytes;
            self.taken[case].push(Taken { total_ns, round, is_ok, is_disturbed: false });
        }
    }

    /// Candidate `i` has case `level * count + i` on each level.
    fn candidates(count: usize) -> Vec<Vec<usize>> {
        (0..count).map(|index| (0..LEVELS).map(|level| level * count + index).collect()).collect()
    }

    /// 200 candidates from 0.2 to 1.2 s, in no order, the best by 4 %.
    fn field() -> Vec<f64> {
        let mut field: Vec<f64> = (0u32..200).map(|index| 0.21 + f64::from(index * 37 % 200) / 200.0).collect();
        field[123] = 0.2;
        field
    }

    #[test]
    fn the_best_of_two_hundred_is_found_among_noise_in_a_tenth_of_the_time() {
        let mut hits = 0;
        for seed in 0..20 {
            let mut world = World::new(field(), 0.05, seed * 2);
            let pick = world.run(0);
            hits += usize::from(world.seconds_per_gib[pick] < 0.2 * 1.03);
            // Six samples of each at the real size.
            let exhaustive_s: f64 = world.seconds_per_gib.iter().map(|s| 6.0 * (s / 4.0 + 0.03)).sum();
            assert!(world.spent.elapsed.as_secs_f64() < exhaustive_s / 4.0, "{:?}", world.spent);
        }
        assert!(hits >= 18, "{hits} of 20 within 3 %");
    }

    #[test]
    fn the_naive_way_is_measured_at_the_real_size_though_it_loses() {
        let mut world = World::new(field(), 0.02, 3);
        let slowest =
            (0..200).max_by(|&a, &b| world.seconds_per_gib[a].total_cmp(&world.seconds_per_gib[b])).unwrap();
        world.run(slowest);
        assert!(world.taken[400 + slowest].len() >= ROUNDS_FOR_95);
        let finalists = world.taken[400..].iter().filter(|samples| !samples.is_empty()).count();
        assert!(finalists <= FINALISTS + 1, "{finalists}");
    }

    #[test]
    fn a_candidate_that_fails_in_the_finals_leaves_the_race_to_the_others() {
        let mut world = World::new(field(), 0.02, 5);
        world.fails = Some(400 + 123);
        let pick = world.run(0);
        assert!(pick != 123 && world.seconds_per_gib[pick] < 0.23, "{pick}");
        assert_eq!(world.taken[400 + 123].len(), 1);
    }

    #[test]
    fn the_limits_are_kept_and_leave_room_for_the_finals() {
        for seed in [3, 5, 7] {
            let mut world = World::new(field(), 0.05, seed);
            world.run(0);
            let Spent { elapsed, bytes } = world.spent;
            assert!(bytes <= 33 * LEVEL_BYTES[2] && elapsed < Duration::from_secs(61), "{elapsed:?}, {bytes}");
            let finals: usize = world.taken[400..].iter().map(Vec::len).sum();
            assert!(finals >= 3 * ROUNDS_FOR_95, "{finals} samples at the real size");
        }
    }

    #[test]
    fn it_goes_on_when_a_level_has_had_its_share_and_ends_when_time_is_over() {
        let mut world = World::new(vec![200.0; 400], 0.01, 7);
        let mut race = Race::new(candidates(400), 0, world.limits());
        // Twenty looks of 4 MiB, more than three quarters of a second each.
        for case in 0..20 {
            world.sample(case, 0, 1.0);
        }
        let wanted = race.wanted(&world.taken, world.spent);
        let of_level = |level: usize| wanted[level * 400..(level + 1) * 400].iter().sum::<usize>();
        assert_eq!((of_level(0), of_level(1), of_level(2)), (0, LEAST_FINALISTS, 0), "{:?}", world.spent);
        world.spent.elapsed = Duration::from_secs(60);
        assert_eq!(race.wanted(&world.taken, world.spent).iter().sum::<usize>(), 0);
    }

    #[test]
    fn one_candidate_needs_no_race_and_none_is_none() {
        let mut world = World::new(vec![1.0], 0.01, 9);
        assert_eq!(world.run(0), 0);
        assert!(world.taken[2].len() <= ROUNDS_FOR_95, "{}", world.taken[2].len());
        let mut race = Race::new(Vec::new(), 0, world.limits());
        assert!(race.wanted(&[], Spent::default()).is_empty());
    }
}
