use serde::Serialize;

use crate::{CONFIDENCE, median, sorted};

/// An estimate and the values between which the truth probably is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    #[serde(rename = "value")]
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
    /// The actual confidence, from 0 to 1, which may differ from the requested one.
    pub confidence: f64,
    /// The number of values behind the interval.
    #[serde(skip)]
    pub count: usize,
}

impl Interval {
    /// The interval of a better estimate, widened to hold it.
    pub fn around(self, estimate: f64) -> Self {
        Self {
            estimate,
            low: self.low.min(estimate),
            high: self.high.max(estimate),
            ..self
        }
    }

    /// Turns the interval of a ratio of times into that of the ratio of speeds.
    pub fn inverse(self) -> Self {
        Self {
            estimate: 1.0 / self.estimate,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
            ..self
        }
    }

    /// Whether the interval has [`CONFIDENCE`].
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
    interval(values, confidence, |_, tail| 2.0 * tail)
}

/// The interval of [`median_interval`], but for a series that may end at any value, also because of its values: with
/// probability `confidence`, the intervals after every value hold the median. Either end alone is wrong with half of the
/// remaining probability. For 90 %, seven values are the fewest.
///
/// If `k` of `n` values are above a number, `2^n 2 ∫ p^k (1-p)^(n-k) dp` from 1/2 to 1 is the mean gain, over all shares
/// `2p - 1` of a purse, of betting that share on each next value to be above. If the median is not above that number, the
/// gain is a supermartingale that begins at 1, so by Ville's inequality it ever reaches `1 / a` with a probability of at
/// most `a`. The lower end is where it does. The upper end follows from bets on the other side. See Howard, Ramdas,
/// McAuliffe and Sekhon, *Time-uniform, nonparametric, nonasymptotic confidence sequences*, 2021.
pub fn lasting_median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    // The integral is an incomplete beta function, and that is a sum of binomial probabilities of one more value.
    let counts = values.len() as f64 + 1.0;
    interval(values, confidence, |term, tail| {
        let tail_of_one_more = tail - term / 2.0;
        counts * term / (1.0 - tail_of_one_more)
    })
}

/// `missed` returns the probability that the interval misses the median. Its arguments are the binomial probability
/// of as many values below the interval as can be, and that of at most as many.
fn interval(values: &[f64], confidence: f64, missed: impl Fn(f64, f64) -> f64) -> Option<Interval> {
    let estimate = median(values)?;
    let sorted = sorted(values);
    let count = sorted.len();
    let mut tail = 0.0;
    let coverages = binomial_terms(count).map(|term| {
        tail += term;
        1.0 - missed(term, tail)
    });
    // The median lies between the `cut`-th smallest and the `cut`-th largest value.
    let (cut, confidence) = largest_cut(coverages, confidence);
    Some(Interval {
        estimate,
        low: sorted[cut - 1],
        high: sorted[count - cut],
        confidence,
        count,
    })
}

/// The probabilities of 0, 1, … values of `count` below the median, up to the middle. Each follows from the one
/// before by their ratio. In logarithms no count underflows.
fn binomial_terms(count: usize) -> impl Iterator<Item = f64> {
    let mut log_term = -(count as f64) * std::f64::consts::LN_2;
    (0..count.div_ceil(2)).map(move |below| {
        if below > 0 {
            log_term += ((count + 1 - below) as f64 / below as f64).ln();
        }
        log_term.exp()
    })
}

/// The number, from 1, of the last coverage before the first that is not enough, and that coverage.
pub(crate) fn largest_cut(coverages: impl Iterator<Item = f64>, enough: f64) -> (usize, f64) {
    (1..)
        .zip(coverages)
        .take_while(|&(cut, coverage)| cut == 1 || coverage >= enough)
        .last()
        .map_or((1, 0.0), |(cut, coverage)| (cut, coverage.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The expected ranks are from Conover's table and R's `qbinom`.
    #[test]
    fn ranks_and_coverage_are_those_of_the_sign_test() {
        for (count, low, high, reached) in [
            (5, 1, 5, 0.9375),
            (6, 1, 6, 0.96875),
            (9, 2, 8, 0.9609),
            (10, 2, 9, 0.9785),
            (20, 6, 15, 0.9586),
        ] {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let interval = median_interval(&values, 0.95).unwrap();
            assert_eq!(
                (interval.low, interval.high),
                (f64::from(low), f64::from(high)),
                "n = {count}"
            );
            assert!(
                (interval.confidence - reached).abs() < 1e-4,
                "n = {count}: {}",
                interval.confidence
            );
        }
    }

    #[test]
    fn one_value_has_no_confidence() {
        let interval = median_interval(&[7.0], 0.95).unwrap();
        assert_eq!(
            (interval.low, interval.high, interval.confidence),
            (7.0, 7.0, 0.0)
        );
        assert_eq!(median_interval(&[], 0.95), None);
    }

    #[test]
    fn a_million_values_take_a_moment() {
        let values: Vec<f64> = (1..=1_000_000).map(f64::from).collect();
        let interval = median_interval(&values, 0.95).unwrap();
        // n/2 - 1.96 sqrt(n)/2
        assert_eq!((interval.low, interval.high), (499_020.0, 500_981.0));
        assert!(
            (0.95..0.9503).contains(&interval.confidence),
            "{}",
            interval.confidence
        );
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Ends {
        Lower,
        Both,
    }

    /// The exact probability that the median is ever outside these ends of a series' intervals, by the number of values
    /// above it.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number"
    )]
    fn ever_outside(
        ends: Ends,
        interval: fn(&[f64], f64) -> Option<Interval>,
        confidence: f64,
    ) -> f64 {
        const VALUES: usize = 2000;
        let (mut by_count, mut outside) = (vec![1.0], 0.0);
        for count in 1..=VALUES {
            let half = |above: usize| {
                by_count
                    .get(above)
                    .map_or(0.0, |probability| probability / 2.0)
            };
            let mut next: Vec<f64> = (0..=count)
                .map(|above| half(above) + above.checked_sub(1).map_or(0.0, half))
                .collect();
            let places: Vec<f64> = (0..count).map(|place| place as f64).collect();
            let cut = interval(&places, confidence)
                .filter(|interval| interval.confidence >= confidence)
                .map(|interval| interval.low as usize);
            for few in (0..=cut.unwrap_or(0)).filter(|_| cut.is_some()) {
                outside += std::mem::take(&mut next[count - few]);
                if ends == Ends::Both {
                    outside += std::mem::take(&mut next[few]);
                }
            }
            by_count = next;
        }
        outside
    }

    #[test]
    fn each_end_of_a_series_that_may_end_at_any_value_is_wrong_in_one_of_twenty() {
        let lower = ever_outside(Ends::Lower, lasting_median_interval, 0.9);
        assert!((0.02..=0.05).contains(&lower), "{lower}");
        let both = ever_outside(Ends::Both, lasting_median_interval, 0.95);
        assert!((0.02..=0.05).contains(&both), "{both}");
        let fixed = ever_outside(Ends::Both, median_interval, 0.95);
        assert!(
            fixed > 0.3,
            "{fixed}: the interval for one number of values is no rule to stop by"
        );
    }

    #[test]
    fn seven_values_are_the_fewest_of_a_series() {
        let after = |count: usize| lasting_median_interval(&vec![2.0; count], 0.9).unwrap();
        assert!(after(6).confidence < 0.9 && after(7).confidence >= 0.9);
        // Either end: 1 / (2^8 (1 - 2^-8) / 8), by the integral of p^7.
        assert!((after(7).confidence - (1.0 - 2.0 * 8.0 / 255.0)).abs() < 1e-12);
    }

    /// Calculated by hand: the integral of p^9 (1-p) from 1/2 to 1 is 1/110 - (1/10 - 1/22) / 2^10.
    #[test]
    fn the_gain_of_a_bet_is_the_integral_over_all_shares() {
        let places: Vec<f64> = (0..10).map(f64::from).collect();
        let interval = lasting_median_interval(&places, 0.8).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 8.0));
        let integral = 1.0 / 110.0 - (1.0 / 10.0 - 1.0 / 22.0) / 1024.0;
        let gain = 1024.0 * 2.0 * integral;
        assert!(
            (interval.confidence - (1.0 - 2.0 / gain)).abs() < 1e-9,
            "{} {gain}",
            interval.confidence
        );
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
