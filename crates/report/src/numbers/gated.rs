use serde::Serialize;
use writebench_model::{Objective, RunRecord};
use writebench_stats::{Gate, GateVerdict, Interval, distinct, grouped};

use crate::numbers::case::CaseReport;
use crate::numbers::rounds::times;

/// A case of a run with `--fail-if-slower`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gated {
    pub name: String,
    pub baseline: String,
    /// None with too few rounds.
    pub speed_ratio: Option<Interval>,
    pub verdict: GateVerdict,
}

/// Each case over the first on its target.
pub(crate) fn gated<'c>(run: &RunRecord, cases: &'c [CaseReport]) -> Vec<Gated> {
    let Some(limit_ppm) = run.settings.fail_if_slower_ppm else { return Vec::new() };
    let different = distinct(cases, |case| (&case.record.target, &case.record.case));
    let of_targets = grouped(different.iter().copied(), |case| &case.record.target);
    let gate = Gate { limit: f64::from(limit_ppm) / 1e6, cases: different.len() - of_targets.len() };
    let judge = |(baseline, case): (&CaseReport, &CaseReport)| {
        let of = |case: &CaseReport| times(case, Objective::Time);
        let (speed_ratio, verdict) = gate.judge(&of(baseline), &of(case));
        Gated { name: case.name.clone(), baseline: baseline.name.clone(), speed_ratio, verdict }
    };
    let pairs = |(_, cases): (_, Vec<&'c CaseReport>)| {
        let (baseline, others) = (cases[0], cases[1..].to_vec());
        others.into_iter().map(move |case| (baseline, case))
    };
    of_targets.into_iter().flat_map(pairs).map(judge).collect()
}
