use serde::Serialize;

use crate::Interval;

/// How two cases compare, by the interval of the ratio of their times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval is below 1.
    Faster,
    /// The interval is above 1.
    Slower,
    /// The interval includes 1, and is within the margin.
    Same,
    /// The interval reaches beyond 1 and the margin, or has too few values for 95 %.
    Inconclusive,
}

impl Verdict {
    /// Cases are the same if the interval stays within this distance from 1.
    pub const MARGIN: f64 = 0.05;
    /// The least distance from 1 of an interval that excludes it. Intervals are printed with two decimals,
    /// so a smaller distance would be printed as 1.00.
    const LEAST: f64 = 0.01;

    /// Judges the interval of a ratio. Cases are the same within `margin` around 1.
    pub fn from_ratio(ratio: &Interval, margin: f64) -> Self {
        if !ratio.is_sure() {
            Self::Inconclusive
        } else if ratio.high <= 1.0 - Self::LEAST {
            Self::Faster
        } else if ratio.low >= 1.0 / (1.0 - Self::LEAST) {
            Self::Slower
        } else if ratio.low >= 1.0 - margin && ratio.high <= 1.0 + margin {
            Self::Same
        } else {
            Self::Inconclusive
        }
    }

    /// The smallest ratio, less 1, at which an interval of this width excludes 1. It is `None` with too few values
    /// for 95 %.
    pub fn smallest_difference(ratio: &Interval) -> Option<f64> {
        if !ratio.is_sure() {
            return None;
        }
        let half_width = (ratio.high / ratio.low).sqrt();
        Some(half_width / (1.0 - Self::LEAST) - 1.0)
    }

    /// The name in output for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// Whether one of the cases is faster.
    pub fn is_difference(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

impl Interval {
    /// The verdict on this interval of a ratio, with [`Verdict::MARGIN`].
    pub fn verdict(&self) -> Verdict {
        Verdict::from_ratio(self, Verdict::MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired_ratio;

    fn verdict(low: f64, high: f64) -> Verdict {
        Verdict::from_ratio(
            &Interval {
                estimate: 1.0,
                low,
                high,
                confidence: 0.97,
                count: 6,
            },
            Verdict::MARGIN,
        )
    }

    #[test]
    fn an_interval_a_percent_from_one_is_a_difference() {
        assert_eq!(verdict(1.011, 1.02), Verdict::Slower);
        assert_eq!(verdict(0.2, 0.99), Verdict::Faster);
    }

    #[test]
    fn an_interval_printed_with_an_end_of_one_is_not_a_difference() {
        assert_eq!(verdict(1.0049, 1.59), Verdict::Inconclusive);
        assert_eq!(verdict(0.5, 0.995), Verdict::Inconclusive);
    }

    #[test]
    fn an_interval_with_one_is_the_same_only_within_the_margin() {
        assert_eq!(verdict(0.96, 1.04), Verdict::Same);
        assert_eq!(verdict(1.0, 1.05), Verdict::Same);
        assert_eq!(verdict(0.96, 1.06), Verdict::Inconclusive);
    }

    #[test]
    fn the_smallest_difference_is_where_the_verdict_changes() {
        let interval = |factor: f64| Interval {
            estimate: factor,
            low: factor / 1.1,
            high: factor * 1.1,
            confidence: 0.97,
            count: 6,
        };
        let smallest = Verdict::smallest_difference(&interval(3.0)).unwrap();
        assert_eq!(
            Verdict::from_ratio(&interval(1.0 + smallest + 1e-9), Verdict::MARGIN),
            Verdict::Slower
        );
        assert_eq!(
            Verdict::from_ratio(&interval(1.0 + smallest - 1e-9), Verdict::MARGIN),
            Verdict::Inconclusive
        );
        let unsure = Interval {
            confidence: 0.9,
            ..interval(1.0)
        };
        assert_eq!(Verdict::smallest_difference(&unsure), None);
    }

    #[test]
    fn five_rounds_are_too_few_and_six_are_enough() {
        let verdict_after =
            |rounds: usize| Verdict::from_ratio(&paired_ratio(&vec![2.0; rounds]).unwrap(), 0.05);
        assert_eq!(
            (verdict_after(5), verdict_after(6)),
            (Verdict::Inconclusive, Verdict::Slower)
        );
    }
}
