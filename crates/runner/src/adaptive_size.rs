//! A run whose budget decides the size of its files.
//!
//! A size is chosen once, after a pilot: a few samples with small files, which count in no value. The choice is the
//! largest size of which enough samples will fit. The time inside the clock grows at most as the bytes do, and the time around
//! it hardly grows. If no size fits, the smallest is chosen.

use std::time::Duration;

use writebench_model::{Decision, Settings};
use writebench_stats::as_f64;

use crate::planned_target::PlannedTarget;
use crate::round_order::PlannedCase;
use crate::schedule::{SampleSummary, Schedule, Spent};

/// A size of the files, and the schedule of the samples with it.
pub struct SizedSchedule {
    /// The number of samples that must fit into the limits.
    pub samples: u64,
    /// The bytes that these write.
    pub bytes: u64,
    /// The bytes of a sample with this size as a multiple of the pilot's, for each case of the pilot.
    pub growth: Vec<f64>,
    /// It wants samples only of cases with this size.
    pub schedule: Box<dyn Schedule>,
}

pub struct AdaptiveSize {
    // The positions in the plan of cases with small files, which show how long a sample takes.
    pilot: Vec<usize>,
    // The largest size first.
    sizes: Vec<SizedSchedule>,
    budget: Option<Duration>,
    max_bytes: Option<u64>,
    // The time around each sample of the pilot, outside the clock.
    around_s: Vec<f64>,
    // The time inside the clock of all samples of the pilot.
    timed: Duration,
    began: Option<Spent>,
    spent: Option<Spent>,
    chosen: Option<usize>,
    wanted: Vec<usize>,
}

/// The least number of samples in a pilot. The first one may wait for the start of an agent.
const LEAST_PILOT: usize = 3;
/// The least number of samples of each case in a small pilot, because another program may slow down one of them.
const LEAST_ROUNDS: usize = 2;
/// A pilot of so many cases has one sample of each.
const MANY_CASES: usize = 12;
/// A pilot ends early after this share of the budget. What takes so long with small files takes too long with large ones.
const PILOT_SHARE: f64 = 0.1;

/// The planned share of the limits. The rest is for repetitions of disturbed samples.
const PLANNED: f64 = 0.8;

/// The share of the time at which a loop over records ends. It is large because a loop cut short has no
/// rank.
const LOOP_SHARE: f64 = 0.1;

impl AdaptiveSize {
    /// `pilot` has the positions in the plan of cases with small files, and `sizes` descend. A single size needs no pilot.
    pub fn new(pilot: Vec<usize>, sizes: Vec<SizedSchedule>, settings: &Settings) -> Self {
        Self {
            chosen: (sizes.len() < 2).then_some(0),
            pilot,
            sizes,
            budget: settings.budget_ns.map(Duration::from_nanos),
            max_bytes: settings.max_bytes,
            around_s: Vec::new(),
            timed: Duration::ZERO,
            began: None,
            spent: None,
            wanted: Vec::new(),
        }
    }

    fn chosen(&self) -> Option<&SizedSchedule> {
        self.sizes.get(self.chosen?)
    }

    /// The samples of each case in the pilot.
    fn pilot_rounds(&self) -> usize {
        let cases = self.pilot.len().max(1);
        let least = if cases < MANY_CASES { LEAST_ROUNDS } else { 1 };
        LEAST_PILOT.div_ceil(cases).max(least)
    }

    /// Chooses when the pilot is complete, or has taken too long.
    fn choose(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) {
        if self.chosen.is_some() {
            return;
        }
        let began = *self.began.get_or_insert(spent);
        let samples: Vec<&SampleSummary> =
            self.pilot.iter().flat_map(|&case| &taken[case]).collect();
        let timed = Duration::from_nanos(samples.iter().map(|sample| sample.timed_ns).sum());
        if let Some(before) = self.spent.filter(|_| samples.len() > self.around_s.len()) {
            let took = spent.elapsed.saturating_sub(before.elapsed);
            let around = took.saturating_sub(timed.saturating_sub(self.timed));
            self.around_s.push(around.as_secs_f64());
        }
        (self.spent, self.timed) = (Some(spent), timed);
        let rounds = self.pilot_rounds();
        let is_complete = self.pilot.iter().all(|&case| taken[case].len() >= rounds);
        let took = spent.elapsed.saturating_sub(began.elapsed);
        let is_long = self
            .budget
            .is_some_and(|budget| took > budget.mul_f64(PILOT_SHARE));
        if is_complete || (is_long && !samples.is_empty()) {
            let smallest = self.sizes.len() - 1;
            let fitting = (0..smallest).find(|&size| self.fits(&self.sizes[size], taken, spent));
            self.chosen = Some(fitting.unwrap_or(smallest));
        }
    }

    fn fits(&self, size: &SizedSchedule, taken: &[Vec<SampleSummary>], spent: Spent) -> bool {
        let seconds = as_f64(size.samples) * self.sample_s(size, taken);
        let has_time = self.budget.is_none_or(|budget| {
            seconds <= PLANNED * budget.saturating_sub(spent.elapsed).as_secs_f64()
        });
        let has_bytes = self.max_bytes.is_none_or(|most| {
            as_f64(size.bytes) <= PLANNED * as_f64(most.saturating_sub(spent.bytes))
        });
        has_time && has_bytes
    }

    /// The time of a sample with this size. The fastest samples count, because other programs only slow them down.
    fn sample_s(&self, size: &SizedSchedule, taken: &[Vec<SampleSummary>]) -> f64 {
        let mut grown = Vec::new();
        for (&case, growth) in self.pilot.iter().zip(&size.growth) {
            let times = taken[case]
                .iter()
                .map(|sample| as_f64(sample.timed_ns) / 1e9);
            grown.extend(times.reduce(f64::min).map(|fastest| fastest * growth));
        }
        let around_s = self.around_s.iter().copied().reduce(f64::min);
        around_s.unwrap_or(0.0) + grown.iter().sum::<f64>() / as_f64(grown.len().max(1) as u64)
    }
}

impl Schedule for AdaptiveSize {
    fn loop_limit(&self) -> Option<Duration> {
        self.budget.map(|budget| budget.mul_f64(LOOP_SHARE))
    }

    fn wanted(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) -> &[usize] {
        self.choose(taken, spent);
        if let Some(chosen) = self.chosen {
            return self.sizes[chosen].schedule.wanted(taken, spent);
        }
        self.wanted = vec![0; taken.len()];
        let rounds = self.pilot_rounds();
        for &case in &self.pilot {
            self.wanted[case] = rounds.saturating_sub(taken[case].len());
        }
        &self.wanted
    }

    fn added(&mut self) -> Vec<PlannedCase> {
        let chosen = self.chosen.and_then(|chosen| self.sizes.get_mut(chosen));
        chosen.map_or(Vec::new(), |size| size.schedule.added())
    }

    fn leaves_out_what_does_not_fit(&self) -> bool {
        self.chosen()
            .is_some_and(|size| size.schedule.leaves_out_what_does_not_fit())
    }

    fn decisions(&self, taken: &[Vec<SampleSummary>], targets: &[PlannedTarget]) -> Vec<Decision> {
        self.chosen()
            .map_or(Vec::new(), |size| size.schedule.decisions(taken, targets))
    }

    fn uses_part_of_round(&self) -> bool {
        self.chosen()
            .is_some_and(|size| size.schedule.uses_part_of_round())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::EachCase;

    const MIB: u64 = 1 << 20;
    /// The pilot, then the sizes.
    const SIZES: [u64; 4] = [15, 256, 64, 16];
    const CASES: usize = 10;

    fn settings(budget: Duration) -> Settings {
        let budget_ns = Some(writebench_model::nanoseconds(budget));
        Settings {
            samples: 6,
            budget_ns,
            max_bytes: None,
            ..writebench_testkit::example_run().settings
        }
    }

    /// The chosen size in MiB, its rounds, and the seconds taken. `slow` samples of the pilot take ten times as long.
    fn adaptive_size(
        (first_s, around_s, mib_s): (f64, f64, f64),
        slow: impl Fn(usize) -> bool,
    ) -> (u64, usize, f64) {
        let settings = settings(Duration::from_secs(45));
        let of_size = |(index, mib): (usize, u64)| {
            let cases = index * CASES..(index + 1) * CASES;
            let samples = 6 * CASES as u64;
            SizedSchedule {
                samples,
                bytes: samples * mib * MIB,
                growth: vec![as_f64(mib) / as_f64(SIZES[0]); CASES],
                schedule: Box::new(EachCase::for_settings(&settings).among(cases)),
            }
        };
        let sizes = SIZES.into_iter().enumerate().skip(1).map(of_size);
        let mut schedule = AdaptiveSize::new((0..CASES).collect(), sizes.collect(), &settings);
        let mut taken = vec![Vec::new(); SIZES.len() * CASES];
        let mut spent = Spent::default();
        // The worker starts before the first sample.
        spent.elapsed += Duration::from_secs(1);
        let mut extra_s = first_s;
        let mut number = 0;
        while let Some(case) = schedule
            .wanted(&taken, spent)
            .iter()
            .position(|&wanted| wanted > 0)
        {
            let factor = if case < CASES && slow(number) {
                10.0
            } else {
                1.0
            };
            number += 1;
            let timed_s = factor * mib_s * as_f64(SIZES[case / CASES]);
            let seconds = around_s + timed_s + std::mem::take(&mut extra_s);
            spent.elapsed += Duration::from_secs_f64(seconds);
            let round = u32::try_from(taken[case].len()).unwrap();
            let timed_ns = writebench_model::nanoseconds(Duration::from_secs_f64(timed_s));
            taken[case].push(SampleSummary::good(round, timed_ns));
        }
        let chosen = schedule.chosen.unwrap() + 1;
        (
            SIZES[chosen],
            taken[chosen * CASES].len(),
            spent.elapsed.as_secs_f64(),
        )
    }

    fn quiet(_: usize) -> bool {
        false
    }

    #[test]
    fn a_fast_disk_is_measured_with_the_largest_files_and_a_slow_one_with_smaller_ones() {
        let size = |mib_s| adaptive_size((0.0, 0.005, mib_s), quiet).0;
        assert_eq!([0.0004, 0.004, 0.04].map(size), [256, 64, 16]);
    }

    #[test]
    fn a_slow_first_sample_does_not_change_the_size() {
        let size = |first_s| adaptive_size((first_s, 0.01, 0.002), quiet).0;
        assert_eq!([0.0, 0.14, 0.16, 0.5, 3.0].map(size), [256; 5]);
    }

    #[test]
    fn slow_samples_of_the_pilot_do_not_change_the_size() {
        let size = |slow: fn(usize) -> bool| adaptive_size((0.0, 0.01, 0.0005), slow).0;
        let some: [fn(usize) -> bool; 3] = [quiet, |number| number == 4, |number| number % 2 == 1];
        assert_eq!(some.map(size), [256; 3]);
    }

    #[test]
    fn a_pilot_that_takes_long_ends_early() {
        let (size, _, seconds) = adaptive_size((0.0, 0.01, 0.1), quiet);
        assert_eq!(size, 16);
        let rounds_s = 6.0 * CASES as f64 * 1.61;
        assert!(seconds < 1.0 + rounds_s + 0.1 * 45.0 + 1.6, "{seconds} s");
    }

    #[test]
    fn no_time_around_samples_leads_to_files_below_16_mib() {
        for around_s in [0.001, 0.016, 0.018, 0.025, 0.1, 0.3] {
            let (size, rounds, _) = adaptive_size((0.0, around_s, 0.001), quiet);
            assert!(
                size >= 16 && rounds == 6,
                "{size} MiB, {rounds} rounds at {around_s} s"
            );
        }
    }

    #[test]
    fn all_rounds_fit_whenever_they_fit_with_the_smallest_files() {
        for mib_s in [0.0005, 0.002, 0.01, 0.03] {
            for around_s in [0.001, 0.03, 0.1] {
                let (size, rounds, seconds) = adaptive_size((0.2, around_s, mib_s), quiet);
                assert_eq!(rounds, 6);
                assert!(
                    seconds < 45.0,
                    "{seconds} s with {size} MiB at {mib_s} s for each"
                );
            }
        }
    }
}
