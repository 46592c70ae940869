//! The cases of a chart, and their grouping.

use std::hash::Hash;

use writebench_model::{Axes, Axis, Case};

use crate::numbers;
use crate::numbers::{CaseReport, Estimate};

/// A case, the name of its target, and its index among all cases of all reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChartCase<'r> {
    pub number: usize,
    pub target: &'r str,
    pub case: &'r CaseReport,
}

impl<'r> ChartCase<'r> {
    /// The case's values, if it is known and has that axis.
    pub(super) fn own_axes(&self, axis: Axis) -> Option<&'r Axes> {
        let known = self.case.record.case.known().filter(|case| case.method().has_axis(axis));
        known.map(Case::axes)
    }

    /// The case's name without some axes, which all points of a line along these axes share.
    pub(super) fn name_without(&self, axes: &[Axis]) -> String {
        self.case.record.case.name_without(axes)
    }

    /// The place of the case on an axis of chunk sizes; a whole range is as large as the file.
    pub(super) fn chunk_bytes(&self) -> Option<u64> {
        let bytes = match self.own_axes(Axis::Chunk)?.chunk_size_bytes {
            Axes::WHOLE => self.case.record.contract.bytes,
            bytes => bytes,
        };
        Some(bytes).filter(|&bytes| bytes > 0)
    }

    /// The estimate of the whole work. The time of a truncated case is for less.
    pub(super) fn whole_estimate(&self) -> Option<&'r Estimate> {
        self.case.estimate.as_ref().filter(|estimate| estimate.cut == 0)
    }
}

/// The rows of a target.
pub(super) struct OfTarget<'r> {
    pub target: &'r str,
    pub rows: Vec<ChartCase<'r>>,
    /// The end of the chart's name, if there are several targets.
    pub suffix: String,
}

/// Rows by target: different targets are not in one chart.
pub(super) fn each_target<'r>(rows: &[ChartCase<'r>]) -> Vec<OfTarget<'r>> {
    let targets = grouped(rows, |row| row.target);
    let several = targets.len() > 1;
    let suffix = |target: &str| if several { format!("-{target}") } else { String::new() };
    targets.into_iter().map(|(target, rows)| OfTarget { target, rows, suffix: suffix(target) }).collect()
}

/// The rows of each contract on each target, since only these are comparable; `name` is a contract's in a chart's name.
pub(super) fn each_contract<'r, K: Clone + Eq + Hash>(
    rows: &[ChartCase<'r>],
    contract: impl Fn(&ChartCase<'r>) -> K,
    name: impl Fn(&ChartCase<'r>) -> String,
) -> Vec<(K, OfTarget<'r>)> {
    let mut parts = Vec::new();
    for OfTarget { target, rows, suffix } in each_target(rows) {
        let contracts = grouped(&rows, &contract);
        let several = contracts.len() > 1;
        parts.extend(contracts.into_iter().map(|(contract, rows)| {
            let end = if several { format!("-{}", name(&rows[0])) } else { String::new() };
            (contract, OfTarget { target, suffix: format!("{suffix}{end}"), rows })
        }));
    }
    parts
}

/// Rows with the same key together, in the order in which the keys were met.
pub(super) fn grouped<'r, K: Clone + Eq + Hash>(
    rows: &[ChartCase<'r>],
    key: impl Fn(&ChartCase<'r>) -> K,
) -> Vec<(K, Vec<ChartCase<'r>>)> {
    numbers::grouped(rows.iter().copied(), key)
}

/// The different places of rows on an axis, from the smallest.
pub(super) fn places<'r>(rows: &[ChartCase<'r>], place: impl Fn(&ChartCase<'r>) -> Option<u64>) -> Vec<u64> {
    let mut places: Vec<u64> = rows.iter().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}
