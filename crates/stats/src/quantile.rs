use std::collections::BTreeMap;

use crate::likeness::values_as_one;
use crate::{Interval, fewest_for_limit};

/// The durations of a sample's calls, from the shortest, each with the number of calls up to it.
pub type Cumulative = [(u64, u64)];

/// A quantile of all calls, with an interval that stays right if one looks after every sample and ends with a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileInterval {
    /// Its upper end is infinite if so few samples show no bound.
    pub interval: Interval,
    /// The interval ends at the quantiles of the share itself, plus and minus this.
    pub reach: f64,
}

/// The number of samples for which the interval is narrowest. It is little wider for others.
const TYPICAL_SAMPLES: f64 = 20.0;

/// The quantile that one of `in_calls` calls exceeds. It is `None` with too few samples, see [`fewest_for_limit`].
///
/// The calls of a sample are alike, because a busy disk slows down all of them. So a call is no independent observation,
/// and a sample is. The number of calls beyond the quantile differs from sample to sample, and that gives the standard
/// error of their share (a ratio of two sums over clusters: Cochran, *Sampling Techniques*, 1977, section 3.12). The
/// interval of the share becomes that of the quantile (Woodruff, *Confidence Intervals for Medians and Other Position
/// Measures*, Journal of the American Statistical Association 1952). The error is at least the binomial one, as if the
/// calls were independent, because few samples can agree by chance.
///
/// Neighbours in time may be alike, because the speed of a disk wanders. Then so many samples say as much as fewer
/// independent ones, and the variance is larger.
///
/// The standard errors on either side are those of an asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha,
/// Kennedy and Ramdas, *Time-uniform central limit theory and asymptotic confidence sequences*, 2021), so the samples may
/// end at any number, also because of the verdict.
pub fn quantile_interval(
    samples: &[&Cumulative],
    in_calls: u64,
    confidence: f64,
) -> Option<QuantileInterval> {
    let samples: Vec<&Cumulative> = samples
        .iter()
        .copied()
        .filter(|sample| count(sample) > 0)
        .collect();
    if samples.len() < fewest_for_limit(confidence) {
        return None;
    }
    let all = together(&samples);
    let calls = count(&all) as f64;
    let beyond = 1.0 / in_calls as f64;
    let share = 1.0 - beyond;
    let value = at_rank(&all, (share * calls).ceil());
    let clusters: Vec<(f64, f64)> = samples
        .iter()
        .map(|sample| (count_beyond(sample, value), count(sample) as f64))
        .collect();
    let shares: Vec<f64> = clusters
        .iter()
        .map(|(beyond, calls)| beyond / calls)
        .collect();
    let variance = share_variance(&clusters).max(share * beyond / calls) * values_as_one(&shares);
    let reach = standard_errors(samples.len() as f64, 1.0 - confidence) * variance.sqrt();
    let low = match ((share - reach) * calls).floor() {
        rank if rank >= 1.0 => at_rank(&all, rank),
        _ => 0,
    };
    let high = if share + reach < 1.0 {
        at_rank(&all, ((share + reach) * calls).ceil() + 1.0) as f64
    } else {
        f64::INFINITY
    };
    Some(QuantileInterval {
        interval: Interval {
            estimate: value as f64,
            low: low as f64,
            high,
            confidence,
            count: samples.len(),
        },
        reach,
    })
}

fn count(sample: &Cumulative) -> u64 {
    sample.last().map_or(0, |(_, count)| *count)
}

/// The calls of all samples.
fn together(samples: &[&Cumulative]) -> Vec<(u64, u64)> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for sample in samples {
        let mut before = 0;
        for &(ns, up_to) in *sample {
            let own = counts.entry(ns).or_default();
            *own = own.saturating_add(up_to - before);
            before = up_to;
        }
    }
    let mut sum = 0u64;
    counts
        .into_iter()
        .map(|(ns, count)| {
            sum = sum.saturating_add(count);
            (ns, sum)
        })
        .collect()
}

/// The duration of the call with this rank, from 1. A larger rank is that of the longest call.
fn at_rank(sample: &Cumulative, rank: f64) -> u64 {
    let place = sample.partition_point(|&(_, up_to)| (up_to as f64) < rank);
    let call = sample.get(place).or(sample.last());
    call.map_or(0, |(ns, _)| *ns)
}

fn count_beyond(sample: &Cumulative, value: u64) -> f64 {
    let place = sample.partition_point(|&(ns, _)| ns <= value);
    let within = place.checked_sub(1).map_or(0, |place| sample[place].1);
    (count(sample) - within) as f64
}

/// The variance of a share, from how many of how many calls each cluster has in it.
fn share_variance(clusters: &[(f64, f64)]) -> f64 {
    let calls: f64 = clusters.iter().map(|(_, calls)| calls).sum();
    let share = clusters.iter().map(|(beyond, _)| beyond).sum::<f64>() / calls;
    let squares: f64 = clusters
        .iter()
        .map(|(beyond, calls)| (beyond - share * calls).powi(2))
        .sum();
    let count = clusters.len() as f64;
    count / (count - 1.0) * squares / calls.powi(2)
}

/// How many standard errors the interval reaches on each side after so many samples.
fn standard_errors(samples: f64, error: f64) -> f64 {
    let evidence = -2.0 * error.ln();
    let scale = (evidence + evidence.ln() + 1.0) / TYPICAL_SAMPLES * samples;
    let normal = (2.0 * (scale + 1.0) / scale * ((scale + 1.0).sqrt() / error).ln()).sqrt();
    as_student(normal, samples - 1.0)
}

/// The deviate of Student's distribution with the tail of a normal one: the standard error itself is an estimate
/// (Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.7.5).
fn as_student(normal: f64, degrees: f64) -> f64 {
    let [first, second] = [
        (normal.powi(3) + normal) / 4.0,
        (5.0 * normal.powi(5) + 16.0 * normal.powi(3) + 3.0 * normal) / 96.0,
    ];
    normal + first / degrees + second / degrees.powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_pcg::Pcg64Mcg;

    type Sample = Vec<(u64, u64)>;

    fn cumulative(mut durations: Vec<u64>) -> Sample {
        durations.sort_unstable();
        let mut sample: Sample = Vec::new();
        for (place, ns) in (1..).zip(durations) {
            match sample.last_mut() {
                Some(last) if last.0 == ns => last.1 = place,
                _ => sample.push((ns, place)),
            }
        }
        sample
    }

    fn judged(samples: &[Sample], in_calls: u64) -> Option<QuantileInterval> {
        let samples: Vec<&Cumulative> = samples.iter().map(Vec::as_slice).collect();
        quantile_interval(&samples, in_calls, CONFIDENCE)
    }

    /// How the calls of a machine vary.
    #[derive(Debug, Clone, Copy)]
    enum Machine {
        /// Each call is independent of the others.
        Independent,
        /// Each sample has a speed of its own.
        Varying,
        /// The speed of samples wanders.
        Wandering,
        /// In a third of the samples, one call in ten waits.
        Stalling,
    }

    const MACHINES: [Machine; 4] = [
        Machine::Independent,
        Machine::Varying,
        Machine::Wandering,
        Machine::Stalling,
    ];

    struct Source {
        machine: Machine,
        random: Pcg64Mcg,
        drift: f64,
    }

    impl Source {
        fn new(machine: Machine, seed: u64) -> Self {
            Self {
                machine,
                random: Pcg64Mcg::seed_from_u64(seed),
                drift: 0.0,
            }
        }

        /// About normal, with variance 1.
        fn noise(&mut self) -> f64 {
            (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0
        }

        /// The durations are rounded to two digits, as in a histogram.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive and small"
        )]
        fn sample(&mut self, calls: usize) -> Sample {
            let own = self.noise();
            self.drift = 0.5 * self.drift + 0.75f64.sqrt() * own;
            let speed = match self.machine {
                Machine::Varying => 0.3 * own,
                Machine::Wandering => 0.2 * self.drift,
                Machine::Independent | Machine::Stalling => 0.0,
            };
            let stalls = match self.machine {
                Machine::Stalling if self.random.random::<f64>() < 0.33 => 0.1,
                _ => 0.0,
            };
            let mut durations = Vec::new();
            for _ in 0..calls {
                let tail = -self.random.random::<f64>().max(1e-12).ln();
                let is_stalled = self.random.random::<f64>() < stalls;
                let log = speed + 0.3 * tail + if is_stalled { 2.0 } else { 0.0 };
                durations.push((((log / 0.01).round() * 0.01).exp() * 1000.0) as u64);
            }
            cumulative(durations)
        }

        fn truth(machine: Machine, in_calls: u64) -> f64 {
            let mut source = Self::new(machine, 99);
            let samples: Vec<Sample> = (0..2000).map(|_| source.sample(250)).collect();
            let samples: Vec<&Cumulative> = samples.iter().map(Vec::as_slice).collect();
            let all = together(&samples);
            let share = 1.0 - 1.0 / in_calls as f64;
            at_rank(&all, (share * count(&all) as f64).ceil()) as f64
        }
    }

    /// One looks after every sample, and ends at the first wrong interval.
    #[test]
    fn at_most_one_run_in_twenty_ever_excludes_the_true_percentile() {
        const RUNS: u64 = 300;
        const MOST: usize = 60;
        for machine in MACHINES {
            for in_calls in [2, 100] {
                let truth = Source::truth(machine, in_calls);
                let mut wrong = 0;
                for seed in 0..RUNS {
                    let mut source = Source::new(machine, seed);
                    let mut samples = Vec::new();
                    for _ in 0..MOST {
                        samples.push(source.sample(250));
                        let Some(QuantileInterval { interval, .. }) = judged(&samples, in_calls)
                        else {
                            continue;
                        };
                        if truth < interval.low || interval.high < truth {
                            wrong += 1;
                            break;
                        }
                    }
                }
                // The median of a machine whose neighbours are correlated by 0.5 is the hardest.
                let most = match (machine, in_calls) {
                    (Machine::Wandering, 2) => RUNS * 8 / 100,
                    _ => RUNS / 20,
                };
                assert!(wrong <= most, "{machine:?} 1/{in_calls}: {wrong} of {RUNS}");
            }
        }
    }

    #[test]
    fn calls_as_independent_observations_would_be_wrong() {
        let truth = Source::truth(Machine::Varying, 100);
        let mut excluded = 0;
        for seed in 0..100 {
            let mut source = Source::new(Machine::Varying, seed);
            let samples: Vec<Sample> = (0..20).map(|_| source.sample(250)).collect();
            let samples: Vec<&Cumulative> = samples.iter().map(Vec::as_slice).collect();
            let all = together(&samples);
            let calls = count(&all) as f64;
            let reach = 1.96 * (0.99 * 0.01 / calls).sqrt();
            let ends = [0.99 - reach, 0.99 + reach].map(|share| at_rank(&all, share * calls));
            excluded += u32::from(truth < ends[0] as f64 || (ends[1] as f64) < truth);
        }
        assert!(excluded > 20, "{excluded} of 100");
    }

    #[test]
    fn a_clear_distance_to_the_limit_needs_few_samples() {
        let mut source = Source::new(Machine::Independent, 1);
        let samples: Vec<Sample> = (0..12).map(|_| source.sample(1000)).collect();
        let QuantileInterval { interval, .. } = judged(&samples, 100).unwrap();
        assert!(
            interval.low > 0.5 * interval.estimate && interval.high < 2.0 * interval.estimate,
            "{interval:?}"
        );
        assert_eq!(judged(&samples[..11], 100), None);
    }

    #[test]
    fn few_calls_have_no_upper_end() {
        let mut source = Source::new(Machine::Independent, 1);
        let samples: Vec<Sample> = (0..12).map(|_| source.sample(20)).collect();
        let QuantileInterval { interval, reach } = judged(&samples, 100).unwrap();
        assert!(interval.high.is_infinite() && reach > 0.01, "{interval:?}");
        let same = vec![cumulative(vec![7; 20]); 12];
        let QuantileInterval { interval, .. } = judged(&same, 2).unwrap();
        assert_eq!((interval.low, interval.high), (7.0, 7.0));
    }

    #[test]
    fn the_interval_widens_like_a_students() {
        // R's qt(pnorm(2), 10) is 2.2837.
        assert!((as_student(2.0, 10.0) - 2.2837).abs() < 0.01);
        for samples in [8.0, 20.0, 120.0] {
            let errors = standard_errors(samples, 0.05);
            assert!((3.0..5.5).contains(&errors), "{samples}: {errors}");
        }
        assert!(standard_errors(20.0, 0.01) > standard_errors(20.0, 0.05));
    }

    proptest! {
        #[test]
        fn the_interval_holds_its_estimate(
            samples in prop::collection::vec(prop::collection::vec(0u64..1_000_000, 0..40), 0..20),
            in_calls in prop::sample::select(vec![2u64, 10, 100, 1000]),
        ) {
            let samples: Vec<Sample> = samples.into_iter().map(cumulative).collect();
            if let Some(QuantileInterval { interval, .. }) = judged(&samples, in_calls) {
                prop_assert!(interval.low <= interval.estimate && interval.estimate <= interval.high);
                prop_assert!(interval.count >= 12);
            }
        }
    }
}
