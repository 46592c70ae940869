//! The recommended case of those that compete.

use writebench_model::Case;
use writebench_stats::FEWEST_FOR_INTERVAL;

use crate::numbers::CaseReport;

/// By the rule of [`writebench_stats::recommended`], among cases of six samples at least. A case is held against the
/// baseline on its own target.
pub(crate) fn recommended<'c>(
    ranked: &[&'c CaseReport],
    is_baseline: impl Fn(&CaseReport) -> bool,
) -> Option<&'c CaseReport> {
    let (baselines, ways): (Vec<&CaseReport>, Vec<&CaseReport>) =
        ranked.iter().copied().partition(|case| is_baseline(case));
    // A case of a later version counts as more complex than any.
    let complexity =
        |case: &CaseReport| case.record.case.known().map_or((u32::MAX, usize::MAX), Case::complexity);
    let ways =
        ways.into_iter().filter(|case| has_rounds(case)).map(|case| (case, case.time_ns(), complexity(case)));
    writebench_stats::recommended(&ways.collect::<Vec<_>>(), baselines.first().copied(), |way| {
        baselines.iter().find(|baseline| baseline.record.target == way.record.target)?.ratio_to(way)
    })
}

/// Whether a case has enough samples for an interval.
pub(crate) fn has_rounds(case: &CaseReport) -> bool {
    case.estimate.as_ref().is_some_and(|estimate| estimate.samples >= FEWEST_FOR_INTERVAL as usize)
}
