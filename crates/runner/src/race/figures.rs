//! The samples that count, and the verdicts on them.

use std::collections::HashMap;

use writebench_stats::{CONFIDENCE, Verdict, as_f64};

use crate::schedule::Taken;

/// Candidates within this share of each other are equally good.
const CLOSE: f64 = 0.03;
/// In the final, before an interval of 95 % is possible, a candidate is dropped only if it lost every round
/// by this ratio.
const CLEAR_LOSS: f64 = 1.25;
const CLEAR_LOSS_ROUNDS: usize = 3;

/// The same as [`writebench_model::Sample::usable`]: the good samples without the disturbed, or all if every
/// sample was disturbed.
pub(super) fn usable(samples: &[Taken]) -> Vec<&Taken> {
    let good: Vec<&Taken> = samples.iter().filter(|sample| sample.is_ok).collect();
    let calm: Vec<&Taken> = good.iter().copied().filter(|sample| !sample.is_disturbed).collect();
    if calm.is_empty() { good } else { calm }
}

/// How many samples count as taken: at least half of them, however many are disturbed.
pub(super) fn counted(samples: &[Taken]) -> usize {
    usable(samples).len().max(samples.len() / 2)
}

/// The total time, by round.
pub(super) fn by_round(samples: &[Taken]) -> HashMap<u32, f64> {
    usable(samples).into_iter().map(|sample| (sample.round, as_f64(sample.total_ns))).collect()
}

/// The verdict on these ratios in common rounds.
pub(super) fn verdict(ratios: &[f64]) -> Verdict {
    writebench_stats::median_interval(ratios, CONFIDENCE)
        .map_or(Verdict::TooFew, |ratio| Verdict::of(&ratio, CLOSE))
}

/// Whether these ratios to the leader in common rounds are above 1 at 95 %, or high enough that fewer rounds
/// suffice.
pub(super) fn is_clear_loss(ratios: &[f64]) -> bool {
    let is_far = |ratio: &f64| *ratio > CLEAR_LOSS;
    verdict(ratios) == Verdict::Slower || ratios.len() >= CLEAR_LOSS_ROUNDS && ratios.iter().all(is_far)
}

/// A number of things that fit.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, and saturating")]
pub(super) fn floor(value: f64) -> usize {
    value as usize
}
