//! The smallest difference that a number of samples can resolve in a machine's noise.

use crate::{median, sorted};

/// The fewest blocks that give an answer.
const FEWEST_BLOCKS: usize = 6;

/// The smallest difference between two medians of `block` values each that exceeds the differences within
/// this series, at that confidence. The series is cut into consecutive blocks of that many values, the
/// medians of all pairs of blocks are divided (the larger by the smaller, less 1), and the quantile of these
/// ratios is the result. It includes slow drift, and assumes no distribution. None for fewer than six blocks
/// or a median that is not positive.
#[must_use]
pub fn smallest_difference(values: &[f64], block: usize, confidence: f64) -> Option<f64> {
    let medians: Vec<f64> = values.chunks_exact(block.max(1)).filter_map(median).collect();
    if medians.len() < FEWEST_BLOCKS || medians.iter().any(|median| *median <= 0.0) {
        return None;
    }
    let pairs = medians.iter().enumerate().flat_map(|(index, a)| {
        medians[index + 1..].iter().map(move |b| if a > b { a / b - 1.0 } else { b / a - 1.0 })
    });
    let differences = sorted(&pairs.collect::<Vec<f64>>());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
    let rank = (differences.len() as f64 * confidence).ceil() as usize;
    differences.get(rank.clamp(1, differences.len()) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn noise(count: usize, part: f64, seed: u64) -> Vec<f64> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        (0..count).map(|_| 1.0 + part * (random.random::<f64>() * 2.0 - 1.0)).collect()
    }

    #[test]
    fn more_samples_tell_smaller_differences_where_noise_is_independent() {
        let values = noise(3000, 0.1, 1);
        let (six, thirty) =
            (smallest_difference(&values, 6, 0.95).unwrap(), smallest_difference(&values, 30, 0.95).unwrap());
        // The factor would be the square root of five if medians were means.
        assert!((1.7..2.9).contains(&(six / thirty)), "{six} {thirty}");
    }

    #[test]
    fn more_samples_do_not_help_against_slow_drift() {
        let drift = |index: usize| 1.0 + 0.1 * (index as f64 / 3000.0 * std::f64::consts::TAU).sin();
        let values: Vec<f64> =
            noise(3000, 0.01, 1).into_iter().enumerate().map(|(index, value)| value * drift(index)).collect();
        let (six, thirty) =
            (smallest_difference(&values, 6, 0.95).unwrap(), smallest_difference(&values, 30, 0.95).unwrap());
        assert!(thirty > 0.15 && six / thirty < 1.1, "{six} {thirty}");
    }

    /// A difference of this size between two series with the same noise is resolved in most pairs of blocks, and
    /// series without a difference stay within it in about 95 of 100.
    #[test]
    fn other_blocks_of_the_same_noise_keep_within_it() {
        let limit = smallest_difference(&noise(3000, 0.1, 1), 6, 0.95).unwrap();
        let medians: Vec<f64> = noise(6000, 0.1, 2).chunks_exact(6).filter_map(median).collect();
        let (firsts, seconds) = medians.split_at(medians.len() / 2);
        let within = firsts.iter().zip(seconds).filter(|(a, b)| (*a / *b).max(*b / *a) - 1.0 <= limit).count();
        let share = within as f64 / firsts.len() as f64;
        assert!((0.92..0.98).contains(&share), "{share}");
    }

    #[test]
    fn a_quiet_series_resolves_everything_and_a_short_one_has_no_answer() {
        assert_eq!(smallest_difference(&[5.0; 60], 6, 0.95), Some(0.0));
        assert_eq!(smallest_difference(&[5.0; 35], 6, 0.95), None, "five blocks");
        assert_eq!(smallest_difference(&[0.0; 60], 6, 0.95), None);
    }
}
