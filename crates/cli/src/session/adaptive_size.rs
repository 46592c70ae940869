//! The size of the files, if no option gives it.
//!
//! A user asks about a file, so the size must not be an accident: it is one of few, and never below 16 MiB. On a slow disk,
//! a run answers fewer goals instead of the same goals for smaller files.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::Duration;

use anyhow::{Result, ensure};
use writebench_model::{
    Case, Durability, Experience, Goal, Objective, RunRecord, SelectedCase, Settings, TargetRecord,
};
use writebench_runner::{AdaptiveSize, Contest, Contests, EachCase, SizedSchedule};
use writebench_stats::{as_f64, distinct, grouped};

use super::scheduled::ScheduledCases;
use super::target::Target;
use crate::exit::usage;
use crate::{constraints, selection};

/// The least size that a budget chooses. In smaller files, opening takes longer than writing, and another method is the
/// fastest.
const LEAST_BYTES: u64 = 16 << 20;
const USUAL_BYTES: u64 = 64 << 20;
/// The size of the files in the pilot, which measures the rate. Cases are known by their sizes, so it differs from all
/// others.
const PILOT_BYTES: u64 = LEAST_BYTES - (1 << 20);
/// The time that a goal needs on a usual disk with files of the usual size.
const USUAL_TIME_OF_GOAL: Duration = Duration::from_secs(8);
/// The samples of a goal that the limit on bytes must pay for. On ext4 with a limit of 16 GiB, contests with files of 64 MiB
/// ended after half of the time, and their bounds were 30 to 72 %; with 16 MiB they were below 5 %.
const SAMPLES_OF_USUAL_SIZE: u64 = 2 * Goal::LEAST_SAMPLES;
/// The samples of plain write and three others. A size that does not pay for so many is too large. The rule is generous,
/// because a busy machine shall not have another size.
const FEWEST_OF_GOAL: u64 = 24;
/// The files of a sample, its source, and space that is freed with a delay.
const FILES_OF_SAMPLE: u64 = 4;

impl ScheduledCases {
    /// `largest` is the size of the rows, if the budget may choose a smaller one. `unasked` limits the bytes of a run
    /// without --max-bytes.
    pub(crate) fn for_run(
        rows: &[SelectedCase],
        largest: Option<u64>,
        run: &mut RunRecord,
        cases: &[Case],
        unasked: Option<u64>,
    ) -> Result<Self> {
        let Some(largest) = largest else {
            return Ok(Self::in_rounds(cases.to_vec(), run));
        };
        run.cases.clear();
        let targets = &run.targets;
        let settings = &Settings {
            max_bytes: run.settings.max_bytes.or(unasked),
            ..run.settings.clone()
        };
        // The pilot's samples are no results, so its cases have no rows.
        let pilot_rows = with_size(rows, largest, PILOT_BYTES).unwrap_or_default();
        let mut all = Vec::new();
        let pilot: Vec<usize> = add_cases(&pilot_rows, targets.len(), &mut all).collect();
        let mut deferred = Vec::new();
        let mut of_sizes = Vec::new();
        for size in sizes(largest) {
            let Some(rows) = with_size(rows, largest, size) else {
                continue;
            };
            deferred.push(selection::records(&rows, targets));
            let positions = add_cases(&rows, targets.len(), &mut all);
            let samples = positions.len() as u64 * u64::from(settings.samples);
            of_sizes.push(SizedSchedule {
                samples,
                bytes: samples.saturating_mul(size),
                growth: vec![as_f64(size) / as_f64(PILOT_BYTES); pilot.len()],
                schedule: Box::new(EachCase::for_settings(settings).among(positions)),
            });
        }
        ensure!(
            !of_sizes.is_empty(),
            usage!("no file size fits these cases. Give one with --size")
        );
        Ok(Self {
            cases: all,
            deferred,
            schedule: Box::new(AdaptiveSize::new(pilot, of_sizes, settings)),
            is_timed: true,
        })
    }

    /// A contest for each goal on each target, while there is time.
    /// `sizes` descend, and a pilot chooses one of several. `cases` are those of the first.
    pub(crate) fn for_goals(
        sizes: &[GoalsOfSize],
        settings: &Settings,
        run: &mut RunRecord,
        cases: &[Case],
    ) -> Self {
        // Fewer samples cannot answer.
        if settings.samples < selection::SAMPLES {
            return Self {
                cases: cases.to_vec(),
                deferred: Vec::new(),
                schedule: Box::new(EachCase::for_settings(settings)),
                is_timed: false,
            };
        }
        let targets = &run.targets;
        let mut all = cases.to_vec();
        let pilot_cases = pilot_of_goals(sizes);
        let mut deferred = Vec::new();
        let mut of_sizes = Vec::new();
        for size in sizes {
            add_new(&mut all, different_cases(&size.rows));
            deferred.push(selection::records(&size.rows, targets));
            of_sizes.push(size.scheduled(&pilot_cases, settings, targets, &all));
        }
        if sizes.len() > 1 {
            // The rows of the chosen size are recorded before its first sample.
            run.cases.clear();
        } else {
            deferred.clear();
        }
        // The cases of a pilot have no rows, because their samples are no results.
        let first = all.len() * targets.len();
        all.extend(pilot_cases);
        let pilot = (first..all.len() * targets.len()).collect();
        Self {
            cases: all,
            deferred,
            schedule: Box::new(AdaptiveSize::new(pilot, of_sizes, settings)),
            is_timed: true,
        }
    }
}

/// The cases of goals with files of one size.
pub(crate) struct GoalsOfSize {
    /// Plain write is the first of each goal.
    pub rows: Vec<SelectedCase>,
    /// Further cases, which join a contest if they are promising.
    pub candidates: Vec<SelectedCase>,
}

impl GoalsOfSize {
    /// The same goals with the least files, if these have the usual size.
    pub(crate) fn with_least_size(&self) -> Option<Self> {
        let largest = self
            .rows
            .iter()
            .map(|row| row.case.given().size_bytes)
            .max();
        if largest != Some(USUAL_BYTES) {
            return None;
        }
        let mut rows = with_size(&self.rows, USUAL_BYTES, LEAST_BYTES)?;
        let mut candidates = resized_candidates(&self.candidates, USUAL_BYTES, LEAST_BYTES);
        keep_different_work(&mut rows, &mut candidates);
        let smaller = Self { rows, candidates };
        // A goal of a fixed record may not exist with other files.
        (count_goals(&smaller.rows) == count_goals(&self.rows)).then_some(smaller)
    }

    fn scheduled(
        &self,
        pilot: &[Case],
        settings: &Settings,
        targets: &[TargetRecord],
        cases: &[Case],
    ) -> SizedSchedule {
        let plain = plain_of_goals(&self.rows);
        let bytes = plain.iter().map(|case| case.bytes_written());
        let all_bytes = bytes.clone().fold(0, u64::saturating_add);
        let growth = bytes.zip(pilot).flat_map(|(bytes, pilot)| {
            let growth = as_f64(bytes) / as_f64(pilot.bytes_written().max(1));
            // One case for each target.
            std::iter::repeat_n(growth, targets.len())
        });
        let least = FEWEST_OF_GOAL * targets.len() as u64;
        let goals = contests(&self.rows, &self.candidates, settings, targets, cases);
        SizedSchedule {
            samples: least * plain.len() as u64,
            bytes: least.saturating_mul(all_bytes),
            growth: growth.collect(),
            schedule: Box::new(Contests::new(goals, settings)),
        }
    }
}

/// Plain write of each goal.
pub(super) fn plain_of_goals(rows: &[SelectedCase]) -> Vec<Case> {
    let goals = goals(rows);
    goals.iter().map(|(_, rows)| rows[0].case.clone()).collect()
}

/// Plain write of each goal with small files. Empty if there is no choice.
fn pilot_of_goals(sizes: &[GoalsOfSize]) -> Vec<Case> {
    let [largest, _, ..] = sizes else {
        return Vec::new();
    };
    let rows = with_size(&largest.rows, USUAL_BYTES, PILOT_BYTES).unwrap_or_default();
    plain_of_goals(&rows)
}

fn add_new(all: &mut Vec<Case>, cases: Vec<Case>) {
    for case in cases {
        if !all.contains(&case) {
            all.push(case);
        }
    }
}

pub(crate) fn count_goals(rows: &[SelectedCase]) -> usize {
    goals(rows).len()
}

/// The size of goals' files. Where it is the usual one, a pilot may still show that the disk is too slow.
pub(crate) fn size_of_goals(
    rows: &[SelectedCase],
    targets: usize,
    budget: Duration,
    max_bytes: u64,
    free: Option<u64>,
) -> u64 {
    let goals = goals(rows);
    let count = u32::try_from(goals.len() * targets).unwrap_or(u32::MAX);
    // The rows have at most the usual size. Those of records and small files are smaller.
    let of_each = goals.iter().map(|(_, rows)| rows[0].case.bytes_written());
    let round_bytes = of_each.fold(0, u64::saturating_add);
    let bytes = round_bytes.saturating_mul(SAMPLES_OF_USUAL_SIZE * targets as u64);
    let has_space = free.is_none_or(|free| free >= FILES_OF_SAMPLE * USUAL_BYTES);
    let has_time = USUAL_TIME_OF_GOAL.saturating_mul(count) <= budget;
    if has_space && has_time && bytes <= max_bytes {
        USUAL_BYTES
    } else {
        LEAST_BYTES
    }
}

/// The rows with another size of the largest files. Goals lose the rows that are invalid then.
pub(crate) fn resized(rows: &[SelectedCase], largest: u64, size: u64) -> Result<Vec<SelectedCase>> {
    let rows = with_size(rows, largest, size).unwrap_or_default();
    ensure!(
        !rows.is_empty(),
        usage!("no file size fits these cases. Give one with --size")
    );
    Ok(rows)
}

/// The candidates with another size of the largest files, as far as they are valid then.
pub(crate) fn resized_candidates(
    candidates: &[SelectedCase],
    largest: u64,
    size: u64,
) -> Vec<SelectedCase> {
    with_size(candidates, largest, size).unwrap_or_default()
}

/// Keeps one row of a goal for the same calls, under its shortest name. A smaller file has fewer different cases: a
/// chunk as large as the file is one call, whatever the chunk. Candidates that have a row are left out.
pub(crate) fn keep_different_work(
    rows: &mut Vec<SelectedCase>,
    candidates: &mut Vec<SelectedCase>,
) {
    let mut known = HashSet::new();
    for list in [rows, candidates] {
        for row in list.iter_mut() {
            row.case = row.case.canonical();
        }
        list.retain(|row| known.insert((row.origin.section().to_owned(), row.case.clone())));
    }
}

/// Leaves out what does not fit into a target's memory, space or sectors: single methods, and with plain write the whole
/// goal. Returns the reasons.
///
/// # Errors
/// Nothing fits, or the user gave the size and plain write of a goal does not fit.
pub(crate) fn leave_out_unfit(
    rows: &mut Vec<SelectedCase>,
    targets: &[Target],
    is_given: bool,
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let mut kept = Vec::new();
    let mut first_error = None;
    for ((goal, _), rows) in goals(rows) {
        let mut fitting = Vec::new();
        let mut errors = Vec::new();
        for row in &rows {
            let case = std::slice::from_ref(&row.case);
            match targets
                .iter()
                .try_for_each(|target| target.check(case, None, targets))
            {
                Ok(()) => fitting.push((*row).clone()),
                Err(error) => errors.push((row.case.clone(), error)),
            }
        }
        let count = errors.len();
        let Some((case, error)) = errors.into_iter().next() else {
            kept.extend(fitting);
            continue;
        };
        if rows.first().is_some_and(|plain| plain.case == case) {
            if is_given {
                return Err(error);
            }
            notes.push(format!("Left out the goal '{goal}': {error}"));
        } else {
            kept.extend(fitting);
            let methods = writebench_report::counted(count, "method");
            notes.push(format!("Left out {methods} of the goal '{goal}': {error}"));
        }
        first_error = first_error.or(Some(error));
    }
    if let Some(error) = first_error.filter(|_| kept.is_empty()) {
        return Err(error);
    }
    *rows = kept;
    Ok(notes)
}

pub(crate) fn smallest_cases(rows: &[SelectedCase], largest: u64) -> Vec<Case> {
    let rows = sizes(largest)
        .into_iter()
        .rev()
        .find_map(|size| with_size(rows, largest, size));
    different_cases(&rows.unwrap_or_default())
}

/// Adds the cases of these rows to those of the plan, which has each case once per target. Returns their positions.
fn add_cases(rows: &[SelectedCase], targets: usize, all: &mut Vec<Case>) -> Range<usize> {
    let first = all.len() * targets;
    all.extend(different_cases(rows));
    first..all.len() * targets
}

/// The sizes that the budget may choose, the largest first.
fn sizes(largest: u64) -> Vec<u64> {
    let smaller = [USUAL_BYTES, LEAST_BYTES]
        .into_iter()
        .filter(|&size| size < largest);
    std::iter::once(largest).chain(smaller).collect()
}

/// Scales all rows from `largest` to `size`. Goals lose the rows that are invalid then. None if another row is invalid.
fn with_size(rows: &[SelectedCase], largest: u64, size: u64) -> Option<Vec<SelectedCase>> {
    let sized = |row: &SelectedCase| {
        let given_bytes = row.case.given().size_bytes;
        let unit = row.case.unit_bytes();
        let own = selection::scaled(given_bytes, size, largest);
        // Whole records and files remain.
        let unit = if given_bytes < largest {
            unit.unwrap_or(selection::USUAL_BLOCK_BYTES).max(1)
        } else {
            1
        };
        let own = own / unit * unit;
        let case = row.case.with_size(own).ok().filter(|_| own > 0)?;
        Some(SelectedCase {
            case,
            ..row.clone()
        })
    };
    let is_needed = |row: &&SelectedCase| !row.origin.is_of_goal() || sized(row).is_some();
    rows.iter().filter(is_needed).map(sized).collect()
}

fn different_cases(rows: &[SelectedCase]) -> Vec<Case> {
    distinct(rows.iter().map(|row| row.case.clone()), Clone::clone)
}

/// The rows of each goal, plain write first. Files without checksums on btrfs are a goal of their own.
fn goals(rows: &[SelectedCase]) -> Vec<((String, writebench_model::Workload), Vec<&SelectedCase>)> {
    grouped(rows, |row| {
        (row.origin.section().to_owned(), row.case.workload())
    })
}

/// A contest for each goal on each target, in the order of the rows. A case is in the plan once for each target.
fn contests(
    rows: &[SelectedCase],
    candidates: &[SelectedCase],
    settings: &Settings,
    targets: &[TargetRecord],
    cases: &[Case],
) -> Vec<Vec<Contest>> {
    let candidates: HashMap<_, Vec<&SelectedCase>> = goals(candidates).into_iter().collect();
    goals(rows)
        .iter()
        .map(|(goal, rows)| {
            let candidates = candidates.get(goal).map_or(&[][..], Vec::as_slice);
            contests_of_goal(rows, candidates, settings, targets, cases)
        })
        .collect()
}

fn contests_of_goal(
    rows: &[&SelectedCase],
    candidates: &[&SelectedCase],
    settings: &Settings,
    targets: &[TargetRecord],
    cases: &[Case],
) -> Vec<Contest> {
    let experience = experience(&rows[0].case, settings.objective);
    let mut contests = Vec::new();
    for (number, target) in targets_of_goal(&rows[0].case, targets) {
        let mut methods = Vec::new();
        for row in rows {
            if let Some(place) = cases.iter().position(|case| *case == row.case) {
                methods.push((place * targets.len() + number, row.case.clone()));
            }
        }
        let rule = constraints::rule(&settings.constraints, target);
        let plain = &rows[0].case;
        let fits = |case: &&Case| {
            rule.allows(case, plain) && constraints::why_unfit(case, target).is_none()
        };
        let others = candidates
            .iter()
            .map(|row| &row.case)
            .filter(fits)
            .cloned()
            .collect();
        contests.push(Contest::new(number, methods, rule).searching(others, &experience));
    }
    contests
}

/// The targets with a contest, and their numbers. A durable goal has none where nothing is durable, unless that is
/// everywhere.
fn targets_of_goal<'t>(
    plain: &Case,
    targets: &'t [TargetRecord],
) -> impl Iterator<Item = (usize, &'t TargetRecord)> {
    let keeps_data = |target: &TargetRecord| target.loses_data().is_none();
    let needs_durability = plain.workload().durability == Durability::Durable;
    let leaves_out = needs_durability && targets.iter().any(keeps_data);
    let numbered = targets.iter().enumerate();
    numbered.filter(move |(_, target)| !leaves_out || keeps_data(target))
}

/// The experience with the goal of this plain write. Only times were measured, so other quantities have none.
pub(crate) fn experience(plain: &Case, objective: Objective) -> Experience {
    Goal::of_workload(&plain.workload())
        .filter(|_| objective == Objective::Time)
        .map(Experience::of_goal)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Axis, CaseOrigin, Layout};

    fn rows(goals: usize) -> Vec<SelectedCase> {
        let row = |goal: usize| SelectedCase {
            origin: CaseOrigin::of_suite(
                CaseOrigin::GOALS,
                &format!("goal {goal}"),
                Layout::Ranked,
            ),
            label: None,
            case: Case::parse("write,size=64MiB").unwrap(),
        };
        (0..goals).map(row).collect()
    }

    #[test]
    fn a_durable_goal_has_no_contest_in_memory_beside_a_disk() {
        let mut targets = ["/data", "/dev/shm"].map(writebench_testkit::example_target);
        targets[1].environment.filesystem.kind = "tmpfs".to_owned();
        let numbers = |name: &str, targets: &[TargetRecord]| -> Vec<usize> {
            let plain = Case::parse(name).unwrap();
            targets_of_goal(&plain, targets)
                .map(|(number, _)| number)
                .collect()
        };
        assert_eq!(numbers("write", &targets), [0, 1]);
        assert_eq!(numbers("write,sync=fsync", &targets), [0]);
        assert_eq!(numbers("write,sync=fsync", &targets[1..]), [0]);
    }

    #[test]
    fn the_size_follows_from_the_time_for_each_goal() {
        let size_within = |goals, seconds, max_bytes, free| {
            size_of_goals(
                &rows(goals),
                1,
                Duration::from_secs(seconds),
                max_bytes,
                free,
            ) >> 20
        };
        let size = |goals, seconds, free| size_within(goals, seconds, u64::MAX, free);
        assert_eq!(size(11, 45, None), 16);
        assert_eq!(size(11, 120, None), 64);
        assert_eq!(size(5, 45, None), 64);
        assert_eq!(size(1, 1, None), 16, "never less");
        assert_eq!(
            size(5, 45, Some(200 << 20)),
            16,
            "four files of 64 MiB do not fit"
        );
        assert_eq!(size_within(5, 45, 29 << 30, None), 64);
        assert_eq!(
            size_within(5, 45, 28 << 30, None),
            16,
            "the bytes do not pay for 90 samples of each"
        );
    }

    #[test]
    fn a_goal_has_one_case_for_the_same_calls() {
        let mut rows = rows(2);
        let chunked = rows[0].case.with(Axis::Chunk, "64MiB").unwrap();
        rows[0].case = rows[0].case.with(Axis::Chunk, "whole").unwrap();
        rows.insert(
            1,
            SelectedCase {
                case: chunked,
                ..rows[0].clone()
            },
        );
        keep_different_work(&mut rows, &mut Vec::new());
        let names: Vec<String> = rows.iter().map(|row| row.case.to_string()).collect();
        assert_eq!(names, ["write,size=64MiB,chunk=whole", "write,size=64MiB"]);
    }

    #[test]
    fn a_budget_chooses_among_few_sizes_of_at_least_16_mib() {
        let mebibytes = |largest: u64| {
            sizes(largest << 20)
                .iter()
                .map(|size| size >> 20)
                .collect::<Vec<_>>()
        };
        assert_eq!(mebibytes(256), [256, 64, 16]);
        assert_eq!(mebibytes(64), [64, 16]);
        assert_eq!(mebibytes(20), [20, 16]);
        assert_eq!(mebibytes(4), [4]);
    }
}
