//! Verdicts on the interval of a ratio of two times.

use crate::{CONFIDENCE, Interval};

/// The verdict on two cases, by the interval of the ratio of their times in the same rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The interval lies below 1.
    Faster,
    /// The interval lies above 1.
    Slower,
    /// The interval includes 1 and lies inside the margin: any difference is too small to matter.
    AsFast,
    /// The interval includes 1 and reaches beyond the margin: the two are not distinguishable.
    NotDistinguishable,
    /// There are too few figures for an interval of 95 %.
    TooFew,
}

impl Verdict {
    /// The margin around 1 for cases that are as fast.
    pub const MARGIN: f64 = 0.05;

    /// The verdict on a ratio of times, with [`Verdict::MARGIN`] or another margin. An interval that touches
    /// 1 includes it.
    #[must_use]
    pub fn of(ratio: &Interval, margin: f64) -> Self {
        // A confidence that is a ratio of counts may be off in its last digit.
        if ratio.confidence < CONFIDENCE - 1e-9 {
            Self::TooFew
        } else if ratio.high < 1.0 {
            Self::Faster
        } else if ratio.low > 1.0 {
            Self::Slower
        } else if ratio.low >= 1.0 - margin && ratio.high <= 1.0 + margin {
            Self::AsFast
        } else {
            Self::NotDistinguishable
        }
    }

    /// The form for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::AsFast => "as-fast",
            Self::NotDistinguishable => "not-distinguishable",
            Self::TooFew => "too-few",
        }
    }

    /// Whether the verdict decides which of the two is faster.
    #[must_use]
    pub fn is_difference(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }

    /// Whether more figures could still decide.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::NotDistinguishable | Self::TooFew)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::median_interval;

    fn verdict(low: f64, high: f64) -> Verdict {
        Verdict::of(&Interval { estimate: 1.0, low, high, confidence: 0.97 }, Verdict::MARGIN)
    }

    #[test]
    fn an_interval_that_excludes_one_is_a_difference_however_small() {
        assert_eq!(verdict(1.001, 1.01), Verdict::Slower);
        assert_eq!(verdict(0.2, 0.99), Verdict::Faster);
    }

    #[test]
    fn an_interval_that_holds_one_is_as_fast_only_inside_the_margin() {
        assert_eq!(verdict(0.96, 1.04), Verdict::AsFast);
        assert_eq!(verdict(1.0, 1.05), Verdict::AsFast);
        assert_eq!(verdict(0.96, 1.06), Verdict::NotDistinguishable);
        assert_eq!(verdict(0.5, 1.0), Verdict::NotDistinguishable);
    }

    #[test]
    fn five_rounds_are_too_few_and_six_are_enough() {
        let of = |rounds: usize| Verdict::of(&median_interval(&vec![2.0; rounds], CONFIDENCE).unwrap(), 0.05);
        assert_eq!((of(5), of(6)), (Verdict::TooFew, Verdict::Slower));
    }
}
