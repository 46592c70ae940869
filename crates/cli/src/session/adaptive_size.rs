//! The cases of a run that finds out how large its files can be.

use anyhow::Result;
use writebench_model::{Axis, Bytes, Case, CaseRecord, SelectedCase, Settings, TargetRecord};
use writebench_runner::{FirstLook, OfSize, Schedule};

use crate::exit::usage;
use crate::selection;

/// Smaller files say more about opening them than about writing.
const LEAST_BYTES: u64 = 64 << 10;
/// The passes that measure the time have these parts of the largest size. The first one is small on any disk.
const PASSES: [u64; 4] = [64, 32, 8, 4];
const MOST_FIRST_PASS_BYTES: u64 = 1 << 20;

/// All cases of a run at all sizes.
pub(crate) struct AdaptiveCases {
    pub cases: Vec<Case>,
    /// The rows of each size.
    pub deferred: Vec<Vec<CaseRecord>>,
    pub schedule: Box<dyn Schedule>,
}

impl AdaptiveCases {
    /// Makes the cases from rows of that size: the largest size of which all rounds fit into the limits is taken.
    pub(crate) fn new(
        rows: &[SelectedCase],
        largest: u64,
        targets: &[TargetRecord],
        settings: &Settings,
    ) -> Result<Self> {
        let (mut all, mut deferred) = (Vec::new(), Vec::new());
        let sizes = sizes(largest);
        let mut passes = Vec::new();
        for size in pass_sizes(largest, &sizes) {
            let Some(rows) = with_size(rows, size) else { continue };
            let cases = selection::different(rows.into_iter().map(|row| row.case));
            passes.push(places(size, cases, targets.len(), &mut all));
        }
        let mut of_sizes = Vec::new();
        for size in sizes {
            let Some(rows) = with_size(rows, size) else { continue };
            deferred.push(selection::records(&rows, targets));
            let cases = selection::different(rows.into_iter().map(|row| row.case));
            of_sizes.push(places(size, cases, targets.len(), &mut all));
        }
        if of_sizes.is_empty() {
            return Err(usage!("no file size fits these cases: name one with --size"));
        }
        Ok(Self { cases: all, deferred, schedule: Box::new(FirstLook::new(passes, of_sizes, settings)) })
    }

    /// The cases with the smallest files, which are the least that such a run writes.
    pub(crate) fn smallest(rows: &[SelectedCase], largest: u64) -> Vec<Case> {
        let rows = sizes(largest).into_iter().rev().find_map(|size| with_size(rows, size)).unwrap_or_default();
        selection::different(rows.into_iter().map(|row| row.case))
    }
}

/// Halves of the largest size.
fn sizes(largest: u64) -> Vec<u64> {
    let halves = std::iter::successors(Some(largest), |bytes| bytes.is_multiple_of(8192).then_some(bytes / 2));
    halves.take_while(|&bytes| bytes == largest || bytes >= LEAST_BYTES).collect()
}

/// They differ from all other sizes, so that no sample is taken for another.
fn pass_sizes(largest: u64, sizes: &[u64]) -> Vec<u64> {
    let mut passes = Vec::new();
    for share in PASSES {
        let part = largest / share;
        let part = if passes.is_empty() { part.min(MOST_FIRST_PASS_BYTES) } else { part };
        let mut pass = (part / 4 * 3 / 4096 * 4096).max(4096);
        while sizes.contains(&pass) {
            pass += 4096;
        }
        if pass < largest && !passes.contains(&pass) {
            passes.push(pass);
        }
    }
    passes
}

/// None if a row cannot have that size.
fn with_size(rows: &[SelectedCase], size: u64) -> Option<Vec<SelectedCase>> {
    let size = Bytes(size).to_string();
    let sized =
        |row: &SelectedCase| Some(SelectedCase { case: row.case.with(Axis::Size, &size).ok()?, ..row.clone() });
    rows.iter().map(sized).collect()
}

/// Appends cases to the others; returns their places in the plan, which has each case once for
/// every target.
fn places(bytes: u64, cases: Vec<Case>, targets: usize, all: &mut Vec<Case>) -> OfSize {
    let first = all.len() * targets;
    let places = first..first + cases.len() * targets;
    all.extend(cases);
    OfSize { bytes, cases: places.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_halves_and_no_pass_has_one_of_them() {
        for largest in [128 << 20, 5 << 20, 3 << 20, 1 << 30, 64 << 10, 5000, 1] {
            let sizes = sizes(largest);
            let passes = pass_sizes(largest, &sizes);
            assert_eq!(sizes[0], largest);
            assert!(passes.iter().all(|pass| !sizes.contains(pass) && *pass < largest), "{passes:?} {sizes:?}");
            assert!(passes.is_sorted() && passes.first().is_none_or(|&first| first <= 1 << 20), "{passes:?}");
        }
        assert_eq!(sizes(5 << 20), [5120, 2560, 1280, 640, 320, 160, 80].map(|kib| kib << 10));
        assert_eq!(pass_sizes(5 << 20, &sizes(5 << 20)), [60 << 10, 120 << 10, 480 << 10, 960 << 10]);
    }
}
