//! Comparison of two cases in common rounds, which cancels drift.

use std::collections::HashMap;

use writebench_model::Sample;
use writebench_stats::{CONFIDENCE, Interval, Verdict, as_f64};

use crate::numbers::case::CaseReport;

/// The verdict on two cases, by the interval of their in-round ratio.
pub(crate) fn verdict(case: &CaseReport, other: &CaseReport) -> Verdict {
    in_round_ratio(case, other).map_or(Verdict::TooFew, |ratio| Verdict::of(&ratio, Verdict::MARGIN))
}

/// Whether the interval of a ratio includes 1.
pub(crate) fn holds_one(ratio: &Interval) -> bool {
    ratio.low <= 1.0 && ratio.high >= 1.0
}

/// The ratio of one case's time to the other's.
pub(crate) fn in_round_ratio(case: &CaseReport, other: &CaseReport) -> Option<Interval> {
    in_round_ratio_of(case, other, total)
}

impl CaseReport {
    /// The median of this case's time over another's in common rounds, with its interval: 2 if the
    /// other is twice as fast.
    #[must_use]
    pub fn time_in_rounds_over(&self, other: &Self) -> Option<Interval> {
        in_round_ratio(self, other)
    }
}

/// The in-round ratio of any figure. 0 over 0 counts as 1; a positive value over 0 is infinite, and
/// so may be the median: only the middle counts.
pub(crate) fn in_round_ratio_of(
    case: &CaseReport,
    other: &CaseReport,
    figure: fn(&Sample) -> f64,
) -> Option<Interval> {
    writebench_stats::median_interval(&in_round_ratios(case, other, figure), CONFIDENCE)
}

/// The ratio in each common round.
pub(crate) fn in_round_ratios(case: &CaseReport, other: &CaseReport, figure: fn(&Sample) -> f64) -> Vec<f64> {
    let by_round = |case: &CaseReport| -> HashMap<u32, f64> {
        Sample::usable(&case.record.samples).into_iter().map(|sample| (sample.round, figure(sample))).collect()
    };
    let other = by_round(other);
    by_round(case)
        .into_iter()
        .filter_map(|(round, own)| other.get(&round).map(|&other| if own == other { 1.0 } else { own / other }))
        .collect()
}

/// The total time, in nanoseconds.
pub(crate) fn total(sample: &Sample) -> f64 {
    as_f64(sample.phases_ns.total())
}

/// The geometric mean, for which 2 and 1/2 cancel.
pub(crate) fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / as_f64(ratios.len() as u64)).exp()
}
