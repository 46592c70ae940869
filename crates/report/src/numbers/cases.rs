//! The cases of a run with their numbers.

use std::collections::{HashMap, HashSet};

use writebench_model::{CaseRecord, RunRecord, Sample};
use writebench_stats::grouped;

use crate::numbers::case::CaseReport;
use crate::numbers::decisions::{decide_now, is_of_contest};
use crate::numbers::estimate::Estimate;
use crate::numbers::rounds::Modelled;

/// Takes the cases out of the run, and reports them in the order of its tables. If the run has no record of its
/// decisions, they are made here.
pub(crate) fn cases(run: &mut RunRecord) -> Vec<CaseReport> {
    let records = tables_together(std::mem::take(&mut run.cases));
    let mut cases = without_models(records, run);
    if run.decisions.is_empty() {
        run.decisions = decide_now(run, &cases);
    }
    count_disturbed(&mut cases, run);
    model(&mut cases, run);
    drop_exceeded_limits(&mut cases);
    cases
}

fn without_models(records: Vec<CaseRecord>, run: &RunRecord) -> Vec<CaseReport> {
    let indices: HashMap<&str, usize> = run
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .zip(0..)
        .collect();
    records
        .into_iter()
        .map(|record| {
            let target_index = indices.get(record.target.as_str()).copied();
            CaseReport::on_target(record, target_index, run)
        })
        .collect()
}

/// Disturbed samples count in every case of a contest that was decided with them.
fn count_disturbed(cases: &mut [CaseReport], run: &RunRecord) {
    for case in cases.iter_mut().filter(|case| is_of_contest(case)) {
        let decision = run.decision(&case.record.target, &case.record.workload);
        if decision.is_some_and(|decision| decision.counts_disturbed) {
            case.counts_disturbed = true;
            let good = Sample::good(&case.record.samples);
            case.estimate = Estimate::from_samples(&case.record, &good, run.settings.objective);
        }
    }
}

/// Gives each case its part of the model of its workload, and its share of the target's limit.
fn model(cases: &mut [CaseReport], run: &RunRecord) {
    let with_times: Vec<_> = cases
        .iter()
        .map(|case| (&case.record, case.times(run.settings.objective)))
        .collect();
    let modelled = Modelled::for_cases(&with_times);
    for (case, modelled) in cases.iter_mut().zip(modelled) {
        let limits = case
            .target(run)
            .map_or(&[][..], |target| target.limits.as_slice());
        case.model(modelled, limits);
    }
}

/// A case that joined a contest was recorded last, but belongs in its table.
fn tables_together(rows: Vec<CaseRecord>) -> Vec<CaseRecord> {
    let tables = grouped(rows, |row| {
        let suite = row.origin.suite().to_owned();
        let section = row.origin.section().to_owned();
        (suite, section)
    });
    tables.into_iter().flat_map(|(_, rows)| rows).collect()
}

/// A limit that a case exceeds is wrong: all cases of the target lose it.
fn drop_exceeded_limits(cases: &mut [CaseReport]) {
    let exceeded: HashSet<_> = cases
        .iter()
        .filter(|case| case.exceeds_limit())
        .filter_map(CaseReport::limit_key)
        .collect();
    for case in cases {
        let is_exceeded = case.limit_key().is_some_and(|key| exceeded.contains(&key));
        if let Some(estimate) = case.estimate.as_mut().filter(|_| is_exceeded) {
            estimate.limit = None;
        }
    }
}
