//! Ranks, and the similarity of two orders.

/// Spearman's rank correlation of values paired by index: the correlation of their ranks, with the mean rank
/// for ties (Conover, *Practical Nonparametric Statistics*, 3rd ed., section 5.4). 1 for the same order, -1
/// for the reverse. None for slices of unequal length or fewer than two values, if all values of one side are
/// equal, or if one is NaN.
#[must_use]
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 2 || a.iter().chain(b).any(|value| value.is_nan()) {
        return None;
    }
    correlation(&ranks(a), &ranks(b))
}

/// The rank of each value, from 1.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&left, &right| values[left].total_cmp(&values[right]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    // The comparison is not bitwise: 0 and -0 are equal.
    #[expect(clippy::float_cmp, reason = "a tie is of equal values")]
    for tie in order.chunk_by(|&left, &right| values[left] == values[right]) {
        let mean = before as f64 + (tie.len() as f64 + 1.0) / 2.0;
        tie.iter().for_each(|&index| ranks[index] = mean);
        before += tie.len();
    }
    ranks
}

/// Pearson's correlation; none if one side does not vary.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product = |x: &[f64], mean_x: f64, y: &[f64], mean_y: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum()
    };
    let (squares_a, squares_b) = (product(a, mean_a, a, mean_a), product(b, mean_b, b, mean_b));
    if squares_a <= 0.0 || squares_b <= 0.0 {
        return None;
    }
    Some((product(a, mean_a, b, mean_b) / (squares_a * squares_b).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(value: Option<f64>, wanted: f64) -> bool {
        value.is_some_and(|value| (value - wanted).abs() < 1e-12)
    }

    /// The example of Wikipedia's "Spearman's rank correlation coefficient": IQ and hours of television, with
    /// 6 Σd² / n(n² - 1) = 1164 / 990.
    #[test]
    fn the_published_example_comes_out() {
        let iq = [106.0, 100.0, 86.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0];
        let hours = [7.0, 27.0, 2.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0];
        assert!(close(spearman(&iq, &hours), 1.0 - 1164.0 / 990.0));
    }

    /// By hand: ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4; the sum of products of deviations is 4.5, of squares 4.5
    /// and 5.
    #[test]
    fn equal_values_take_the_mean_of_their_ranks() {
        assert_eq!(ranks(&[10.0, 20.0, 20.0, 40.0]), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(ranks(&[0.0, -0.0, -1.0]), [2.5, 2.5, 1.0]);
        assert!(close(spearman(&[10.0, 20.0, 20.0, 40.0], &[1.0, 2.0, 3.0, 4.0]), 4.5 / 22.5f64.sqrt()));
    }

    #[test]
    fn an_undefined_correlation_is_none() {
        assert_eq!(spearman(&[], &[]), None);
        assert_eq!(spearman(&[1.0], &[1.0]), None);
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]), None);
        assert_eq!(spearman(&[1.0, f64::NAN], &[1.0, 2.0]), None);
    }

    proptest! {
        #[test]
        fn the_same_order_is_one_and_the_reverse_is_minus_one(
            values in prop::collection::hash_set(-1_000_000i32..1_000_000, 2..100)
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let grown: Vec<f64> = values.iter().map(|value| value.powi(3) + 7.0).collect();
            let reversed: Vec<f64> = values.iter().map(|value| -value).collect();
            prop_assert!(close(spearman(&values, &grown), 1.0));
            prop_assert!(close(spearman(&values, &reversed), -1.0));
        }

        #[test]
        fn it_is_between_the_two_and_the_same_both_ways(
            pairs in prop::collection::vec((0u8..20, 0u8..20), 2..100)
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) =
                pairs.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).unzip();
            let (there, back) = (spearman(&a, &b), spearman(&b, &a));
            prop_assert_eq!(there.is_some(), back.is_some());
            if let (Some(there), Some(back)) = (there, back) {
                prop_assert!((-1.0..=1.0).contains(&there) && (there - back).abs() < 1e-12);
            }
        }
    }
}
