//! Comparison of two cases that were sampled in the same rounds.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{CONFIDENCE, Interval, median, sorted};

const RESAMPLES: usize = 2000;

/// The ratio of two medians with a percentile bootstrap interval (Efron and Tibshirani, *An Introduction to
/// the Bootstrap*, 1993, chapter 13). Values with the same index come from the same round and are drawn
/// together, so that drift between rounds affects both alike. None for empty or unequal slices.
#[must_use]
pub fn bootstrap_ratio_of_medians(numerator: &[f64], denominator: &[f64], seed: u64) -> Option<Interval> {
    if numerator.len() != denominator.len() {
        return None;
    }
    let estimate = median(numerator)? / median(denominator)?;
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut drawn = (vec![0.0; numerator.len()], vec![0.0; numerator.len()]);
    let mut ratios = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        for place in 0..numerator.len() {
            let round = random.random_range(0..numerator.len());
            drawn.0[place] = numerator[round];
            drawn.1[place] = denominator[round];
        }
        ratios.push(median(&drawn.0)? / median(&drawn.1)?);
    }
    let ratios = sorted(&ratios);
    let tail = RESAMPLES / 40;
    Some(Interval {
        estimate,
        low: ratios[tail - 1],
        high: ratios[RESAMPLES - tail],
        confidence: CONFIDENCE,
        count: numerator.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_against_itself_has_ratio_one() {
        let values = [5.0, 6.0, 7.0, 5.5, 6.5, 9.0, 4.0];
        let ratio = bootstrap_ratio_of_medians(&values, &values, 1).unwrap();
        assert_eq!((ratio.estimate, ratio.low, ratio.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn drift_that_hits_both_alike_leaves_the_ratio_narrow() {
        let base: Vec<f64> = (1..40).map(f64::from).collect();
        let doubled: Vec<f64> = base.iter().map(|value| value * 2.0).collect();
        let ratio = bootstrap_ratio_of_medians(&doubled, &base, 1).unwrap();
        assert!((ratio.low - 2.0).abs() < 1e-9 && (ratio.high - 2.0).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn equal_seeds_give_equal_intervals() {
        let (a, b) = ([1.0, 2.0, 4.0, 3.0], [2.0, 1.0, 3.0, 5.0]);
        assert_eq!(bootstrap_ratio_of_medians(&a, &b, 7), bootstrap_ratio_of_medians(&a, &b, 7));
        assert_eq!(bootstrap_ratio_of_medians(&a, &b[..3], 7), None);
    }
}
