use std::collections::HashSet;

use anyhow::Result;
use writebench_model::{Axis, Case, RecordedCase, TargetRecord};
use writebench_store::{Finalist, Store};

use crate::selection::SAMPLES;

/// The newest search with that baseline on that target, and its finalists, as names without a size.
pub(crate) fn earlier_finalists(
    store: &Store,
    target: &TargetRecord,
    baseline: &Case,
) -> Result<Option<(i64, HashSet<String>)>> {
    let wanted = name_without_size(baseline);
    let is_sampled = |finalist: &&Finalist| finalist.samples >= u64::from(SAMPLES);
    let accepts = |finalists: &[Finalist]| {
        let is_wanted = |one: &Finalist| one.is_baseline && without_size(&one.name) == wanted;
        let mut sampled = finalists.iter().filter(is_sampled);
        sampled.clone().any(is_wanted) && sampled.any(|one| !one.is_baseline)
    };
    let Some((search, finalists)) = store.newest_search_on(&target.name, accepts)? else {
        return Ok(None);
    };
    let others = finalists
        .iter()
        .filter(is_sampled)
        .filter(|one| !one.is_baseline);
    Ok(Some((
        search,
        others.map(|one| without_size(&one.name)).collect(),
    )))
}

/// The name by which cases of one size are compared with those of another.
pub(crate) fn name_without_size(case: &Case) -> String {
    RecordedCase::from(case.clone()).name_without(&[Axis::Size])
}

pub(crate) fn without_size(name: &str) -> String {
    RecordedCase::unknown(name.to_owned(), String::new(), Default::default())
        .name_without(&[Axis::Size])
}
