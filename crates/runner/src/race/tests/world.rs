//! A simulated machine for hundreds of races.

use std::collections::HashSet;
use std::time::Duration;

use rand::{RngExt as _, SeedableRng};
use rand_pcg::Pcg64Mcg;
use writebench_model::Case;
use writebench_stats::{Standings, as_f64};

use crate::contest::JudgedSamples;
use crate::race::{Candidate, Race, RaceLimits};
use crate::schedule::{SampleSummary, Schedule as _, Spent};
use crate::search_samples::floor;

/// Two levels of screening, then the possible sizes of the final.
pub(super) const LEVEL_BYTES: [u64; 5] = [4 << 20, 32 << 20, 256 << 20, 128 << 20, 64 << 20];
pub(super) const LEVELS: usize = LEVEL_BYTES.len();
pub(super) const REAL: usize = 2;

/// Half of the noise is common to a round.
pub(super) struct World {
    pub(super) seconds_per_gib: Vec<f64>,
    /// Factors on each level, for each candidate. Empty: 1.
    pub(super) cliffs: Vec<Vec<f64>>,
    pub(super) values: Vec<Vec<u16>>,
    pub(super) efforts: Vec<u32>,
    pub(super) noise: f64,
    pub(super) fails: HashSet<usize>,
    /// Candidates that share blocks, and those known to.
    pub(super) shares: HashSet<usize>,
    pub(super) clones: HashSet<usize>,
    pub(super) unlucky: Option<usize>,
    /// The finalists of an earlier race.
    pub(super) found: HashSet<usize>,
    pub(super) limits: RaceLimits,
    /// The work around a sample, in seconds.
    pub(super) around_s: f64,
    pub(super) random: Pcg64Mcg,
    pub(super) taken: Vec<Vec<SampleSummary>>,
    pub(super) spent: Spent,
}

impl World {
    pub(super) fn new(seconds_per_gib: Vec<f64>, noise: f64, seed: u8) -> Self {
        let count = seconds_per_gib.len();
        let limits = RaceLimits {
            budget: Duration::from_secs(60),
            max_bytes: 58 * LEVEL_BYTES[REAL],
            screening_bytes: LEVEL_BYTES[..REAL].to_vec(),
            final_bytes: LEVEL_BYTES[REAL..].to_vec(),
            times_written: 1,
        };
        Self {
            seconds_per_gib,
            cliffs: Vec::new(),
            // Candidates share no values, so none predicts another.
            values: (0u16..).take(count).map(|number| vec![number]).collect(),
            efforts: vec![0; count],
            noise,
            fails: HashSet::new(),
            shares: HashSet::new(),
            clones: HashSet::new(),
            unlucky: None,
            found: HashSet::new(),
            limits,
            around_s: 0.03,
            random: Pcg64Mcg::from_seed([seed | 1; 16]),
            taken: vec![Vec::new(); count * LEVELS],
            spent: Spent::default(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.efforts.len()
    }

    pub(super) fn race(&self, baseline: usize) -> Race {
        let candidate = |index: usize| {
            let case = |level: usize| level * self.count() + index;
            Candidate {
                was_finalist: self.found.contains(&index),
                values: self.values[index].clone(),
                screening: (0..REAL).map(case).collect(),
                finals: (REAL..LEVELS).map(case).collect(),
            }
        };
        // Different chunks do not make a case simpler.
        let case = |position: usize| {
            let level = position / self.count();
            let index = position % self.count();
            let size = LEVEL_BYTES[level];
            let chunk = index + 1 + (self.efforts[index] << 20) as usize;
            let is_clone = self.clones.contains(&index);
            let name = if is_clone {
                "ficlone".into()
            } else {
                format!("write,size={size},chunk={chunk}")
            };
            Case::parse(&name).unwrap()
        };
        let cases = (0..LEVELS * self.count()).map(case).collect();
        Race::new(
            (0..self.count()).map(candidate).collect(),
            baseline,
            cases,
            self.limits.clone(),
        )
    }

    /// Runs the race to its end. Returns the fastest in the final.
    pub(super) fn run(&mut self, baseline: usize) -> usize {
        let mut race = self.race(baseline);
        for round in 0.. {
            let wanted = race.wanted(&self.taken, self.spent).to_vec();
            if wanted.iter().all(|&wanted| wanted == 0) {
                break;
            }
            let drift = self.draw();
            for case in (0..wanted.len()).filter(|&case| wanted[case] > 0) {
                if race.wanted(&self.taken, self.spent)[case] > 0 {
                    self.sample(case, round, drift);
                }
            }
        }
        let samples: Vec<_> = self
            .on(self.final_level())
            .iter()
            .map(Vec::as_slice)
            .collect();
        let standings = Standings::of(&JudgedSamples::of(&samples).by_round);
        standings
            .leader((0..self.count()).filter(|&index| standings.can_answer(index)))
            .unwrap()
    }

    pub(super) fn final_level(&self) -> usize {
        let most = |level: &usize| self.on(*level).iter().map(Vec::len).max();
        (REAL..LEVELS).rev().max_by_key(most).unwrap()
    }

    pub(super) fn on(&self, level: usize) -> &[Vec<SampleSummary>] {
        &self.taken[level * self.count()..(level + 1) * self.count()]
    }

    pub(super) fn is_measured(&self, level: usize) -> bool {
        self.on(level).iter().any(|samples| !samples.is_empty())
    }

    pub(super) fn with_samples(&self, least: usize) -> Vec<usize> {
        let is_there = |(index, samples): (usize, &Vec<SampleSummary>)| {
            (samples.len() >= least).then_some(index)
        };
        self.on(REAL)
            .iter()
            .enumerate()
            .filter_map(is_there)
            .collect()
    }

    /// Without noise.
    pub(super) fn seconds(&self, level: usize, candidate: usize) -> f64 {
        let cliff = self
            .cliffs
            .get(level)
            .map_or(1.0, |cliffs| cliffs[candidate]);
        self.seconds_per_gib[candidate] * cliff * as_f64(LEVEL_BYTES[level]) / as_f64(1 << 30)
    }

    /// Log-normal noise, by the sum of uniform numbers.
    fn draw(&mut self) -> f64 {
        let normal: f64 = (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0;
        (normal * self.noise * 0.5f64.sqrt()).exp()
    }

    pub(super) fn sample(&mut self, case: usize, round: u32, drift: f64) {
        let level = case / self.count();
        let candidate = case % self.count();
        let is_unlucky = self.unlucky == Some(case) && self.taken[case].is_empty();
        let luck = if is_unlucky { 4.0 } else { 1.0 };
        let seconds = self.seconds(level, candidate) * drift * self.draw() * luck;
        let total_ns = u64::try_from(Duration::from_secs_f64(seconds).as_nanos()).unwrap();
        let is_ok = !self.fails.contains(&case);
        self.spent.elapsed += Duration::from_secs_f64(seconds + self.around_s);
        self.spent.bytes += LEVEL_BYTES[level];
        let shares_blocks = self.shares.contains(&candidate);
        self.taken[case].push(SampleSummary {
            is_ok,
            shares_blocks,
            ..SampleSummary::good(round, total_ns)
        });
    }

    pub(super) fn grid_s(&self) -> f64 {
        (0..self.count())
            .map(|index| 6.0 * (self.seconds(REAL, index) + self.around_s))
            .sum()
    }

    pub(super) fn regret(&self, candidate: usize) -> f64 {
        let best = (0..self.count())
            .map(|index| self.seconds(REAL, index))
            .fold(f64::INFINITY, f64::min);
        self.seconds(REAL, candidate) / best
    }
}

/// The number of values on each axis of [`six_hundred`].
const AXES: [u16; 7] = [6, 4, 3, 3, 3, 3, 2];

/// A plausible space of 600 candidates: twelve methods, each with some of the axes, whose values matter
/// more for some methods. Each candidate has an individual part, and some values are up to 10 % slower at
/// the real size.
pub(super) fn six_hundred(noise: f64, seed: u8) -> World {
    let mut random = Pcg64Mcg::from_seed([seed.wrapping_mul(7) | 1; 16]);
    let mut effects = |most: f64| {
        AXES.map(|count| {
            (0..count)
                .map(|_| most * random.random::<f64>())
                .collect::<Vec<f64>>()
        })
    };
    let (common, mut values, mut logs, mut cliffs) =
        (effects(0.5), Vec::new(), Vec::new(), Vec::new());
    for method in 0..12 {
        let own = effects(0.25);
        let cliff = effects(0.1);
        let of_method = effects(0.8)[0][0];
        let has = effects(1.0).map(|draws| draws[0] < 0.6);
        for _ in 0..50 {
            let draws = effects(1.0);
            let point: Vec<Option<usize>> = (0..AXES.len())
                .map(|axis| has[axis].then(|| floor(draws[axis][0] * f64::from(AXES[axis]))))
                .collect();
            let of = |effects: &[Vec<f64>]| -> f64 {
                effects
                    .iter()
                    .zip(&point)
                    .filter_map(|(effects, at)| at.map(|at| effects[at]))
                    .sum()
            };
            let numbers = point
                .iter()
                .map(|at| at.map_or(0, |at| u16::try_from(at).unwrap() + 1));
            values.push([vec![method], numbers.collect()].concat());
            logs.push(of_method + of(&common) + of(&own) + 0.08 * draws[0][1]);
            cliffs.push(of(&cliff).exp());
        }
    }
    let mut world = World::new(
        logs.into_iter().map(|log: f64| 0.4 * log.exp()).collect(),
        noise,
        seed,
    );
    let none = vec![1.0; values.len()];
    world.cliffs = vec![none.clone(), none, cliffs.clone(), cliffs.clone(), cliffs];
    world.values = values;
    world
}
