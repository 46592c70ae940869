//! Statistics for write times. These are skewed, bimodal and drifting, so this crate uses medians, order statistics and
//! trimmed means, which outliers hardly move.
//!
//! This is an internal part of writebench, without a stability promise.

#![expect(
    clippy::cast_precision_loss,
    reason = "numbers of samples are far below 2^52"
)]

mod clustered;
mod deciding;
mod gate;
mod gaussian_process;
mod grouped;
mod independent;
mod interval;
mod likeness;
mod limit;
mod mann_whitney;
mod normal;
mod outliers;
mod paired;
mod quantile;
mod rounds;
mod stability;
mod standings;
mod verdict;

pub use clustered::{Cluster, Share};
pub use deciding::{ContestSample, Deciding, needs_disturbed};
pub use gate::{Gate, GateVerdict};
pub use gaussian_process::{GaussianProcess, Kernel, Observation, Point, expected_improvement};
pub use grouped::{distinct, grouped};
pub use independent::independent_ratio;
pub use interval::{Interval, lasting_median_interval, median_interval};
pub use limit::{LimitVerdict, confidence_of_each, fewest_for_limit, limit_interval};
pub use outliers::count_outliers;
pub use paired::paired_ratio;
pub use quantile::{Cumulative, QuantileInterval, quantile_interval};
pub use rounds::Rounds;
pub use stability::{Burst, Stability, stability};
pub use standings::{FEWEST_COMPARED, Standings};
pub use verdict::Verdict;

/// The confidence of the intervals that the program reports.
pub const CONFIDENCE: f64 = 0.95;
/// Times within this ratio are equally good. A smaller gain is not worth a change.
pub const CLOSE: f64 = 1.03;
/// The fewest values whose median has an interval of that confidence. All are on one side of the true
/// median with a probability of 1/16 for five values, and of 1/32 for six.
pub const FEWEST_FOR_INTERVAL: u32 = 6;

/// Converts a count. The result is exact up to 2^53, and to sixteen digits beyond.
pub fn as_f64(value: u64) -> f64 {
    value as f64
}

/// The middle value, or the mean of the two middle ones. It is `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The median by logarithms: the middle value, or the geometric mean of the two middle ones. So the median of speeds
/// is the inverse of that of times, and quotients of medians agree. It is `None` without values.
pub fn log_median(values: &[f64]) -> Option<f64> {
    // The middle value is exact. The exponential of its logarithm would not be.
    if values.len() % 2 == 1 {
        return median(values);
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    median(&logs).map(f64::exp)
}

/// The mean and the sample standard deviation, which divides by n - 1 and is 0 for one value. It is `None` without
/// values.
pub fn mean_and_sd(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = if values.len() < 2 {
        0.0
    } else {
        (squares / (count - 1.0)).sqrt()
    };
    Some((mean, sd))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[1.0, 2.0, 10.0, 4.0]), Some(3.0));
    }

    #[test]
    fn the_median_of_speeds_is_the_inverse_of_that_of_times() {
        assert_eq!(log_median(&[]), None);
        assert_eq!(log_median(&[3.0, 9.0, 1.0]), Some(3.0));
        let times = [1.0, 2.0, 8.0, 100.0];
        let speeds = times.map(|time| 1.0 / time);
        let [time, speed] = [times, speeds].map(|values| log_median(&values).unwrap());
        assert!(
            (time - 4.0).abs() < 1e-12 && (time * speed - 1.0).abs() < 1e-12,
            "{time} {speed}"
        );
    }

    #[test]
    fn the_standard_deviation_is_that_of_a_sample() {
        // A textbook example: variance 4.571428… with n - 1.
        let (mean, sd) = mean_and_sd(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((mean - 5.0).abs() < 1e-12);
        assert!((sd - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }
}
