use serde::Serialize;

use crate::{CONFIDENCE, median, sorted};

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    #[serde(rename = "value")]
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
    /// Actual, from 0 to 1.
    pub confidence: f64,
    /// The number of values behind the interval.
    #[serde(skip)]
    pub count: usize,
}

impl Interval {
    /// The interval of a better estimate, widened to hold it.
    pub fn around(self, estimate: f64) -> Self {
        Self { estimate, low: self.low.min(estimate), high: self.high.max(estimate), ..self }
    }

    /// Of a ratio of speeds, for one of times.
    pub fn inverse(self) -> Self {
        Self { estimate: 1.0 / self.estimate, low: 1.0 / self.high, high: 1.0 / self.low, ..self }
    }

    /// Whether the interval has the program's common confidence.
    pub fn is_sure(&self) -> bool {
        // A ratio of counts may be off in its last digit.
        self.confidence >= CONFIDENCE - 1e-9
    }
}

/// The median with the narrowest symmetric pair of order statistics whose coverage is at least
/// `confidence`. `[x(k), x(n+1-k)]` holds the median with probability `1 - 2 P(B <= k-1)`, B binomial with
/// n trials of probability 1/2. This is the interval of the sign test (Conover, *Practical Nonparametric
/// Statistics*, 3rd ed., section 3.2).
///
/// With too few values (fewer than 6 for 95 %), the result is the range of all values with its confidence:
/// 1 - 2^(1-n).
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let sorted = sorted(values);
    let estimate = median(values)?;
    let count = sorted.len();
    let (cut, reached) = cut(count, confidence);
    Some(Interval { estimate, low: sorted[cut - 1], high: sorted[count - cut], confidence: reached, count })
}

/// The largest `cut` with at least that confidence, and the actual one. The median lies between the
/// `cut`-th smallest and the `cut`-th largest value. 1 if there is none.
fn cut(count: usize, confidence: f64) -> (usize, f64) {
    // Terms of the binomial distribution follow from their ratio. In logarithms no count underflows.
    let ratio = |cut: usize| ((count + 1 - cut) as f64 / cut as f64).ln();
    let ratios = std::iter::once(0.0).chain((1..count.div_ceil(2)).map(ratio));
    let (mut log_term, mut tail) = (-(count as f64) * std::f64::consts::LN_2, 0.0);
    let coverages = ratios.map(|ratio| {
        log_term += ratio;
        tail += log_term.exp();
        1.0 - 2.0 * tail
    });
    largest_cut(coverages, confidence)
}

/// The place of the last coverage before the first that is not enough, from 1, and that coverage.
pub(crate) fn largest_cut(coverages: impl Iterator<Item = f64>, enough: f64) -> (usize, f64) {
    let enough = (1..).zip(coverages).take_while(|&(cut, coverage)| cut == 1 || coverage >= enough);
    enough.last().map_or((1, 0.0), |(cut, reached)| (cut, reached.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// From Conover's table and R's `qbinom`.
    #[test]
    fn ranks_and_coverage_are_those_of_the_sign_test() {
        for (count, low, high, reached) in
            [(5, 1, 5, 0.9375), (6, 1, 6, 0.96875), (9, 2, 8, 0.9609), (10, 2, 9, 0.9785), (20, 6, 15, 0.9586)]
        {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let interval = median_interval(&values, 0.95).unwrap();
            assert_eq!((interval.low, interval.high), (f64::from(low), f64::from(high)), "n = {count}");
            assert!((interval.confidence - reached).abs() < 1e-4, "n = {count}: {}", interval.confidence);
        }
    }

    #[test]
    fn one_value_has_no_confidence() {
        let interval = median_interval(&[7.0], 0.95).unwrap();
        assert_eq!((interval.low, interval.high, interval.confidence), (7.0, 7.0, 0.0));
        assert_eq!(median_interval(&[], 0.95), None);
    }

    #[test]
    fn a_million_values_take_a_moment() {
        let values: Vec<f64> = (1..=1_000_000).map(f64::from).collect();
        let interval = median_interval(&values, 0.95).unwrap();
        // n/2 - 1.96 sqrt(n)/2
        assert_eq!((interval.low, interval.high), (499_020.0, 500_981.0));
        assert!((0.95..0.9503).contains(&interval.confidence), "{}", interval.confidence);
    }

    proptest! {
        #[test]
        fn the_interval_holds_its_estimate(values in prop::collection::vec(0.0..1e12f64, 1..300)) {
            let interval = median_interval(&values, 0.95).unwrap();
            prop_assert!(interval.low <= interval.estimate && interval.estimate <= interval.high);
            prop_assert!(values.len() < 6 || interval.confidence >= 0.95);
        }
    }
}
