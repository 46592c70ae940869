//! A race: many candidates are looked at cheaply, losers are dropped in rounds, the few that are left are
//! measured at the real size.

use std::collections::HashMap;
use std::time::Duration;

use model::Sample;

use crate::schedule::{Schedule, Spent};

/// A candidate, by the places of its cases in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its case at the size of a look.
    pub look: usize,
    /// Its case at the real size; the same where that is no larger.
    pub real: usize,
}

/// What a race may take.
#[derive(Debug, Clone, Copy)]
pub struct RaceLimits {
    /// Time for all of it.
    pub budget: Duration,
    /// Bytes for all of it.
    pub max_bytes: u64,
    /// Bytes of one sample at the real size.
    pub real_bytes: u64,
}

/// The schedule of a race. What it decides follows from the samples and what was spent, and from nothing else.
#[derive(Debug)]
pub struct Race {
    candidates: Vec<Candidate>,
    /// The one that all are compared with in the end; it is measured whatever the looks say.
    naive: usize,
    limits: RaceLimits,
    stage: Stage,
    /// Candidates still in the race.
    alive: Vec<usize>,
    /// Undisturbed samples that each of them should have in this stage.
    target: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Looks,
    Finals,
    Over,
}

/// So many are measured at the real size, and the naive one.
const FINALISTS: usize = 8;
/// Shares of the limits that looks may take.
const LOOKS_SHARE: f64 = 0.4;
/// How much slower than the leader a candidate may look after so many rounds of looks; the last holds for all later.
const LOOKS_CUTOFF: [f64; 3] = [1.8, 1.4, 1.25];
/// With fewer rounds than an interval of 95 % takes, only who lost every one of them by so much is dropped.
const CLEAR_LOSS: f64 = 1.25;
const CLEAR_LOSS_ROUNDS: usize = 3;
/// Nobody needs more.
const MOST_FINAL_ROUNDS: usize = 25;
const CONFIDENCE: f64 = 0.95;

impl Race {
    /// With all candidates at the start. `naive` is an index among them.
    #[must_use]
    pub fn new(candidates: Vec<Candidate>, naive: usize, limits: RaceLimits) -> Self {
        let alive = (0..candidates.len()).collect();
        Self { candidates, naive, limits, stage: Stage::Looks, alive, target: 1 }
    }

    fn case(&self, candidate: usize) -> usize {
        let Candidate { look, real } = self.candidates[candidate];
        if self.stage == Stage::Looks { look } else { real }
    }

    /// Ends rounds and stages that are complete, until somebody wants a sample or the race is over.
    fn advance(&mut self, taken: &[Vec<Sample>], spent: Spent) {
        let has_failed = |index: usize| taken[index].iter().any(|sample| !sample.outcome.is_ok());
        if spent.elapsed >= self.limits.budget {
            self.stage = Stage::Over;
        }
        loop {
            let alive = std::mem::take(&mut self.alive);
            self.alive = alive.into_iter().filter(|&it| !has_failed(self.case(it))).collect();
            match self.stage {
                Stage::Over => return,
                Stage::Looks if self.looks_are_spent(spent) => self.begin_finals(taken),
                _ if self.alive.iter().any(|&it| self.wants(self.case(it), taken)) => return,
                Stage::Looks => self.end_round_of_looks(taken, spent),
                Stage::Finals => self.end_round_of_finals(taken),
            }
        }
    }

    fn wants(&self, case: usize, taken: &[Vec<Sample>]) -> bool {
        let samples = &taken[case];
        // A machine that is never itself gives half of the samples.
        usable(samples).len().max(samples.len() / 2) < self.target || samples.is_empty()
    }

    fn looks_are_spent(&self, spent: Spent) -> bool {
        spent.elapsed.as_secs_f64() >= LOOKS_SHARE * self.limits.budget.as_secs_f64()
            || as_f64(spent.bytes) >= LOOKS_SHARE * as_f64(self.limits.max_bytes)
    }

    fn end_round_of_looks(&mut self, taken: &[Vec<Sample>], spent: Spent) {
        let ranked = self.ranked(taken);
        let cutoff = LOOKS_CUTOFF[(self.target - 1).min(LOOKS_CUTOFF.len() - 1)];
        let Some(&(_, best_ns)) = ranked.first() else {
            self.stage = Stage::Over;
            return;
        };
        // Half of them at most go on, and whoever is close to the best of those.
        let half = ranked.len().div_ceil(2).max(FINALISTS);
        let kept = ranked.iter().take(half).filter(|(_, time_ns)| *time_ns <= cutoff * best_ns);
        self.alive = kept.map(|(candidate, _)| *candidate).collect();
        let samples: usize = taken.iter().map(Vec::len).sum();
        let round_s =
            spent.elapsed.as_secs_f64() / as_f64(samples.max(1) as u64) * as_f64(self.alive.len() as u64);
        let left_s = LOOKS_SHARE * self.limits.budget.as_secs_f64() - spent.elapsed.as_secs_f64();
        if self.alive.len() <= FINALISTS || round_s > left_s {
            self.begin_finals(taken);
        } else {
            self.target += 1;
        }
    }

    /// The best of those that were looked at, as many as the limits allow to be measured often enough.
    fn begin_finals(&mut self, taken: &[Vec<Sample>]) {
        const ROUNDS: u64 = 8;
        let affordable = self.limits.max_bytes / self.limits.real_bytes.max(1) / ROUNDS;
        let most = usize::try_from(affordable).unwrap_or(usize::MAX).clamp(2, FINALISTS);
        let ranked = self.ranked(taken);
        self.alive = ranked.into_iter().take(most).map(|(candidate, _)| candidate).collect();
        self.stage = if self.alive.is_empty() { Stage::Over } else { Stage::Finals };
        let Candidate { look, real } = self.candidates[self.naive];
        let is_able = [look, real].iter().all(|&case| taken[case].iter().all(|sample| sample.outcome.is_ok()));
        if is_able && !self.alive.contains(&self.naive) {
            self.alive.push(self.naive);
        }
        self.target = 1;
    }

    fn end_round_of_finals(&mut self, taken: &[Vec<Sample>]) {
        let ranked = self.ranked(taken);
        let Some(&(best, _)) = ranked.first() else {
            self.stage = Stage::Over;
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
        if is_decided || self.target >= MOST_FINAL_ROUNDS {
            self.stage = Stage::Over;
        }
        self.target += 1;
    }

    /// Those still in the race that have figures in this stage, the fastest first.
    fn ranked(&self, taken: &[Vec<Sample>]) -> Vec<(usize, f64)> {
        let median = |&candidate: &usize| {
            let times: Vec<f64> = by_round(&taken[self.case(candidate)]).into_values().collect();
            stats::median(&times).map(|median| (candidate, median))
        };
        let mut ranked: Vec<(usize, f64)> = self.alive.iter().filter_map(median).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        ranked
    }
}

/// The least with an interval of 95 % for the median.
const ROUNDS_FOR_95: usize = 6;

/// Whether the interval of these ratios to the leader, in rounds in common, lies above 1; or nearly as sure, with fewer.
fn is_clear_loss(ratios: &[f64]) -> bool {
    let Some(interval) = stats::median_interval(ratios, CONFIDENCE) else { return false };
    if interval.confidence >= CONFIDENCE {
        return interval.low > 1.0;
    }
    ratios.len() >= CLEAR_LOSS_ROUNDS && ratios.iter().all(|&ratio| ratio > CLEAR_LOSS)
}

impl Schedule for Race {
    fn wanted(&mut self, taken: &[Vec<Sample>], spent: Spent) -> Vec<usize> {
        self.advance(taken, spent);
        let mut wanted = vec![0; taken.len()];
        if self.stage != Stage::Over {
            for &candidate in &self.alive {
                let case = self.case(candidate);
                wanted[case] = usize::from(self.wants(case, taken));
            }
        }
        wanted
    }
}

/// The good samples, less the disturbed unless all are.
fn usable(samples: &[Sample]) -> Vec<&Sample> {
    let good = || samples.iter().filter(|sample| sample.outcome.is_ok());
    let calm: Vec<&Sample> = good().filter(|sample| sample.disturbed.is_none()).collect();
    if calm.is_empty() { good().collect() } else { calm }
}

/// Time of all phases, by round.
fn by_round(samples: &[Sample]) -> HashMap<u32, f64> {
    usable(samples).into_iter().map(|sample| (sample.round, as_f64(sample.phases_ns.total()))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "durations and shares")]
fn as_f64(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Failure, Outcome, Phase};
    use rand::{RngExt as _, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const LOOK_BYTES: u64 = 16 << 20;
    const REAL_BYTES: u64 = 256 << 20;

    /// A race on a machine whose samples take `times` seconds for each GiB, with so much noise, half of it common to
    /// a round.
    struct World {
        seconds_per_gib: Vec<f64>,
        noise: f64,
        fails: Option<usize>,
        random: Pcg64Mcg,
        taken: Vec<Vec<Sample>>,
        spent: Spent,
    }

    impl World {
        fn new(seconds_per_gib: Vec<f64>, noise: f64, seed: u8) -> Self {
            let cases = seconds_per_gib.len() * 2;
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
            RaceLimits { budget: Duration::from_secs(60), max_bytes: 32 * (1 << 30), real_bytes: REAL_BYTES }
        }

        /// Runs until nobody wants a sample; the fastest at the real size.
        fn run(&mut self, naive: usize) -> usize {
            let count = self.seconds_per_gib.len();
            let candidates = (0..count).map(|index| Candidate { look: index, real: count + index }).collect();
            let mut race = Race::new(candidates, naive, self.limits());
            for round in 0.. {
                let wanted = race.wanted(&self.taken, self.spent);
                if wanted.iter().all(|&wanted| wanted == 0) {
                    break;
                }
                let drift = 1.0 + self.noise * self.random.random::<f64>();
                for case in (0..2 * count).filter(|&case| wanted[case] > 0) {
                    self.sample(case, round, drift);
                }
            }
            let median =
                |case: usize| stats::median(&by_round(&self.taken[case]).into_values().collect::<Vec<_>>());
            let medians = (0..count).filter_map(|index| Some((index, median(count + index)?)));
            medians.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index).unwrap()
        }

        fn sample(&mut self, case: usize, round: u32, drift: f64) {
            let count = self.seconds_per_gib.len();
            let bytes = if case < count { LOOK_BYTES } else { REAL_BYTES };
            let noise = drift * (1.0 + self.noise * self.random.random::<f64>());
            let seconds = self.seconds_per_gib[case % count] * as_f64(bytes) / as_f64(1 << 30) * noise;
            let outcome = if self.fails == Some(case) { failed() } else { Outcome::Ok };
            let mut sample = Sample::without_figures(round, outcome);
            sample.phases_ns.write = u64::try_from(Duration::from_secs_f64(seconds).as_nanos()).unwrap();
            self.spent.elapsed += Duration::from_secs_f64(seconds + 0.03);
            self.spent.bytes += bytes;
            self.taken[case].push(sample);
        }
    }

    fn failed() -> Outcome {
        Outcome::Failed(Failure {
            phase: Phase::Write,
            call: "write".to_owned(),
            path: None,
            offset: None,
            errno: Some(28),
            message: String::new(),
        })
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
        assert!(world.taken[200 + slowest].len() >= ROUNDS_FOR_95);
        let finalists = world.taken[200..].iter().filter(|samples| !samples.is_empty()).count();
        assert!(finalists <= FINALISTS + 1, "{finalists}");
    }

    #[test]
    fn a_candidate_that_fails_in_the_finals_leaves_the_race_to_the_others() {
        let mut world = World::new(field(), 0.02, 5);
        world.fails = Some(200 + 123);
        let pick = world.run(0);
        assert!(pick != 123 && world.seconds_per_gib[pick] < 0.23, "{pick}");
        assert_eq!(world.taken[200 + 123].len(), 1);
    }

    #[test]
    fn it_ends_when_time_is_over_even_in_the_middle_of_the_looks() {
        let mut world = World::new(vec![20.0; 400], 0.01, 7);
        let candidates = (0..400).map(|index| Candidate { look: index, real: 400 + index }).collect();
        let mut race = Race::new(candidates, 0, world.limits());
        for case in 0..100 {
            world.sample(case, 0, 1.0);
        }
        let wanted = race.wanted(&world.taken, world.spent);
        let finalists = wanted[400..].iter().filter(|&&wanted| wanted > 0).count();
        assert_eq!((wanted[..400].iter().sum::<usize>(), finalists), (0, FINALISTS + 1), "{:?}", world.spent);
        world.spent.elapsed = Duration::from_secs(60);
        assert_eq!(race.wanted(&world.taken, world.spent).iter().sum::<usize>(), 0);
    }

    #[test]
    fn one_candidate_needs_no_race_and_none_is_none() {
        let mut world = World::new(vec![1.0], 0.01, 9);
        assert_eq!(world.run(0), 0);
        assert!(world.taken[1].len() <= ROUNDS_FOR_95, "{}", world.taken[1].len());
        let mut race = Race::new(Vec::new(), 0, world.limits());
        assert!(race.wanted(&[], Spent::default()).is_empty());
    }
}
