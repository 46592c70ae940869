use crate::{Interval, mann_whitney, sorted};

/// The factor by which `numerator` is larger than `denominator`: Hodges and Lehmann's estimate, the median
/// of all `n m` ratios. The interval is that of Mann and Whitney's test (Conover, *Practical Nonparametric
/// Statistics*, 3rd ed., section 5.4, there for differences: the logarithms of these ratios).
///
/// If one distribution is the other times a factor, the interval includes that factor with at least that
/// confidence. Ties make it wider, never too narrow. With too few values, the result is the range of all
/// ratios with its actual confidence. It is `None` if a side is empty, or has a value that is not positive.
pub fn independent_ratio(
    numerator: &[f64],
    denominator: &[f64],
    confidence: f64,
) -> Option<Interval> {
    if !are_positive(numerator) || !are_positive(denominator) {
        return None;
    }
    let ratios = Ratios {
        numerator: sorted(numerator),
        denominator: sorted(denominator),
    };
    let count = ratios.count();
    let (cut, confidence) = mann_whitney::cut(numerator.len(), denominator.len(), confidence);
    Some(Interval {
        estimate: ratios.median(),
        low: ratios.smallest(cut),
        high: ratios.smallest(count + 1 - cut),
        confidence,
        count,
    })
}

fn are_positive(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|value| value.is_finite() && *value > 0.0)
}

/// All ratios of the values of two sides, each of which is sorted. A million samples have too many ratios to store.
struct Ratios {
    numerator: Vec<f64>,
    denominator: Vec<f64>,
}

/// The end of a range of ratios: the bits of a float, and how many ratios are not above that float.
#[derive(Clone, Copy)]
struct End {
    bits: u64,
    rank: usize,
}

impl Ratios {
    fn count(&self) -> usize {
        self.numerator.len() * self.denominator.len()
    }

    /// The middle ratio, or by logarithms the middle of the two middle ones. So A over B is the inverse of B over A.
    fn median(&self) -> f64 {
        let count = self.count();
        let lower = self.smallest(count.div_ceil(2));
        let upper = self.smallest(count / 2 + 1);
        if lower < upper {
            (lower * upper).sqrt()
        } else {
            lower
        }
    }

    /// The ratio with that rank, from 1. It is found by bisection until few ratios remain, and then in a list of them.
    /// Positive floats have the order of their bits.
    fn smallest(&self, rank: usize) -> f64 {
        let largest_denominator = self.denominator[self.denominator.len() - 1];
        let largest_numerator = self.numerator[self.numerator.len() - 1];
        let least = self.numerator[0] / largest_denominator;
        let most = largest_numerator / self.denominator[0];
        let mut low = self.end_at(least.to_bits().saturating_sub(1));
        let mut high = End {
            bits: most.to_bits(),
            rank: self.count(),
        };
        if rank <= low.rank {
            return f64::from_bits(low.bits);
        }
        let few = self.numerator.len() + self.denominator.len();
        while high.bits - low.bits > 1 && high.rank - low.rank > few {
            let between = self.end_at(u64::midpoint(low.bits, high.bits));
            if between.rank >= rank {
                high = between;
            } else {
                low = between;
            }
        }
        if high.bits - low.bits <= 1 {
            return f64::from_bits(high.bits);
        }
        let mut rest = self.between(f64::from_bits(low.bits), f64::from_bits(high.bits));
        let (_, ratio, _) = rest.select_nth_unstable_by(rank - low.rank - 1, f64::total_cmp);
        *ratio
    }

    fn end_at(&self, bits: u64) -> End {
        let limit = f64::from_bits(bits);
        let rank = self
            .not_above(limit)
            .map(|(_, first)| self.denominator.len() - first)
            .sum();
        End { bits, rank }
    }

    /// The ratios above `above` and not above `limit`.
    fn between(&self, above: f64, limit: f64) -> Vec<f64> {
        let mut ratios = Vec::new();
        for ((numerator, first), (_, end)) in self.not_above(limit).zip(self.not_above(above)) {
            for denominator in &self.denominator[first..end] {
                ratios.push(numerator / denominator);
            }
        }
        ratios
    }

    /// Each numerator, with its first denominator for a ratio not above the limit. Both sides are sorted,
    /// so a larger numerator needs a larger denominator.
    fn not_above(&self, limit: f64) -> impl Iterator<Item = (f64, usize)> + '_ {
        let mut first = 0;
        self.numerator.iter().map(move |&numerator| {
            let rest = self.denominator[first..].iter();
            first += rest
                .take_while(|&denominator| numerator / denominator > limit)
                .count();
            (numerator, first)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Calculated by hand: of these 16 ratios the 8th and 9th are 2, the smallest 8/7 and the largest 14/4. Four
    /// values each are the fewest for 95 %: 1 - 2/70.
    #[test]
    fn four_and_four_values_give_the_range_of_all_ratios() {
        let ratio =
            independent_ratio(&[8.0, 10.0, 12.0, 14.0], &[4.0, 5.0, 6.0, 7.0], 0.95).unwrap();
        assert_eq!(
            (ratio.estimate, ratio.low, ratio.high),
            (2.0, 8.0 / 7.0, 14.0 / 4.0)
        );
        assert!((ratio.confidence - (1.0 - 2.0 / 70.0)).abs() < 1e-12);
    }

    #[test]
    fn every_rank_is_that_of_all_ratios_written_down() {
        for modulus in [7, 1009] {
            let side = |count: u32, seed: u32| -> Vec<f64> {
                sorted(
                    &(0..count)
                        .map(|index| f64::from((index * 7919 + seed) % modulus + 1))
                        .collect::<Vec<_>>(),
                )
            };
            let ratios = Ratios {
                numerator: side(40, 3),
                denominator: side(25, 11),
            };
            let of_one = |numerator: &f64| {
                ratios
                    .denominator
                    .iter()
                    .map(|denominator| numerator / denominator)
                    .collect::<Vec<_>>()
            };
            let all = sorted(&ratios.numerator.iter().flat_map(of_one).collect::<Vec<_>>());
            let found: Vec<f64> = (1..=all.len()).map(|rank| ratios.smallest(rank)).collect();
            assert_eq!(found, all);
        }
    }

    #[test]
    fn an_undefined_ratio_is_none() {
        assert_eq!(independent_ratio(&[], &[1.0], 0.95), None);
        assert_eq!(independent_ratio(&[1.0], &[0.0], 0.95), None);
        assert_eq!(independent_ratio(&[f64::NAN], &[1.0], 0.95), None);
        assert!(
            independent_ratio(&[3.0], &[2.0], 0.95)
                .is_some_and(|ratio| ratio.estimate == 1.5 && ratio.confidence == 0.0)
        );
    }

    #[test]
    fn equal_values_are_no_difference() {
        let ratio = independent_ratio(&[5.0; 30], &[5.0; 20], 0.95).unwrap();
        assert_eq!((ratio.low, ratio.estimate, ratio.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn millions_of_ratios_need_no_memory() {
        let values: Vec<f64> = (1..=20_000).map(f64::from).collect();
        let ratio = independent_ratio(&values, &values, 0.95).unwrap();
        assert!(
            ratio.low < 1.0 && ratio.high > 1.0 && (ratio.estimate - 1.0).abs() < 1e-12,
            "{ratio:?}"
        );
    }

    proptest! {
        #[test]
        fn the_ranks_are_those_of_the_sorted_ratios(
            a in prop::collection::vec(1u8..20, 1..30), b in prop::collection::vec(1u8..20, 1..30)
        ) {
            let side = |values: Vec<u8>| values.into_iter().map(f64::from).collect::<Vec<f64>>();
            let (a, b) = (side(a), side(b));
            let all: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| a / b)).collect();
            let ratios = Ratios { numerator: sorted(&a), denominator: sorted(&b) };
            for (rank, ratio) in (1..).zip(sorted(&all)) {
                prop_assert_eq!(ratios.smallest(rank).to_bits(), ratio.to_bits());
            }
        }

        #[test]
        fn swapped_sides_give_the_inverse(
            a in prop::collection::vec(1.0..1e9f64, 1..40), b in prop::collection::vec(1.0..1e9f64, 1..40)
        ) {
            let there = independent_ratio(&a, &b, 0.95).unwrap();
            let back = independent_ratio(&b, &a, 0.95).unwrap();
            prop_assert!(there.low <= there.estimate && there.estimate <= there.high);
            prop_assert!((there.estimate * back.estimate - 1.0).abs() < 1e-12);
            prop_assert!((there.low * back.high - 1.0).abs() < 1e-12 && (there.high * back.low - 1.0).abs() < 1e-12);
        }
    }
}
