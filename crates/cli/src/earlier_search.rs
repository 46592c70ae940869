use std::collections::HashSet;

use anyhow::Result;
use writebench_model::{Axis, Case, RecordedCase, Stage, TargetRecord};
use writebench_store::{RunSummary, Store};

use crate::selection::SAMPLES;

/// The newest search with that baseline on that target, and its finalists, as names without a size.
pub(crate) fn earlier_finalists(
    store: &Store,
    target: &TargetRecord,
    baseline: &Case,
) -> Result<Option<(i64, HashSet<String>)>> {
    let is_there = |run: &RunSummary| run.is_search && run.target == target.name;
    for summary in store.runs()?.into_iter().rev().filter(is_there) {
        if store.is_imported(summary.number)? {
            continue;
        }
        let run = store.run(summary.number)?;
        let sampled = run.cases.iter().filter(|row| row.samples.len() >= SAMPLES as usize);
        let finals = sampled.filter(|row| row.origin.is_stage(Stage::Final));
        let rows = finals.map(|row| (row.case.name_without(&[Axis::Size]), row.origin.is_baseline()));
        let (baselines, finalists): (Vec<_>, Vec<_>) = rows.partition(|(_, is_baseline)| *is_baseline);
        if baselines.iter().any(|(name, _)| *name == name_without_size(baseline)) && !finalists.is_empty() {
            return Ok(Some((summary.number, finalists.into_iter().map(|(name, _)| name).collect())));
        }
    }
    Ok(None)
}

/// For cases that all have the same size.
pub(crate) fn name_without_size(case: &Case) -> String {
    RecordedCase::from(case.clone()).name_without(&[Axis::Size])
}
