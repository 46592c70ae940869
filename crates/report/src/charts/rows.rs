use std::hash::Hash;

use writebench_model::{Axis, Case, Choices, Goal};

use crate::numbers;
use crate::numbers::{CaseReport, Estimate};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChartCase<'r> {
    pub number: usize,
    /// The number of the target in the order in which the runs name them.
    pub place: usize,
    pub target: &'r str,
    pub case: &'r CaseReport,
    /// The case's goal in a run of goals, or in a search.
    pub goal: Option<Goal>,
    pub is_recommended: bool,
}

impl<'r> ChartCase<'r> {
    /// The case, if it is known and has that axis.
    pub(super) fn case_with(&self, axis: Axis) -> Option<&'r Case> {
        self.case
            .record
            .case
            .known()
            .filter(|case| case.method().has_axis(axis))
    }

    /// A whole range counts as the file's size.
    pub(super) fn chunk_bytes(&self) -> Option<u64> {
        let bytes = match self.case_with(Axis::Chunk)?.choices().chunk_size_bytes {
            Choices::WHOLE => self.case.record.workload.bytes,
            bytes => bytes,
        };
        Some(bytes).filter(|&bytes| bytes > 0)
    }

    /// The estimate, except that of truncated cases, whose time is for less work.
    pub(super) fn whole_estimate(&self) -> Option<&'r Estimate> {
        self.case
            .estimate
            .as_ref()
            .filter(|estimate| estimate.truncated_samples == 0)
    }
}

pub(super) struct OfTarget<'r> {
    pub target: &'r str,
    pub rows: Vec<ChartCase<'r>>,
    /// The end of the chart's name with several targets.
    pub suffix: String,
}

pub(super) fn each_target<'r>(rows: &[ChartCase<'r>]) -> Vec<OfTarget<'r>> {
    each_workload(rows, |_| (), |_| String::new())
        .into_iter()
        .map(|(_, on)| on)
        .collect()
}

/// Only these are comparable. `name` is the workload's part of a chart's name.
pub(super) fn each_workload<'r, K: Clone + Eq + Hash>(
    rows: &[ChartCase<'r>],
    workload: impl Fn(&ChartCase<'r>) -> K,
    name: impl Fn(&ChartCase<'r>) -> String,
) -> Vec<(K, OfTarget<'r>)> {
    let end = |is_needed: bool, name: String| {
        if is_needed {
            format!("-{name}")
        } else {
            String::new()
        }
    };
    let targets = grouped(rows, |row| row.target);
    let mut parts = Vec::new();
    for (target, rows) in &targets {
        let suffix = end(targets.len() > 1, (*target).to_owned());
        let workloads = grouped(rows, &workload);
        let several = workloads.len() > 1;
        parts.extend(workloads.into_iter().map(|(workload, rows)| {
            let suffix = format!("{suffix}{}", end(several, name(&rows[0])));
            (
                workload,
                OfTarget {
                    target,
                    suffix,
                    rows,
                },
            )
        }));
    }
    parts
}

/// Groups in the order of their first rows.
pub(super) fn grouped<'r, K: Clone + Eq + Hash>(
    rows: &[ChartCase<'r>],
    key: impl Fn(&ChartCase<'r>) -> K,
) -> Vec<(K, Vec<ChartCase<'r>>)> {
    numbers::grouped(rows.iter().copied(), key)
}

/// The different places of rows, the smallest first.
pub(super) fn places<'r>(
    rows: &[ChartCase<'r>],
    place: impl Fn(&ChartCase<'r>) -> Option<u64>,
) -> Vec<u64> {
    let mut places: Vec<u64> = rows.iter().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}
