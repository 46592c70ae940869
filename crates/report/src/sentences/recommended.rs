use writebench_model::{Case, Settings};
use writebench_stats::FEWEST_FOR_INTERVAL;

use crate::numbers::CaseReport;

/// By [`writebench_stats::recommended`], among cases of at least six samples. Baselines are on the same target. One that the
/// user's program cannot have is only a reference.
pub(crate) fn recommended<'c>(
    ranked: &[&'c CaseReport],
    settings: &Settings,
    is_baseline: impl Fn(&CaseReport) -> bool,
) -> Option<&'c CaseReport> {
    let (baselines, ways): (Vec<&CaseReport>, Vec<&CaseReport>) =
        ranked.iter().copied().partition(|case| is_baseline(case));
    let is_allowed =
        |case: &&CaseReport| case.record.case.known().is_none_or(|case| settings.allows(case, case));
    let baselines: Vec<&CaseReport> = baselines.into_iter().filter(is_allowed).collect();
    // A later version's case counts as the most complex.
    let complexity =
        |case: &CaseReport| case.record.case.known().map_or((u32::MAX, usize::MAX), Case::complexity);
    let ways =
        ways.into_iter().filter(|case| has_rounds(case)).map(|case| (case, case.time_ns(), complexity(case)));
    writebench_stats::recommended(&ways.collect::<Vec<_>>(), baselines.first().copied(), |way| {
        baselines.iter().find(|baseline| baseline.record.target == way.record.target)?.ratio_to(way)
    })
}

/// For an interval.
pub(crate) fn has_rounds(case: &CaseReport) -> bool {
    case.estimate.as_ref().is_some_and(|estimate| estimate.samples >= FEWEST_FOR_INTERVAL as usize)
}

/// The cases with one choice less, towards the baseline.
pub(crate) fn simpler<'c>(
    case: &CaseReport,
    baseline: &CaseReport,
    measured: &[&'c CaseReport],
) -> Vec<&'c CaseReport> {
    let known = case.record.case.known().zip(baseline.record.case.known());
    let simpler = known.map_or(Vec::new(), |(case, plain)| case.simplifications(plain));
    let find = |case: &Case| measured.iter().copied().find(|other| other.record.case.known() == Some(case));
    simpler.iter().filter_map(find).collect()
}
