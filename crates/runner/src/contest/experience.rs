//! What a search expects before its first sample: the times of its candidates in other environments.

use std::collections::HashMap;

use writebench_model::{Case, Experience};
use writebench_stats::{as_f64, median};

use super::known::Known;

/// The times of the candidates, which are known by their numbers.
#[derive(Debug, Clone)]
pub(super) struct ExpectedTimes {
    environments: Vec<Environment>,
}

#[derive(Debug, Clone)]
struct Environment {
    /// The logarithm of each candidate's time, less that of plain write. None if it was not measured.
    log_times: Vec<Option<f64>>,
    /// The time of the others. Most of them were slower with small files, and some are newer than the measurements.
    missing: f64,
}

/// The least distance between two environments that counts, in logarithms: the noise of the measurements.
const LEAST_DISTANCE: f64 = 0.06;
/// Fewer cases in common say nothing of the distance.
const FEWEST_COMMON: usize = 3;

impl Environment {
    /// The first strategy is plain write, to which the gains are relative.
    fn new(gains: &HashMap<String, f64>, strategies: &[String]) -> Self {
        let mut log_times: Vec<Option<f64>> = Vec::new();
        for strategy in strategies {
            log_times.push(gains.get(strategy).map(|gain| -gain.ln()));
        }
        if let Some(plain) = log_times.first_mut() {
            *plain = Some(0.0);
        }
        let known: Vec<f64> = gains.values().map(|gain| -gain.ln()).collect();
        Self {
            missing: median(&known).unwrap_or(0.0),
            log_times,
        }
    }

    fn log_time(&self, candidate: usize) -> f64 {
        self.log_times[candidate].unwrap_or(self.missing)
    }

    /// The root mean square of the differences, after both are moved to the same mean.
    fn distance(&self, known: &[Known]) -> Option<f64> {
        let pairs = known.iter().zip(&self.log_times);
        let differences: Vec<f64> = pairs
            .filter_map(|(known, here)| match known {
                Known::Time { log, .. } => Some(log - (*here)?),
                _ => None,
            })
            .collect();
        if differences.len() < FEWEST_COMMON {
            return None;
        }
        let count = as_f64(differences.len() as u64);
        let mean = differences.iter().sum::<f64>() / count;
        let squares = differences
            .iter()
            .map(|difference| (difference - mean).powi(2));
        Some((squares.sum::<f64>() / (count - 1.0)).sqrt())
    }
}

impl ExpectedTimes {
    pub(super) fn new(cases: &[&Case], experience: &Experience) -> Self {
        let strategies: Vec<String> = cases
            .iter()
            .map(|case| Experience::strategy(case))
            .collect();
        let environments = experience.environments.values();
        Self {
            environments: environments
                .map(|gains| Environment::new(gains, &strategies))
                .collect(),
        }
    }

    pub(super) fn are_unknown(&self) -> bool {
        self.environments.is_empty()
    }

    /// The expected logarithm of each candidate's time, less that of plain write: the mean of all environments, with
    /// more weight on those where the measured candidates took times as here.
    pub(super) fn log_times(&self, known: &[Known]) -> Vec<f64> {
        let weights = self.weights(known);
        let sum: f64 = weights.iter().sum();
        if sum <= 0.0 {
            return vec![0.0; known.len()];
        }
        let expected = |candidate| {
            let weighted = self.environments.iter().zip(&weights);
            weighted
                .map(|(environment, weight)| weight * environment.log_time(candidate))
                .sum::<f64>()
                / sum
        };
        (0..known.len()).map(expected).collect()
    }

    fn weights(&self, known: &[Known]) -> Vec<f64> {
        let distances: Vec<Option<f64>> = self
            .environments
            .iter()
            .map(|environment| environment.distance(known))
            .collect();
        let mut sorted: Vec<f64> = distances.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        // The second smallest, so that one environment that fits by chance does not decide alone.
        let scale = sorted
            .get(1)
            .or(sorted.first())
            .copied()
            .unwrap_or(0.0)
            .max(LEAST_DISTANCE);
        let weight = |distance: &Option<f64>| match distance {
            Some(distance) => (-0.5 * (distance / scale).powi(2)).exp(),
            None => (-0.5f64).exp(),
        };
        distances.iter().map(weight).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads are fast on both disks, and four threads in memory.
    fn expected() -> ExpectedTimes {
        let cases = [
            "write",
            "pwrite",
            "pwrite,threads=2",
            "pwrite,threads=4",
            "mmap",
        ]
        .map(|name| Case::parse(name).unwrap());
        let gains = |of_two: f64, of_four: f64| {
            let named = [
                ("pwrite", 1.0),
                ("pwrite,threads=2", of_two),
                ("pwrite,threads=4", of_four),
            ];
            named.map(|(name, gain)| (name.to_owned(), gain)).into()
        };
        let environments = [
            ("disk".to_owned(), gains(2.0, 0.5)),
            ("other disk".to_owned(), gains(1.9, 0.5)),
            ("memory".to_owned(), gains(0.5, 2.0)),
        ];
        let experience = Experience {
            environments: environments.into(),
        };
        ExpectedTimes::new(&cases.each_ref(), &experience)
    }

    fn time(log: f64) -> Known {
        Known::Time { log, samples: 3 }
    }

    #[test]
    fn before_the_first_sample_all_environments_count_equally() {
        let expected = expected();
        assert!(!expected.are_unknown());
        let times = expected.log_times(&[Known::Nothing; 5]);
        assert!(times[0].abs() < 1e-9 && times[1].abs() < 1e-9);
        let mean_of_two = -(2.0f64.ln() + 1.9f64.ln() + 0.5f64.ln()) / 3.0;
        assert!((times[2] - mean_of_two).abs() < 1e-9, "{times:?}");
    }

    #[test]
    fn the_environment_that_resembles_the_samples_decides() {
        let here = [
            time(0.0),
            time(0.0),
            time(-0.7),
            Known::Nothing,
            Known::Nothing,
        ];
        let times = expected().log_times(&here);
        assert!(
            times[3] > 0.5,
            "four threads are slow on such a disk: {times:?}"
        );
        assert!(times[2] < -0.5, "{times:?}");
    }

    #[test]
    fn samples_on_a_slower_machine_of_the_same_kind_resemble_it_as_well() {
        let here = [
            time(3.0),
            time(3.0),
            time(2.3),
            Known::Nothing,
            Known::Failed,
        ];
        assert!(expected().log_times(&here)[3] > 0.5);
    }

    #[test]
    fn nothing_is_expected_without_environments() {
        let cases = ["write", "pwrite"].map(|name| Case::parse(name).unwrap());
        let none = ExpectedTimes::new(&cases.each_ref(), &Experience::default());
        assert!(none.are_unknown());
        assert_eq!(none.log_times(&[Known::Nothing; 2]), [0.0; 2]);
    }
}
