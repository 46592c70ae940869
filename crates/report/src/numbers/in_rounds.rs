//! Two cases compared in the rounds that they have in common, so that what drifts in between is in neither.

use std::collections::HashMap;

use writebench_model::Sample;
use writebench_stats::{CONFIDENCE, Interval, Verdict, as_f64};

use crate::numbers::case::CaseReport;

/// How one case compares with another, by the interval of their in-round ratio.
pub(crate) fn verdict(case: &CaseReport, other: &CaseReport) -> Verdict {
    in_round_ratio(case, other).map_or(Verdict::TooFew, |ratio| Verdict::of(&ratio, Verdict::MARGIN))
}

/// Whether two figures with that ratio cannot be told apart.
pub(crate) fn holds_one(ratio: &Interval) -> bool {
    ratio.low <= 1.0 && ratio.high >= 1.0
}

/// How many times longer one case takes than the other.
pub(crate) fn in_round_ratio(case: &CaseReport, other: &CaseReport) -> Option<Interval> {
    in_round_ratio_of(case, other, total)
}

/// The same of another figure. Nothing over nothing is the same; something over nothing is beyond all bounds, and so
/// may be the median: only what is in the middle counts.
pub(crate) fn in_round_ratio_of(
    case: &CaseReport,
    other: &CaseReport,
    figure: fn(&Sample) -> f64,
) -> Option<Interval> {
    writebench_stats::median_interval(&in_round_ratios(case, other, figure), CONFIDENCE)
}

/// One for each round that they have in common.
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

/// The time of everything, in nanoseconds.
pub(crate) fn total(sample: &Sample) -> f64 {
    as_f64(sample.phases_ns.total())
}

/// The mean of ratios, in which twice and half come to one.
pub(crate) fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / as_f64(ratios.len() as u64)).exp()
}
