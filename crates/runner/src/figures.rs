use writebench_stats::{CLOSE, Interval, Verdict, as_f64};

use crate::schedule::SampleSummary;

/// In the final, before an interval of 95 % is possible, a candidate is dropped only if it lost every round
/// by this ratio.
const CLEAR_LOSS: f64 = 1.25;
pub(crate) const CLEAR_LOSS_ROUNDS: usize = 3;

/// See [`writebench_model::Sample::usable`].
pub(crate) fn usable(samples: &[SampleSummary]) -> Vec<&SampleSummary> {
    let good: Vec<&SampleSummary> = samples.iter().filter(|sample| sample.is_ok).collect();
    let calm: Vec<&SampleSummary> = good.iter().copied().filter(|sample| !sample.is_disturbed).collect();
    if calm.is_empty() { good } else { calm }
}

/// At least half of the samples, however many are disturbed.
pub(crate) fn counted(samples: &[SampleSummary]) -> usize {
    usable(samples).len().max(samples.len() / 2)
}

/// Total times by round.
pub(crate) fn by_round(samples: &[SampleSummary]) -> Vec<(u32, f64)> {
    usable(samples).into_iter().map(|sample| (sample.round, as_f64(sample.total_ns))).collect()
}

pub(crate) fn verdict(ratio: Option<Interval>) -> Verdict {
    ratio.map_or(Verdict::Inconclusive, |ratio| Verdict::from_ratio(&ratio, CLOSE - 1.0))
}

/// Whether the time over the leader's is above 1 at 95 %, or so far above that fewer rounds suffice.
pub(crate) fn is_clear_loss(ratio: Option<Interval>) -> bool {
    let is_far = |ratio: Interval| ratio.count >= CLEAR_LOSS_ROUNDS && ratio.low > CLEAR_LOSS;
    verdict(ratio) == Verdict::Slower || ratio.is_some_and(is_far)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, and saturating")]
pub(crate) fn floor(value: f64) -> usize {
    value as usize
}
