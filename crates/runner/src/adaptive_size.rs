//! A run of adaptive size: all rounds fit its time on any disk, with files as large as possible.
//!
//! The time of a round is extrapolated from quick passes over all cases with small files.

use std::time::Duration;

use writebench_model::Settings;
use writebench_stats::as_f64;

use crate::costs::Costs;
use crate::goal_rounds::{Contest, GoalRounds};
use crate::order::PlannedCase;
use crate::schedule::{EachCase, SampleSummary, Schedule, Spent};

#[derive(Debug, Clone)]
pub struct OfSize {
    pub bytes: u64,
    pub cases: Vec<usize>,
    /// None: each case has the same number of samples.
    pub contests: Vec<Contest>,
}

#[derive(Debug, Default)]
pub struct AdaptiveSize {
    // In ascending order. Their sizes cannot be chosen.
    passes: Vec<OfSize>,
    // In descending order.
    sizes: Vec<OfSize>,
    budget: Option<Duration>,
    max_bytes: Option<u64>,
    rounds: u32,
    each: EachCase,
    // The rounds at the chosen size, if they are contests.
    contests: Option<GoalRounds>,
    costs: Costs,
    done: usize,
    chosen: Option<usize>,
    wanted: Vec<usize>,
}

/// The planned shares of the time, because small files predict larger ones badly, and of the bytes, which
/// leaves some for repeated samples.
const PLANNED: [f64; 2] = [0.7, 0.9];
const PLANNED_OF_CONTESTS: [f64; 2] = [0.8, 0.6];
const PASS_SHARE: f64 = 0.2;

/// The share of the time at which a loop over records ends. It is large because a loop cut short has no
/// rank.
const LOOP_SHARE: f64 = 0.1;

impl AdaptiveSize {
    /// Passes ascend and sizes descend. Each case belongs to only one of them.
    pub fn new(passes: Vec<OfSize>, sizes: Vec<OfSize>, settings: &Settings) -> Self {
        Self {
            passes,
            sizes,
            budget: settings.budget_ns.map(Duration::from_nanos),
            max_bytes: settings.max_bytes,
            rounds: settings.samples,
            each: EachCase::for_settings(settings),
            ..Self::default()
        }
    }

    fn round_s(&self, size: &OfSize) -> f64 {
        self.costs.sample_s(size.bytes) * as_f64(size.cases.len() as u64)
    }

    fn choose(&self, spent: Spent) -> usize {
        let are_contests = self.sizes.iter().any(|size| !size.contests.is_empty());
        let [share, share_of_bytes] = if are_contests { PLANNED_OF_CONTESTS } else { PLANNED };
        let left = |budget: Duration| share * budget.saturating_sub(spent.elapsed).as_secs_f64();
        let left_s = self.budget.map_or(f64::INFINITY, left);
        let left_bytes = |most: u64| share_of_bytes * as_f64(most.saturating_sub(spent.bytes));
        let left_bytes = self.max_bytes.map_or(f64::INFINITY, left_bytes);
        let fits = |size: &OfSize| {
            let round_bytes = size.bytes.saturating_mul(size.cases.len() as u64);
            self.round_s(size) * f64::from(self.rounds) <= left_s
                && as_f64(round_bytes.saturating_mul(self.rounds.into())) <= left_bytes
        };
        self.sizes.iter().position(fits).unwrap_or(self.sizes.len().saturating_sub(1))
    }

    /// Ends a complete pass. Returns the cases of the next one, if there is time.
    fn advance(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) {
        while self.chosen.is_none() {
            let pass = self.passes.get(self.done);
            if let Some(pass) = pass.filter(|pass| self.is_cheap(pass)) {
                self.costs.count(pass.bytes, taken.iter().map(Vec::len).sum(), spent.elapsed);
                if pass.cases.iter().any(|&case| taken[case].is_empty()) {
                    return;
                }
                self.done += 1;
            } else {
                let chosen = self.choose(spent);
                self.chosen = Some(chosen);
                let contests = self.sizes.get(chosen).map(|size| size.contests.clone()).unwrap_or_default();
                let rounds = self.rounds as usize;
                self.contests = (!contests.is_empty()).then(|| GoalRounds::new(contests, rounds));
            }
        }
    }

    fn is_cheap(&self, pass: &OfSize) -> bool {
        let is_short = self.budget.is_none_or(|budget| self.round_s(pass) <= PASS_SHARE * budget.as_secs_f64());
        let bytes = pass.bytes.saturating_mul(pass.cases.len() as u64);
        let is_small = self.max_bytes.is_none_or(|most| as_f64(bytes) <= PASS_SHARE * as_f64(most));
        is_short && is_small
    }
}

impl Schedule for AdaptiveSize {
    fn loop_limit(&self) -> Option<Duration> {
        self.budget.map(|budget| budget.mul_f64(LOOP_SHARE))
    }

    fn wanted(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) -> &[usize] {
        self.advance(taken, spent);
        if let Some(contests) = &mut self.contests {
            return contests.wanted(taken, spent);
        }
        self.wanted = vec![0; taken.len()];
        if let Some(size) = self.chosen.and_then(|chosen| self.sizes.get(chosen)) {
            let each = self.each.wanted(taken, spent);
            size.cases.iter().for_each(|&case| self.wanted[case] = each[case]);
        } else if let Some(pass) = self.passes.get(self.done) {
            pass.cases.iter().for_each(|&case| self.wanted[case] = usize::from(taken[case].is_empty()));
        }
        &self.wanted
    }

    fn added(&mut self) -> Vec<PlannedCase> {
        self.contests.as_mut().map(Schedule::added).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const SIZES: [u64; 8] = [128, 64, 32, 16, 8, 4, 2, 1];
    const CASES: usize = 10;

    fn settings(budget: Duration) -> Settings {
        let budget_ns = Some(writebench_model::nanoseconds(budget));
        Settings { samples: 6, budget_ns, max_bytes: None, ..writebench_testkit::example_run().settings }
    }

    fn adaptive_size(sample_s: f64, mib_s: f64) -> (u64, usize, f64) {
        // Different from all possible sizes.
        let passes = [MIB / 2, 3 * MIB / 2, 24 * MIB];
        let all: Vec<u64> = passes.into_iter().chain(SIZES.map(|size| size * MIB)).collect();
        let of_size = |(index, &bytes): (usize, &u64)| OfSize {
            bytes,
            cases: (index * CASES..(index + 1) * CASES).collect(),
            contests: Vec::new(),
        };
        let mut groups: Vec<OfSize> = all.iter().enumerate().map(of_size).collect();
        let sizes = groups.split_off(passes.len());
        let budget = Duration::from_secs(20);
        let mut schedule = AdaptiveSize::new(groups, sizes, &settings(budget));
        let (mut taken, mut spent) = (vec![Vec::new(); all.len() * CASES], Spent::default());
        // The worker starts before the first sample.
        spent.elapsed += Duration::from_secs(1);
        while let Some(case) = schedule.wanted(&taken, spent).iter().position(|&wanted| wanted > 0) {
            let seconds = sample_s + mib_s * as_f64(all[case / CASES]) / as_f64(MIB);
            spent.elapsed += Duration::from_secs_f64(seconds);
            let round = u32::try_from(taken[case].len()).unwrap();
            taken[case].push(SampleSummary::good(round, 1));
        }
        let chosen = schedule.chosen.unwrap() + passes.len();
        (all[chosen] / MIB, taken[chosen * CASES].len(), spent.elapsed.as_secs_f64())
    }

    #[test]
    fn a_fast_disk_is_measured_with_the_largest_files() {
        let (size, rounds, seconds) = adaptive_size(0.03, 0.0004);
        assert_eq!((size, rounds), (128, 6));
        assert!(seconds < 20.0, "{seconds}");
    }

    #[test]
    fn any_disk_is_measured_six_times_within_the_budget() {
        // From 2 GB/s down to 10 MB/s, and from no overhead per sample to a tenth of a second.
        for mib_s in [0.0005, 0.002, 0.01, 0.05, 0.1] {
            for sample_s in [0.001, 0.03, 0.1] {
                let (size, rounds, seconds) = adaptive_size(sample_s, mib_s);
                assert_eq!(rounds, 6);
                assert!(seconds < 20.0, "{seconds} s with {size} MiB at {mib_s} s for each");
            }
        }
    }

    #[test]
    fn a_slower_disk_gets_smaller_files() {
        let sizes: Vec<u64> =
            [0.0005, 0.005, 0.02, 0.1].into_iter().map(|mib_s| adaptive_size(0.02, mib_s).0).collect();
        assert!(sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
    }
}
