//! A search for one goal on one target: its candidates, its limits and its schedule.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Result, ensure};
use writebench_model::protocol::total_direct_check_bytes;
use writebench_model::{Bytes, Case, RunRecord, Settings, Space, TargetRecord};
use writebench_report::counted;
use writebench_runner::{AdaptiveSize, Contests, Schedule, SizedSchedule};
use writebench_stats::as_f64;

use super::candidate_set::{CandidateSet, row};
use crate::constraints::rule;
use crate::exit::usage;
use crate::session::{ScheduledCases, experience};

/// The samples of a search with enough time. They decide its default limit on bytes.
const SAMPLES: u64 = 800;
/// The lowest default of --max-bytes. Small files hardly wear a disk, and more rounds narrow the interval.
const LEAST_MOST_BYTES: u64 = 4 << 30;
/// The rounds of an answer.
const ROUNDS: u64 = writebench_stats::FEWEST_FOR_INTERVAL as u64;
/// The methods of the shortest contest, beside plain write.
const FEWEST_METHODS: u64 = 2;
/// An answer for the larger files needs so many samples in time. Otherwise the search has smaller ones.
const FEWEST_SAMPLES: u64 = 45;
/// The files of the pilot are so much smaller than the smallest ones of the search, because a case is known by its size.
const PILOT_LESS_BYTES: u64 = 1 << 20;

/// The fewest cases that are measured first, and plain write is one of them.
const FEWEST_FIRST: u64 = 3;

/// The candidates of a search, and its limits.
pub(super) struct SearchPlan {
    title: String,
    baseline: Case,
    /// The candidates with the largest files first. Smaller files are for a slow disk.
    sizes: Vec<CandidateSet>,
    pub(super) budget: Duration,
    pub(super) max_bytes: u64,
}

impl SearchPlan {
    /// The spaces are of the same goal, with the largest files first.
    pub(super) fn for_target(
        spaces: &[Space],
        target: &TargetRecord,
        budget: Duration,
        max_bytes: Option<Bytes>,
    ) -> Self {
        let direct_check_bytes = spaces
            .iter()
            .map(|space| total_direct_check_bytes(space.cases()))
            .max()
            .unwrap_or(0);
        // At least half of a limit is left to the samples.
        let is_paid = max_bytes.is_none_or(|most| direct_check_bytes <= most.0 / 2);
        let unchecked = (!is_paid).then_some(direct_check_bytes);
        let of_size = |space| CandidateSet::for_target(space, target, unchecked);
        Self {
            title: spaces[0].title.clone(),
            baseline: spaces[0].baseline.clone(),
            sizes: spaces.iter().map(of_size).collect(),
            budget,
            max_bytes: max_bytes.map_or(0, |most| most.0),
        }
    }

    /// The candidates with the largest files.
    pub(super) fn candidates(&self) -> &CandidateSet {
        &self.sizes[0]
    }

    /// The sentence about the candidates that the target cannot have.
    pub(super) fn left_out(&self) -> Option<String> {
        let left_out = &self.candidates().left_out;
        let first = left_out.first()?;
        Some(format!(
            "Left out {}: {first}",
            counted(left_out.len(), "candidate")
        ))
    }

    pub(super) fn has_only_plain(&self) -> bool {
        self.candidates().cases.len() == 1
    }

    /// Takes names without a size. Returns the number of candidates that are measured first.
    pub(super) fn mark_finalists(&mut self, names: &HashSet<String>) -> usize {
        let marked = self.sizes.iter_mut().map(|set| set.mark_finalists(names));
        marked.max().unwrap_or(0)
    }

    /// Decides how many bytes the search may write, and checks that they and the time are enough. `unasked` is its most
    /// bytes without --max-bytes.
    pub(super) fn limit(&mut self, max_bytes: Option<Bytes>, unasked: u64) -> Result<()> {
        // Agents write these bytes to find out whether direct I/O bypasses the page cache.
        let direct_check_bytes = total_direct_check_bytes(&self.cases());
        let of_samples = self
            .baseline
            .bytes_written()
            .saturating_mul(SAMPLES)
            .max(LEAST_MOST_BYTES);
        let default = of_samples.saturating_add(direct_check_bytes).min(unasked);
        self.max_bytes = max_bytes.map_or(default, |most| most.0);
        let smallest = self.sizes.last().unwrap_or(self.candidates());
        let least = least_bytes(smallest).saturating_add(direct_check_bytes);
        let size = Bytes(smallest.size_bytes()).approximate();
        ensure!(
            self.max_bytes >= least || max_bytes.is_some(),
            usage!(
                "six rounds of three methods with files of {size} write {}, and without consent a search writes {} at \
                 most. Use a smaller --size, or --yes",
                Bytes(least).approximate(),
                Bytes(self.max_bytes).approximate()
            )
        );
        ensure!(
            self.max_bytes >= least,
            usage!(
                "--max-bytes must be at least {}, for six rounds of three methods at {size}. Fewer rounds give no interval",
                Bytes(least)
            )
        );
        Ok(())
    }

    /// Whether the budget pays for six rounds of three methods on the fastest disk.
    pub(super) fn check_budget(&self) -> Result<()> {
        /// Faster than any disk.
        const MOST_BYTES_PER_S: u64 = 10_000_000_000;
        const USUAL_BYTES_PER_S: u64 = 1_000_000_000;
        let budget = self.budget;
        let least = least_bytes(self.candidates());
        let size = Bytes(self.candidates().size_bytes()).approximate();
        let minutes = least.div_ceil(USUAL_BYTES_PER_S).div_ceil(60);
        let needed = Bytes(least).approximate();
        ensure!(
            u128::from(least) * 1_000_000_000 <= budget.as_nanos() * u128::from(MOST_BYTES_PER_S),
            usage!(
                "six rounds of three methods with files of {size} write {needed}, more than any disk takes in {budget:?}. \
                 --budget {minutes}m is enough at 1 GB/s. For smaller files, give the search less memory: systemd-run \
                 --scope -p MemoryMax=1G writebench advise …"
            )
        );
        Ok(())
    }

    fn cases(&self) -> Vec<Case> {
        self.sizes
            .iter()
            .flat_map(|set| &set.cases)
            .cloned()
            .collect()
    }

    /// `files of 64 MiB, or of 16 MiB on a slow disk`. A set of files has a size in total.
    fn files(&self) -> String {
        let mut sizes = self
            .sizes
            .iter()
            .map(|set| Bytes(set.size_bytes()).approximate());
        let largest = sizes.next().unwrap_or_default();
        match sizes.next() {
            None if self.baseline.workload().files > 1 => format!("{largest} of files"),
            None => format!("files of {largest}"),
            Some(smaller) => format!("files of {largest}, or of {smaller} on a slow disk"),
        }
    }

    pub(super) fn dry_run(&self) -> String {
        let cases: String = self
            .candidates()
            .cases
            .iter()
            .map(|case| format!("{case}\n"))
            .collect();
        format!(
            "{cases}{}, {}, at most {} in {:?}.{} Nothing was written.\n",
            self.count(),
            self.files(),
            Bytes(self.max_bytes).approximate(),
            self.budget,
            self.low_limit()
                .map_or(String::new(), |sentence| format!(" {sentence}")),
        )
    }

    /// `Stream to a new file: 93 candidates in /data, … The search takes 60s and writes 12 GiB at most.`
    pub(super) fn announcement(&self, target: &TargetRecord) -> String {
        format!(
            "{}: {} in {}, {}. The search takes {:?} and writes {} at most.",
            self.title,
            self.count(),
            target.path,
            self.files(),
            self.budget,
            Bytes(self.max_bytes).approximate(),
        )
    }

    /// `The limit of 64 GiB pays for 16 samples …`. None if it pays for an answer with files of some size.
    pub(super) fn low_limit(&self) -> Option<String> {
        let smallest = self.sizes.last()?;
        let size = Bytes(smallest.size_bytes()).approximate();
        let bytes = smallest.cases.first()?.bytes_written().max(1);
        let needed = bytes.saturating_mul(FEWEST_SAMPLES);
        (self.max_bytes < needed).then(|| {
            format!(
                "The limit of {} pays for {} samples with files of {size}, which may be too few for an answer. Use \
                 --max-bytes {}, or a smaller --size.",
                Bytes(self.max_bytes).approximate(),
                self.max_bytes / bytes,
                Bytes(needed.next_multiple_of(1 << 20))
            )
        })
    }

    /// How many cases the limit on bytes pays for, in the rounds of an answer.
    fn most_first(&self, set: &CandidateSet) -> usize {
        let samples = self.max_bytes / set.size_bytes().max(1);
        usize::try_from((samples / ROUNDS).max(FEWEST_FIRST)).unwrap_or(usize::MAX)
    }

    fn count(&self) -> String {
        counted(self.candidates().cases.len(), "candidate")
    }

    /// A contest with files of each size, of which the first samples choose one.
    pub(super) fn scheduled(&self, run: &RunRecord) -> ScheduledCases {
        let target = &run.targets[0];
        let rule = rule(&run.settings.constraints, target);
        let experience = experience(&self.baseline, run.settings.objective);
        let smallest = self.sizes.last().map_or(0, CandidateSet::size_bytes);
        let pilot_bytes = smallest.saturating_sub(PILOT_LESS_BYTES);
        let mut cases = Vec::new();
        let mut deferred = Vec::new();
        let mut sizes = Vec::new();
        for set in &self.sizes {
            let planned = set.contests(cases.len(), self.most_first(set), &rule, &experience);
            sizes.push(SizedSchedule {
                samples: FEWEST_SAMPLES,
                bytes: FEWEST_SAMPLES.saturating_mul(set.size_bytes()),
                growth: vec![as_f64(set.size_bytes()) / as_f64(pilot_bytes.max(1))],
                schedule: Box::new(Contests::search(planned.contests, &run.settings)),
            });
            let rows = planned.cases.iter().enumerate();
            deferred.push(
                rows.map(|(place, case)| row(case, place == 0, target))
                    .collect(),
            );
            cases.extend(planned.cases);
        }
        ScheduledCases {
            schedule: self.choosing_size(pilot_bytes, sizes, &mut cases, &run.settings),
            cases,
            deferred,
            is_timed: true,
        }
    }

    /// The schedule of the only size, or one that begins with samples of small files, which count in no value.
    fn choosing_size(
        &self,
        pilot_bytes: u64,
        mut sizes: Vec<SizedSchedule>,
        cases: &mut Vec<Case>,
        settings: &Settings,
    ) -> Box<dyn Schedule> {
        let small = self.baseline.with_size(pilot_bytes).ok();
        let Some(small) = small.filter(|_| sizes.len() > 1) else {
            return sizes.swap_remove(0).schedule;
        };
        let pilot = vec![cases.len()];
        cases.push(small);
        Box::new(AdaptiveSize::new(pilot, sizes, settings))
    }
}

/// Six rounds of plain write and two other methods.
fn least_bytes(set: &CandidateSet) -> u64 {
    let files = FEWEST_METHODS
        .saturating_mul(set.times_written())
        .saturating_add(1);
    set.size_bytes()
        .saturating_mul(ROUNDS)
        .saturating_mul(files)
}
