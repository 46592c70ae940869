use serde::Serialize;

use crate::likeness::values_as_one;
use crate::{CONFIDENCE, Interval, lasting_median_interval, median, sorted};

/// Whether a quantity keeps a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitVerdict {
    /// Every value of the interval keeps it.
    Met,
    /// No value of the interval keeps it.
    Missed,
    /// The interval holds both, or there is none. More samples may decide.
    Undecided,
}

impl LimitVerdict {
    /// Judges a quantity that must stay below the limit.
    pub fn below(interval: &Interval, limit: f64) -> Self {
        if interval.high < limit {
            Self::Met
        } else if interval.low >= limit {
            Self::Missed
        } else {
            Self::Undecided
        }
    }

    /// Judges a quantity that must stay above the limit.
    pub fn above(interval: &Interval, limit: f64) -> Self {
        if interval.low > limit {
            Self::Met
        } else if interval.high <= limit {
            Self::Missed
        } else {
            Self::Undecided
        }
    }
}

/// The confidence of each of so many intervals, so that with a probability of 95 % all of them are right (Bonferroni).
pub fn confidence_of_each(intervals: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / intervals.max(1) as f64
}

/// The typical value of a sample, with an interval that stays right if one looks after every sample and ends with a
/// verdict. It is `None` with too few samples: twelve are the fewest for 95 %.
///
/// Neighbours in time may be alike, because the speed of a machine wanders. Then so many values say as much as fewer
/// independent ones, and the interval leaves out the same share of values at each end as that of those. If these are too
/// few, it is the range of all values.
pub fn limit_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    if values.len() < fewest_for_limit(confidence) {
        return None;
    }
    let independent = values.len() as f64 / values_as_one(values);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the number of values"
    )]
    let independent = independent.floor() as usize;
    let cut = match cut_off(independent, confidence) {
        Some(cut) => cut * values.len() / independent,
        None => 0,
    };
    let sorted = sorted(values);
    Some(Interval {
        estimate: median(values)?,
        low: sorted[cut],
        high: sorted[values.len() - 1 - cut],
        confidence,
        count: values.len(),
    })
}

/// How many of so many independent values the interval leaves out at each end. None if there are too few.
fn cut_off(values: usize, confidence: f64) -> Option<usize> {
    let places: Vec<f64> = (0..values).map(|place| place as f64).collect();
    let interval = lasting_median_interval(&places, confidence)
        .filter(|interval| interval.confidence >= confidence)?;
    places.iter().position(|place| *place >= interval.low)
}

/// Fewer values do not show whether neighbours are alike.
const FEWEST_FOR_LIKENESS: usize = 12;

/// How many samples the earliest interval of that confidence takes.
pub fn fewest_for_limit(confidence: f64) -> usize {
    let mut values = FEWEST_FOR_LIKENESS;
    while cut_off(values, confidence).is_none() {
        values += 1;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    fn interval(low: f64, high: f64) -> Interval {
        Interval {
            estimate: low,
            low,
            high,
            confidence: CONFIDENCE,
            count: 8,
        }
    }

    #[test]
    fn the_whole_interval_decides() {
        use LimitVerdict::{Met, Missed, Undecided};
        let below = |low, high| LimitVerdict::below(&interval(low, high), 10.0);
        assert_eq!(
            [below(1.0, 9.9), below(1.0, 10.0), below(10.0, 11.0)],
            [Met, Undecided, Missed]
        );
        assert_eq!(below(9.9, f64::INFINITY), Undecided);
        assert_eq!(below(10.0, f64::INFINITY), Missed);
        let above = |low, high| LimitVerdict::above(&interval(low, high), 10.0);
        assert_eq!(
            [above(10.1, 20.0), above(10.0, 20.0), above(1.0, 10.0)],
            [Met, Undecided, Missed]
        );
    }

    /// One looks after every sample, and ends at the first wrong interval. The median is 0.
    fn runs_that_exclude_the_median(wandering: f64, skew: f64) -> usize {
        let is_wrong = |seed: u64| {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let mut noise = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let (mut drift, mut values): (f64, Vec<f64>) = (noise(), Vec::new());
            (0..80).any(|_| {
                drift = wandering * drift + (1.0 - wandering * wandering).sqrt() * noise();
                values.push(if drift > 0.0 { skew * drift } else { drift });
                limit_interval(&values, CONFIDENCE)
                    .is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0)
            })
        };
        (0..400).filter(|&seed| is_wrong(seed)).count()
    }

    #[test]
    fn at_most_one_run_in_twenty_ever_excludes_the_true_value() {
        for (wandering, skew) in [(0.0, 1.0), (0.0, 5.0), (0.3, 1.0), (0.5, 1.0), (0.5, 3.0)] {
            let wrong = runs_that_exclude_the_median(wandering, skew);
            assert!(wrong <= 20, "wandering {wandering}, skew {skew}: {wrong}");
        }
    }

    #[test]
    fn one_sample_never_decides_and_twelve_may() {
        assert_eq!(fewest_for_limit(CONFIDENCE), 12);
        assert_eq!(limit_interval(&[1.0; 11], CONFIDENCE), None);
        assert!(limit_interval(&[1.0; 12], CONFIDENCE).is_some());
        assert!(fewest_for_limit(confidence_of_each(400)) > 12);
    }
}
