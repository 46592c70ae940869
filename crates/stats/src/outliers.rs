//! Outliers: counted, never dropped.

use crate::median;

/// How many values have a modified z-score above 3.5: `0.6745 |x - median| / MAD` (Iglewicz and
/// Hoaglin, *How to Detect and Handle Outliers*, 1993). None where more than half are equal.
#[must_use]
pub fn count_outliers(values: &[f64]) -> usize {
    let Some(middle) = median(values) else { return 0 };
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    match median(&deviations) {
        Some(mad) if mad > 0.0 => deviations.iter().filter(|&deviation| 0.6745 * deviation / mad > 3.5).count(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_far_off_is_counted_and_near_ones_are_not() {
        assert_eq!(count_outliers(&[10.0, 11.0, 9.0, 10.5, 9.5, 100.0]), 1);
        assert_eq!(count_outliers(&[10.0, 11.0, 9.0, 10.5, 9.5]), 0);
        assert_eq!(count_outliers(&[1.0, 1.0, 1.0, 50.0]), 0);
        assert_eq!(count_outliers(&[]), 0);
    }
}
