use writebench_stats::as_f64;

use crate::schedule::SampleSummary;

/// In the final, a candidate is beaten after this many rounds at the earliest.
pub(crate) const FEWEST_TO_LOSE: usize = 3;

/// What a search learns from, although only [`SampleSummary::judged_ns`] decides: the good samples without the
/// disturbed, or all good ones if each was disturbed.
pub(crate) fn usable(samples: &[SampleSummary]) -> Vec<&SampleSummary> {
    let good: Vec<&SampleSummary> = samples.iter().filter(|sample| sample.is_ok).collect();
    let calm: Vec<&SampleSummary> = good
        .iter()
        .copied()
        .filter(|sample| !sample.is_disturbed)
        .collect();
    if calm.is_empty() { good } else { calm }
}

/// How many samples count for the search: at least half of them, however many are disturbed.
pub(crate) fn counted(samples: &[SampleSummary]) -> usize {
    usable(samples).len().max(samples.len() / 2)
}

/// The round and the total time in nanoseconds of each usable sample.
pub(crate) fn by_round(samples: &[SampleSummary]) -> Vec<(u32, f64)> {
    usable(samples)
        .into_iter()
        .map(|sample| (sample.round, as_f64(sample.total_ns)))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count, and saturating"
)]
pub(crate) fn floor(value: f64) -> usize {
    value as usize
}
