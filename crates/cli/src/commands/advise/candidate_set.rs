//! The candidates of a search on one target.

use std::collections::HashSet;

use anyhow::Result;
use writebench_model::protocol::total_direct_check_bytes;
use writebench_model::{
    Bytes, Cache, Case, CaseOrigin, CaseRecord, Goal, SelectedCase, Space, Stage, TargetRecord,
};
use writebench_report::counted;
use writebench_runner::{Candidate, RaceLimits, coordinates};

use super::affordable_size;
use super::file_sizes::file_sizes;
use crate::earlier_search::name_without_size;
use crate::exit::usage;
use crate::selection;

/// The screening writes at most this many times the file's size.
const SCREENING_SIZES: u64 = 160;
/// The lowest default of --max-bytes. Small files hardly wear a disk, and more rounds narrow the interval.
const LEAST_MOST_BYTES: u64 = 4 << 30;

#[derive(Default)]
pub(super) struct CandidateSet {
    pub(super) cases: Vec<Case>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) baseline: usize,
    pub(super) limits: RaceLimits,
    // A row for each case.
    pub(super) deferred: Vec<Vec<CaseRecord>>,
    // The cases that the target cannot have, with the reasons.
    pub(super) left_out: Vec<String>,
}

/// Why the target cannot have this case, whose baseline was checked before.
fn why_unfit(case: &Case, target: &TargetRecord) -> Option<String> {
    if let Some(why) = target.why_not_durable(case) {
        return Some(format!("{case}: not durable here: {why}"));
    }
    let cases = std::slice::from_ref(case);
    let environment = &target.environment;
    writebench_runner::check_sectors(environment, cases)
        .and_then(|()| writebench_runner::check_memory(environment, cases, 0))
        .err()
        .map(|error| error.to_string())
}

impl CandidateSet {
    /// Leaves out cases that are not durable there, or need more memory, or smaller sectors, and direct I/O if the limit does not pay for its check.
    pub(super) fn for_target(
        goal: Goal,
        space: &Space,
        target: &TargetRecord,
        max_bytes: Option<Bytes>,
    ) -> Self {
        let direct_check_bytes = total_direct_check_bytes(space.cases());
        let checks_direct = max_bytes.is_none_or(|most| direct_check_bytes <= most.0 / 2);
        let (screening_bytes, final_bytes) = file_sizes(goal, space);
        let mut set = Self::default();
        let mut kept = Vec::new();
        for case in space.cases() {
            let unchecked = (case.choices().cache == Cache::Direct && !checks_direct).then(|| {
                let check = Bytes(direct_check_bytes).approximate();
                format!("{case}: --max-bytes leaves no room for the {check} that show whether O_DIRECT bypasses the page cache")
            });
            if let Some(why) = unchecked.or_else(|| why_unfit(case, target)) {
                set.left_out.push(why);
                continue;
            }
            set.add_candidate(case, space, target, &screening_bytes, &final_bytes);
            kept.push(case);
        }
        for (candidate, values) in set.candidates.iter_mut().zip(coordinates(&kept)) {
            candidate.values = values;
        }
        let times_written = kept.iter().map(|case| {
            let size_bytes = case.given().size_bytes.max(1);
            case.bytes_written().div_ceil(size_bytes)
        });
        set.limits = RaceLimits {
            times_written: times_written.max().unwrap_or(0),
            screening_bytes,
            final_bytes,
            ..RaceLimits::default()
        };
        set
    }

    /// Adds a candidate and its cases, with files of all sizes.
    fn add_candidate(
        &mut self,
        case: &Case,
        space: &Space,
        target: &TargetRecord,
        screening_bytes: &[u64],
        final_bytes: &[u64],
    ) {
        let is_baseline = *case == space.baseline;
        let real = self.add(case.clone(), Stage::Final, is_baseline, target);
        let mut with_size = |bytes: u64, stage| {
            // Some cases are invalid at smaller sizes.
            case.with_size(bytes)
                .map_or(real, |case| self.add(case, stage, is_baseline, target))
        };
        let screening = screening_bytes
            .iter()
            .map(|&bytes| with_size(bytes, Stage::Screening))
            .collect();
        let mut finals = vec![real];
        for &bytes in &final_bytes[1..] {
            finals.push(with_size(bytes, Stage::Final));
        }
        if is_baseline {
            self.baseline = self.candidates.len();
        }
        self.candidates.push(Candidate {
            // The portfolio is measured first, like earlier finalists.
            was_finalist: space.portfolio.contains(case),
            values: Vec::new(),
            screening,
            finals,
        });
    }

    /// Takes names without a size. Returns the number of marked candidates.
    pub(super) fn mark_finalists(&mut self, names: &HashSet<String>) -> usize {
        let cases = &self.cases;
        let is_named =
            |one: &&mut Candidate| names.contains(&name_without_size(&cases[one.finals[0]]));
        let mut named: Vec<&mut Candidate> = self.candidates.iter_mut().filter(is_named).collect();
        named
            .iter_mut()
            .for_each(|candidate| candidate.was_finalist = true);
        named.len()
    }

    /// The default of --max-bytes, before the limit of 64 GiB.
    pub(super) fn most_bytes(&self, size_bytes: u64) -> u64 {
        let screening = size_bytes.saturating_mul(SCREENING_SIZES);
        RaceLimits::finals_bytes(size_bytes, self.limits.times_written)
            .saturating_add(screening)
            .max(LEAST_MOST_BYTES)
    }

    /// Whether --max-bytes pays for six rounds of the finals at the smallest size.
    pub(super) fn check_bytes(&self, direct_check_bytes: u64) -> Result<()> {
        let smallest = self.limits.final_bytes.last().copied().unwrap_or_default();
        let least = RaceLimits::least_bytes(smallest, self.limits.times_written)
            .saturating_add(direct_check_bytes);
        if self.limits.max_bytes < least {
            let least = Bytes(least);
            let size = Bytes(smallest).approximate();
            return Err(usage!(
                "--max-bytes must be at least {least}, for six rounds of three methods at {size}. Fewer rounds give no \
                 interval"
            ));
        }
        Ok(())
    }

    /// Whether the budget pays for six rounds of the finals on the fastest disk.
    pub(super) fn check_budget(&self) -> Result<()> {
        /// Faster than any disk.
        const MOST_BYTES_PER_S: u64 = 10_000_000_000;
        const USUAL_BYTES_PER_S: u64 = 1_000_000_000;
        let budget = self.limits.budget;
        let size = self.limits.final_bytes[0];
        let least = RaceLimits::least_bytes(size, self.limits.times_written);
        if u128::from(least) * 1_000_000_000 > budget.as_nanos() * u128::from(MOST_BYTES_PER_S) {
            let minutes = least.div_ceil(USUAL_BYTES_PER_S).div_ceil(60);
            let [least, size] = [least, size].map(|bytes| Bytes(bytes).approximate());
            return Err(usage!(
                "six rounds of three methods with files of {size} write {least}, more than any disk takes in {budget:?}. \
                 --budget {minutes}m is enough at 1 GB/s. For smaller files, give the search less memory: systemd-run \
                 --scope -p MemoryMax=1G writebench advise …"
            ));
        }
        Ok(())
    }

    /// `screening with 4 MiB and 32 MiB, finals with 256 MiB`.
    pub(super) fn levels(&self) -> String {
        let text = |bytes: &u64| Bytes(*bytes).approximate();
        let screening: Vec<String> = self.limits.screening_bytes.iter().map(text).collect();
        let finals = self
            .limits
            .final_bytes
            .first()
            .map(text)
            .unwrap_or_default();
        match screening.as_slice() {
            [] => format!("all with {finals}"),
            sizes => format!(
                "screening with {}, finals with {finals}",
                sizes.join(" and ")
            ),
        }
    }

    pub(super) fn dry_run(&self) -> String {
        let real = self
            .candidates
            .iter()
            .filter_map(|candidate| candidate.finals.first());
        let cases: String = real
            .map(|&case| format!("{}\n", self.cases[case]))
            .collect();
        format!(
            "{cases}{}, {}, at most {} in {:?}.{} Nothing was written.\n",
            counted(self.candidates.len(), "candidate"),
            self.levels(),
            Bytes(self.limits.max_bytes).approximate(),
            self.limits.budget,
            self.affordable_size()
                .map_or(String::new(), |sentence| format!(" {sentence}")),
        )
    }

    pub(super) fn affordable_size(&self) -> Option<String> {
        let baseline = self.candidates[self.baseline]
            .finals
            .iter()
            .map(|&case| &self.cases[case]);
        affordable_size::sentence(&baseline.collect::<Vec<_>>(), &self.limits)
    }

    /// Adds a case and its row. Returns the index.
    pub(super) fn add(
        &mut self,
        case: Case,
        stage: Stage,
        is_baseline: bool,
        target: &TargetRecord,
    ) -> usize {
        let name = name_without_size(&case);
        let label = if is_baseline {
            format!("baseline: {name}")
        } else {
            name
        };
        let origin = CaseOrigin::of_search(stage, is_baseline);
        let row = SelectedCase {
            origin,
            label: Some(label),
            case: case.clone(),
        };
        self.deferred
            .push(vec![selection::record(&row, &target.name)]);
        self.cases.push(case);
        self.cases.len() - 1
    }
}
