use std::time::Duration;

use writebench_model::Settings;
use writebench_stats::{Gate, GateVerdict, as_f64};

use crate::schedule::{SampleSummary, Schedule, Spent, is_given_up};

/// Rounds until each case is judged against the first case on its target.
#[derive(Debug)]
pub struct GatedRounds {
    fewest: usize,
    most: usize,
    limit: f64,
    targets: usize,
    wanted: Vec<usize>,
}

impl GatedRounds {
    /// The schedule for `--fail-if-slower`. None in a run without that option.
    pub fn for_settings(settings: &Settings, targets: usize) -> Option<Self> {
        let limit = f64::from(settings.fail_if_slower_ppm?) / 1e6;
        let [fewest, most] =
            [settings.samples, settings.most_samples()].map(|samples| samples as usize);
        Some(Self {
            fewest,
            most,
            limit,
            targets,
            wanted: Vec::new(),
        })
    }

    /// How many more samples a case and its baseline want.
    fn still_wanted(
        &self,
        baseline: &[SampleSummary],
        case: &[SampleSummary],
        cases: usize,
    ) -> usize {
        let gate = Gate {
            limit: self.limit,
            cases,
        };
        let taken = baseline.len().max(case.len());
        let left = self.most.saturating_sub(taken);
        let [baseline_times, times] = [baseline, case].map(calm);
        let good = baseline_times.len().min(times.len());
        if is_given_up(baseline) || is_given_up(case) {
            0
        } else if good < self.fewest {
            left.min(self.fewest - good)
        } else if gate.judge(&baseline_times, &times).1 == GateVerdict::Undecided {
            left.min(1)
        } else {
            0
        }
    }
}

impl Schedule for GatedRounds {
    fn wanted(&mut self, taken: &[Vec<SampleSummary>], _: Spent) -> &[usize] {
        let (baselines, cases) = taken.split_at(self.targets.min(taken.len()));
        let mut wanted = vec![0; taken.len()];
        for (index, case) in cases.iter().enumerate() {
            let baseline = index % self.targets;
            let more = self.still_wanted(&baselines[baseline], case, cases.len());
            wanted[self.targets + index] = more;
            wanted[baseline] = more.max(wanted[baseline]);
        }
        self.wanted = wanted;
        &self.wanted
    }

    /// Cut loops of both sides would take the same time.
    fn loop_limit(&self) -> Option<Duration> {
        Some(Duration::MAX)
    }
}

fn calm(samples: &[SampleSummary]) -> Vec<(u32, f64)> {
    let calm = samples
        .iter()
        .filter(|sample| sample.is_ok && !sample.is_disturbed);
    calm.map(|sample| (sample.round, as_f64(sample.total_ns.max(1))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(times_ns: &[u64]) -> Vec<SampleSummary> {
        (0..)
            .zip(times_ns)
            .map(|(round, &total_ns)| SampleSummary::good(round, total_ns))
            .collect()
    }

    fn wanted(taken: &[Vec<SampleSummary>]) -> Vec<usize> {
        let settings = Settings {
            samples: 6,
            fail_if_slower_ppm: Some(50_000),
            ..Settings::default()
        };
        GatedRounds::for_settings(&settings, 1)
            .unwrap()
            .wanted(taken, Spent::default())
            .to_vec()
    }

    #[test]
    fn rounds_end_for_a_case_with_its_verdict_and_for_the_baseline_with_the_last() {
        assert_eq!(wanted(&[Vec::new(), Vec::new()]), [6, 6]);
        let base = samples(&[100; 7]);
        assert_eq!(
            wanted(&[base.clone(), samples(&[200; 7])]),
            [0, 0],
            "slower"
        );
        assert_eq!(
            wanted(&[base[..6].to_vec(), samples(&[200; 6])]),
            [1, 1],
            "seven are the fewest"
        );
        let wide = samples(&[200, 50, 200, 50, 200, 50, 200, 50, 200, 50]);
        let base = samples(&[100; 10]);
        assert_eq!(
            wanted(&[base.clone(), samples(&[100; 10]), wide]),
            [1, 0, 1]
        );
        let unsettled: Vec<u64> = (0..120).map(|round| 50 + 150 * (round % 2)).collect();
        assert_eq!(
            wanted(&[samples(&[100; 120]), samples(&unsettled)]),
            [0, 0],
            "20 times the samples"
        );
    }

    #[test]
    fn disturbed_and_failed_samples_are_no_evidence() {
        let mut disturbed = samples(&[200; 7]);
        disturbed[3].is_disturbed = true;
        assert_eq!(wanted(&[samples(&[100; 7]), disturbed]), [1, 1]);
        let mut failed = samples(&[200; 2]);
        failed[1].is_ok = false;
        assert_eq!(wanted(&[samples(&[100; 2]), failed.clone()]), [0, 0]);
        assert_eq!(wanted(&[failed, samples(&[100; 2])]), [0, 0]);
    }
}
