use anyhow::{Result, ensure};
use writebench_model::{Axis, Bytes, Case, GOALS, RunRecord, SelectedCase, Settings};
use writebench_runner::{AdaptiveSize, Contest, OfSize, Rule};
use writebench_stats::distinct;

use super::scheduled::ScheduledCases;
use crate::exit::usage;
use crate::{constraints, selection};

/// In smaller files, opening takes longer than writing.
const LEAST_BYTES: u64 = 64 << 10;
/// The passes that estimate the time write the largest size divided by these. The first is short on any disk.
const PASSES: [u64; 4] = [64, 32, 8, 4];
const MOST_FIRST_PASS_BYTES: u64 = 1 << 20;

impl ScheduledCases {
    /// `size` is the largest of the rows, and whether it is fixed. The run takes the largest size whose rounds all fit into
    /// the limits. `unasked` limits the bytes of a run without --max-bytes.
    pub(crate) fn for_run(
        rows: &[SelectedCase],
        size: Option<(u64, bool)>,
        run: &mut RunRecord,
        cases: &[Case],
        unasked: Option<u64>,
    ) -> Result<Self> {
        let Some((largest, is_fixed)) = size else { return Ok(Self::in_rounds(cases.to_vec(), run)) };
        run.cases.clear();
        let targets = &run.targets;
        let settings = &Settings { max_bytes: run.settings.max_bytes.or(unasked), ..run.settings.clone() };
        let rule = constraints::rule(&settings.constraints);
        let (mut all, mut deferred) = (Vec::new(), Vec::new());
        let sizes = if is_fixed { vec![largest] } else { sizes(largest) };
        let pass_sizes = if is_fixed { Vec::new() } else { pass_sizes(largest, &sizes) };
        let mut pass = |size| Some(places(size, &with_size(rows, largest, size)?, targets.len(), &mut all));
        let passes = pass_sizes.into_iter().filter_map(&mut pass).collect();
        let mut of_sizes = Vec::new();
        for size in sizes {
            let Some(rows) = with_size(rows, largest, size) else { continue };
            deferred.push(selection::records(&rows, targets));
            let mut of_size = places(size, &rows, targets.len(), &mut all);
            // Fewer samples cannot eliminate a case.
            if settings.samples >= selection::SAMPLES {
                of_size.contests = contests(&rows, targets.len(), &all, of_size.cases[0], &rule);
            }
            of_sizes.push(of_size);
        }
        ensure!(!of_sizes.is_empty(), usage!("no file size fits these cases. Give one with --size"));
        let schedule = Box::new(AdaptiveSize::new(passes, of_sizes, settings));
        Ok(Self { cases: all, deferred, schedule })
    }
}

/// Halves the size until the files of a sample fit into the free space. Returns that size.
pub(crate) fn shrink_to_fit(rows: &mut Vec<SelectedCase>, largest: u64, free: Option<u64>) -> u64 {
    /// A sample's file, a source, and space that is freed with a delay.
    const FILES: u64 = 4;
    for size in sizes(largest).into_iter().filter(|&size| size * FILES <= free.unwrap_or(u64::MAX)) {
        if let Some(smaller) = with_size(rows, largest, size) {
            *rows = smaller;
            return size;
        }
    }
    largest
}

pub(crate) fn smallest_cases(rows: &[SelectedCase], largest: u64) -> Vec<Case> {
    let rows =
        sizes(largest).into_iter().rev().find_map(|size| with_size(rows, largest, size)).unwrap_or_default();
    distinct(rows.into_iter().map(|row| row.case), Clone::clone)
}

fn sizes(largest: u64) -> Vec<u64> {
    let halves = std::iter::successors(Some(largest), |bytes| bytes.is_multiple_of(8192).then_some(bytes / 2));
    halves.take_while(|&bytes| bytes == largest || bytes >= LEAST_BYTES).collect()
}

/// Different from all other sizes, which identify samples.
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

/// Scales all rows from `largest` to `size`. Goals lose the rows that are invalid then. None if another row is invalid.
fn with_size(rows: &[SelectedCase], largest: u64, size: u64) -> Option<Vec<SelectedCase>> {
    let sized = |row: &SelectedCase| {
        let (axes, unit) = (row.case.axes(), row.case.unit_bytes());
        let own = selection::scaled(axes.size_bytes, size, largest);
        // Whole records and files remain.
        let unit =
            if axes.size_bytes < largest { unit.unwrap_or(selection::USUAL_BLOCK_BYTES).max(1) } else { 1 };
        let own = own / unit * unit;
        let case = row.case.with(Axis::Size, &Bytes(own).to_string()).ok().filter(|_| own > 0)?;
        Some(SelectedCase { case, ..row.clone() })
    };
    let is_needed = |row: &&SelectedCase| row.origin.suite() != GOALS || sized(row).is_some();
    rows.iter().filter(is_needed).map(sized).collect()
}

/// Appends the cases of these rows. Returns their indices in the plan, which has each case once per target.
fn places(bytes: u64, rows: &[SelectedCase], targets: usize, all: &mut Vec<Case>) -> OfSize {
    let first = all.len() * targets;
    all.extend(distinct(rows.iter().map(|row| row.case.clone()), Clone::clone));
    OfSize { bytes, cases: (first..all.len() * targets).collect(), contests: Vec::new() }
}

/// A contest for each goal and target. `first` is an index in the plan. A goal's first row is its baseline.
fn contests(rows: &[SelectedCase], targets: usize, all: &[Case], first: usize, rule: &Rule) -> Vec<Contest> {
    let is_together = |a: &SelectedCase, b: &SelectedCase| {
        a.origin.table() == b.origin.table() && a.case.contract() == b.case.contract()
    };
    let of_goals = rows.chunk_by(is_together).filter(|rows| rows[0].origin.suite() == GOALS);
    let place = |case: &Case| all[first / targets..].iter().position(|other| other == case);
    let on_target = |goal: &[SelectedCase], target: usize| {
        let position = |place: usize| first + place * targets + target;
        let cases = goal.iter().filter_map(|row| Some((position(place(&row.case)?), row.case.clone())));
        Contest::new(target, cases.collect(), rule.clone())
    };
    let all_targets = |goal| (0..targets).map(move |target| on_target(goal, target));
    of_goals.flat_map(all_targets).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_halves_and_passes_have_other_sizes() {
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
