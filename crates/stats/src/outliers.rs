use crate::median;

/// Counts the values with a modified z-score above 3.5: `0.6745 |x - median| / MAD` (Iglewicz and
/// Hoaglin, *How to Detect and Handle Outliers*, 1993). If more than half of the values are equal, none is an outlier.
pub fn count_outliers(values: &[f64]) -> usize {
    let Some(middle) = median(values) else {
        return 0;
    };
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    match median(&deviations) {
        Some(mad) if mad > 0.0 => deviations
            .iter()
            .filter(|&deviation| 0.6745 * deviation / mad > 3.5)
            .count(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calculated by hand: median 2.45, MAD 0.15. 8.2 has 0.6745 × 5.75 / 0.15 = 25.9, and 2.1 only 1.57. By mean and
    /// standard deviation 8.3 has only (8.3 - 3.54) / 2.49 = 1.9.
    #[test]
    fn two_outliers_do_not_hide_each_other() {
        let values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3];
        assert_eq!(count_outliers(&values), 2);
        let (mean, sd) = crate::mean_and_sd(&values).unwrap();
        assert!((8.3 - mean) / sd < 3.5);
    }

    #[test]
    fn only_a_distant_value_is_counted() {
        assert_eq!(count_outliers(&[10.0, 11.0, 9.0, 10.5, 9.5, 100.0]), 1);
        assert_eq!(count_outliers(&[10.0, 11.0, 9.0, 10.5, 9.5]), 0);
        assert_eq!(count_outliers(&[1.0, 1.0, 1.0, 50.0]), 0);
        assert_eq!(count_outliers(&[]), 0);
    }
}
