//! A run whose budget decides the size of its files.
//!
//! A size is chosen once, after a pilot: a few samples with small files, which count in no value. The choice is the
//! largest size of which enough samples will fit. A larger file never takes longer in proportion to its size, so the time
//! of the pilot's samples times the ratio of the sizes is an upper estimate. If no size fits, the smallest is chosen.

use std::time::Duration;

use writebench_model::{Decision, Settings};
use writebench_stats::{as_f64, median};

use crate::planned_target::PlannedTarget;
use crate::round_order::PlannedCase;
use crate::schedule::{SampleSummary, Schedule, Spent};

/// A size of the files, and the schedule of the samples with it.
pub struct SizedSchedule {
    pub bytes: u64,
    /// The number of samples that must fit into the limits.
    pub samples: u64,
    /// It wants samples only of cases with this size.
    pub schedule: Box<dyn Schedule>,
}

/// The cases with small files that show how long a sample takes.
#[derive(Debug, Clone, Default)]
pub struct Pilot {
    pub bytes: u64,
    /// Positions in the plan.
    pub cases: Vec<usize>,
}

pub struct AdaptiveSize {
    pilot: Pilot,
    // The largest size first.
    sizes: Vec<SizedSchedule>,
    budget: Option<Duration>,
    max_bytes: Option<u64>,
    // The time of each sample of the pilot.
    seconds: Vec<f64>,
    spent: Option<Spent>,
    chosen: Option<usize>,
    wanted: Vec<usize>,
}

/// The least number of samples in a pilot. The first one may wait for the start of an agent.
const LEAST_PILOT: usize = 3;

/// The planned share of the limits. The rest is for repetitions of disturbed samples.
const PLANNED: f64 = 0.8;

/// The share of the time at which a loop over records ends. It is large because a loop cut short has no
/// rank.
const LOOP_SHARE: f64 = 0.1;

impl AdaptiveSize {
    /// `sizes` descend. A single size needs no pilot.
    pub fn new(pilot: Pilot, sizes: Vec<SizedSchedule>, settings: &Settings) -> Self {
        Self {
            chosen: (sizes.len() < 2).then_some(0),
            pilot,
            sizes,
            budget: settings.budget_ns.map(Duration::from_nanos),
            max_bytes: settings.max_bytes,
            seconds: Vec::new(),
            spent: None,
            wanted: Vec::new(),
        }
    }

    fn chosen(&self) -> Option<&SizedSchedule> {
        self.sizes.get(self.chosen?)
    }

    /// The samples of each case in the pilot.
    fn pilot_rounds(&self) -> usize {
        LEAST_PILOT.div_ceil(self.pilot.cases.len().max(1))
    }

    /// Chooses when the pilot is complete.
    fn choose(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) {
        if self.chosen.is_some() {
            return;
        }
        let samples: usize = self.pilot.cases.iter().map(|&case| taken[case].len()).sum();
        if let Some(before) = self.spent.filter(|_| samples > self.seconds.len()) {
            self.seconds
                .push(spent.elapsed.saturating_sub(before.elapsed).as_secs_f64());
        }
        self.spent = Some(spent);
        let rounds = self.pilot_rounds();
        let is_complete = |&case: &usize| taken[case].len() >= rounds;
        if self.pilot.cases.iter().all(is_complete) {
            let fits = |size: &SizedSchedule| self.fits(size, spent);
            self.chosen = self
                .sizes
                .iter()
                .position(fits)
                .or(Some(self.sizes.len() - 1));
        }
    }

    fn fits(&self, size: &SizedSchedule, spent: Spent) -> bool {
        let samples = as_f64(size.samples);
        let sample_s = self.sample_s() * as_f64(size.bytes) / as_f64(self.pilot.bytes.max(1));
        let bytes = samples * as_f64(size.bytes);
        let has_time = self.budget.is_none_or(|budget| {
            samples * sample_s <= PLANNED * budget.saturating_sub(spent.elapsed).as_secs_f64()
        });
        has_time
            && self
                .max_bytes
                .is_none_or(|most| bytes <= PLANNED * as_f64(most.saturating_sub(spent.bytes)))
    }

    /// The mean without the slowest tenth of the samples, which waited for another program, or were first to use memory
    /// or a source. The median of fewer than four samples is better protected from a slow one.
    fn sample_s(&self) -> f64 {
        if self.seconds.len() < 4 {
            return median(&self.seconds).unwrap_or(0.0);
        }
        let mut seconds = self.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        seconds.truncate((seconds.len() * 9).div_ceil(10));
        seconds.iter().sum::<f64>() / as_f64(seconds.len() as u64)
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
        for &case in &self.pilot.cases {
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

    /// The chosen size in MiB, its rounds, and the seconds taken.
    fn adaptive_size(first_s: f64, sample_s: f64, mib_s: f64) -> (u64, usize, f64) {
        let settings = settings(Duration::from_secs(45));
        let of_size = |(index, mib): (usize, u64)| {
            let cases = index * CASES..(index + 1) * CASES;
            SizedSchedule {
                bytes: mib * MIB,
                samples: 6 * CASES as u64,
                schedule: Box::new(EachCase::for_settings(&settings).among(cases)),
            }
        };
        let sizes = SIZES.into_iter().enumerate().skip(1).map(of_size);
        let pilot = Pilot {
            bytes: SIZES[0] * MIB,
            cases: (0..CASES).collect(),
        };
        let mut schedule = AdaptiveSize::new(pilot, sizes.collect(), &settings);
        let mut taken = vec![Vec::new(); SIZES.len() * CASES];
        let mut spent = Spent::default();
        // The worker starts before the first sample.
        spent.elapsed += Duration::from_secs(1);
        let mut extra_s = first_s;
        while let Some(case) = schedule
            .wanted(&taken, spent)
            .iter()
            .position(|&wanted| wanted > 0)
        {
            let seconds =
                sample_s + mib_s * as_f64(SIZES[case / CASES]) + std::mem::take(&mut extra_s);
            spent.elapsed += Duration::from_secs_f64(seconds);
            let round = u32::try_from(taken[case].len()).unwrap();
            taken[case].push(SampleSummary::good(round, 1));
        }
        let chosen = schedule.chosen.unwrap() + 1;
        (
            SIZES[chosen],
            taken[chosen * CASES].len(),
            spent.elapsed.as_secs_f64(),
        )
    }

    #[test]
    fn a_fast_disk_is_measured_with_the_largest_files_and_a_slow_one_with_smaller_ones() {
        let size = |mib_s| adaptive_size(0.0, 0.005, mib_s).0;
        assert_eq!([0.0004, 0.004, 0.04].map(size), [256, 64, 16]);
    }

    #[test]
    fn a_slow_first_sample_does_not_change_the_size() {
        let size = |first_s| adaptive_size(first_s, 0.01, 0.002).0;
        assert_eq!([0.0, 0.14, 0.16, 0.5, 3.0].map(size), [64; 5]);
    }

    #[test]
    fn no_overhead_leads_to_files_below_16_mib() {
        for sample_s in [0.001, 0.016, 0.018, 0.025, 0.1, 0.3] {
            let (size, rounds, _) = adaptive_size(0.0, sample_s, 0.001);
            assert!(
                size >= 16 && rounds == 6,
                "{size} MiB, {rounds} rounds at {sample_s} s"
            );
        }
    }

    #[test]
    fn all_rounds_fit_whenever_they_fit_with_the_smallest_files() {
        for mib_s in [0.0005, 0.002, 0.01, 0.03] {
            for sample_s in [0.001, 0.03, 0.1] {
                let (size, rounds, seconds) = adaptive_size(0.2, sample_s, mib_s);
                assert_eq!(rounds, 6);
                assert!(
                    seconds < 45.0,
                    "{seconds} s with {size} MiB at {mib_s} s for each"
                );
            }
        }
    }
}
