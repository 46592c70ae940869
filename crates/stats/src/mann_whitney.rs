//! The distribution of Mann and Whitney's count for two equal distributions.

use crate::interval::largest_cut;
use crate::normal::normal_above;

/// The bits of the number of orders at which they are approximated instead of counted.
const COUNTED_BITS: f64 = 127.0;

/// The cut of an interval in `n m` sorted pairwise values, which has the ranks `[cut, n m + 1 - cut]`, and the
/// interval's confidence. It is the narrowest interval with at least `confidence`, or that of all values.
pub(crate) fn cut(n: usize, m: usize, confidence: f64) -> (usize, f64) {
    if bits(n.min(m), n.max(m)) >= COUNTED_BITS {
        approximated_cut(n, m, confidence)
    } else {
        counted_cut(n, m, confidence)
    }
}

fn counted_cut(n: usize, m: usize, confidence: f64) -> (usize, f64) {
    let orders = orders(n.min(m), n.max(m));
    let all = total(&orders, n * m);
    let middle = (n * m).div_ceil(2);
    let mut below = 0;
    let coverages = orders.iter().take(middle).map(|orders| {
        below += orders;
        1.0 - 2.0 * (below as f64 / all as f64)
    });
    // A coverage equal to the requested one may have a rounding error.
    largest_cut(coverages, confidence - 1e-12)
}

/// Finds the cut by bisection, because the coverage shrinks as the cut grows.
fn approximated_cut(n: usize, m: usize, confidence: f64) -> (usize, f64) {
    let middle = (n * m).div_ceil(2);
    let mut cut = 1;
    let mut too_large = middle + 1;
    while too_large - cut > 1 {
        let between = usize::midpoint(cut, too_large);
        if approximate_coverage(n, m, between) >= confidence {
            cut = between;
        } else {
            too_large = between;
        }
    }
    (cut, approximate_coverage(n, m, cut))
}

fn approximate_coverage(n: usize, m: usize, cut: usize) -> f64 {
    1.0 - 2.0 * approximate_tail(n, m, cut - 1)
}

/// The number of equally probable orders of `few` and `many` values with exactly `u` reversed pairs, for
/// each `u` up to the middle: coefficients of the Gaussian binomial (Mann and Whitney 1947).
///
/// The arithmetic is modulo 2^128. The results fit, so intermediate overflow is harmless.
fn orders(few: usize, many: usize) -> Vec<u128> {
    let length = few * many / 2 + 1;
    let mut counts = vec![0u128; length];
    counts[0] = 1;
    for factor in 1..=few {
        // Multiply by 1 - q^(many + factor), …
        for u in (many + factor..length).rev() {
            counts[u] = counts[u].wrapping_sub(counts[u - many - factor]);
        }
        // … and divide by 1 - q^factor.
        for u in factor..length {
            counts[u] = counts[u].wrapping_add(counts[u - factor]);
        }
    }
    counts
}

/// The logarithm to base 2 of the number of orders.
fn bits(few: usize, many: usize) -> f64 {
    (1..=few)
        .map(|factor| ((many + factor) as f64 / factor as f64).log2())
        .sum()
}

/// The number of all orders, from those of the lower half. Both halves are alike. If there is a middle, it belongs to
/// both.
fn total(orders: &[u128], pairs: usize) -> u128 {
    let half: u128 = orders.iter().sum();
    let middle = if pairs.is_multiple_of(2) {
        orders[pairs / 2]
    } else {
        0
    };
    2 * half - middle
}

/// The probability of at most `u`, by the normal distribution with continuity correction.
fn approximate_tail(n: usize, m: usize, u: usize) -> f64 {
    let n = n as f64;
    let m = m as f64;
    let mean = n * m / 2.0;
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    normal_above((mean - u as f64 - 0.5) / deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The largest significant count at 5 %, two-sided.
    #[test]
    fn the_published_critical_values_come_out() {
        for (n, m, critical) in [
            (4, 4, 0),
            (5, 5, 2),
            (8, 6, 8),
            (10, 10, 23),
            (15, 12, 49),
            (20, 20, 127),
            (3, 5, 0),
            (2, 8, 0),
        ] {
            let (cut, reached) = cut(n, m, 0.95);
            assert_eq!(cut, critical + 1, "{n} and {m}");
            assert!(reached >= 0.95);
        }
    }

    #[test]
    fn too_few_values_get_the_whole_range() {
        assert_eq!(cut(1, 1, 0.95), (1, 0.0));
        let (all, reached) = cut(3, 3, 0.95);
        assert!(
            all == 1 && (reached - 0.9).abs() < 1e-12,
            "2 of the 20 orders are as far out: {reached}"
        );
    }

    #[test]
    fn all_orders_are_counted() {
        // By hand: of the 6 orders of two and two values 1, 1, 2, 1, 1 have 0, 1, 2, 3, 4 reversed pairs.
        assert_eq!(orders(2, 2), [1, 1, 2]);
        assert_eq!(total(&orders(2, 2), 4), 6);
        assert_eq!(
            total(&orders(65, 65), 65 * 65),
            95_067_625_827_960_698_145_584_333_020_095_113_100
        );
    }

    #[test]
    fn the_approximation_continues_the_counting() {
        for (n, m) in [(60, 60), (40, 80), (20, 200)] {
            let (counted, reached) = cut(n, m, 0.95);
            let approximate = 1.0 - 2.0 * approximate_tail(n, m, counted - 1);
            assert!(
                (approximate - reached).abs() < 5e-4,
                "{n} and {m}: {approximate} {reached}"
            );
        }
        let (large, reached) = cut(400, 400, 0.95);
        // nm/2 - 1.96 sd + 1/2
        assert!(
            large == 73_595 && (0.95..0.9501).contains(&reached),
            "{large} {reached}"
        );
    }

    proptest! {
        #[test]
        fn the_counts_of_both_halves_are_a_binomial_coefficient(few in 1usize..40, more in 0usize..40) {
            let many = (few + more).min(39);
            // Each step is a binomial coefficient, so the division is exact. It is split to avoid overflow.
            let all = (1..=few).fold(1u128, |product, factor| {
                let (top, bottom) = ((many + factor) as u128, factor as u128);
                product / bottom * top + product % bottom * top / bottom
            });
            prop_assert_eq!(total(&orders(few, many), few * many), all);
        }
    }
}
