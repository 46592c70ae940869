//! The candidates of a search on one target.

use std::collections::HashSet;

use writebench_model::{
    Bytes, Cache, Case, CaseOrigin, CaseRecord, Content, Experience, SelectedCase, Space, Stage,
    TargetRecord,
};
use writebench_runner::{Contest, Rule};

use crate::constraints::why_unfit;
use crate::earlier_search::name_without_size;
use crate::selection;

/// The candidates with files of one size.
pub(super) struct CandidateSet {
    /// Plain write is the first.
    pub(super) cases: Vec<Case>,
    /// Whether a case is measured first: plain write, the portfolio, and the finalists of an earlier search.
    is_first: Vec<bool>,
    /// The cases that the target cannot have, with the reasons.
    pub(super) left_out: Vec<String>,
}

impl CandidateSet {
    /// Leaves out the cases that are not durable there, or need more memory or smaller sectors. `unchecked` has the
    /// bytes that show whether O_DIRECT bypasses the page cache, if the limit does not pay for that.
    pub(super) fn for_target(space: &Space, target: &TargetRecord, unchecked: Option<u64>) -> Self {
        let mut set = Self {
            cases: Vec::new(),
            is_first: Vec::new(),
            left_out: Vec::new(),
        };
        let others = space.cases().filter(|case| **case != space.baseline);
        for case in std::iter::once(&space.baseline).chain(others) {
            if let Some(why) = why_unchecked(case, unchecked).or_else(|| why_unfit(case, target)) {
                set.left_out.push(why);
                continue;
            }
            set.is_first
                .push(*case == space.baseline || space.portfolio.contains(case));
            set.cases.push(case.clone());
        }
        set
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.cases
            .iter()
            .map(|case| case.given().size_bytes)
            .max()
            .unwrap_or(0)
    }

    /// The most bytes of a sample, in multiples of its file's size, with zeros written before.
    pub(super) fn times_written(&self) -> u64 {
        self.cases
            .iter()
            .map(|case| {
                let size_bytes = case.given().size_bytes.max(1);
                case.bytes_written().div_ceil(size_bytes)
            })
            .max()
            .unwrap_or(0)
    }

    /// Takes names without a size. Returns the number of marked candidates.
    pub(super) fn mark_finalists(&mut self, names: &HashSet<String>) -> usize {
        let mut marked = 0;
        for (case, is_first) in self.cases.iter().zip(&mut self.is_first) {
            if names.contains(&name_without_size(case)) {
                *is_first = true;
                marked += 1;
            }
        }
        marked
    }

    /// The contest of the cases that move bytes, and that of copies with shared blocks, if there are any. A contest plans
    /// at most `most_first` of its cases, and the others join when they are measured. `from` is the position in the plan
    /// of the first case.
    pub(super) fn contests(
        &self,
        from: usize,
        most_first: usize,
        rule: &Rule,
        experience: &Experience,
    ) -> PlannedContests {
        let mut planned = PlannedContests::default();
        for shares_blocks in [false, true] {
            let mut first = Vec::new();
            let mut others = Vec::new();
            for (case, is_first) in self.cases.iter().zip(&self.is_first) {
                if is_shared_copy(case) != shares_blocks {
                    continue;
                }
                if first.len() < most_first && (*is_first || shares_blocks) {
                    first.push((from + planned.cases.len(), case.clone()));
                    planned.cases.push(case.clone());
                } else {
                    others.push(case.clone());
                }
            }
            if !first.is_empty() {
                planned
                    .contests
                    .push(Contest::new(0, first, rule.clone()).searching(others, experience));
            }
        }
        planned
    }
}

/// The contests of a set, with the cases that are in the plan at first.
#[derive(Default)]
pub(super) struct PlannedContests {
    pub(super) contests: Vec<Contest>,
    pub(super) cases: Vec<Case>,
}

/// The row of a case that is in the plan at first.
pub(super) fn row(case: &Case, is_baseline: bool, target: &TargetRecord) -> CaseRecord {
    let name = name_without_size(case);
    let label = if is_baseline {
        format!("baseline: {name}")
    } else {
        name
    };
    let row = SelectedCase {
        origin: CaseOrigin::of_search(Stage::Final, is_baseline),
        label: Some(label),
        case: case.clone(),
    };
    selection::record(&row, &target.name)
}

fn is_shared_copy(case: &Case) -> bool {
    case.workload().content == Content::SharedCopy
}

fn why_unchecked(case: &Case, unchecked: Option<u64>) -> Option<String> {
    let check = Bytes(unchecked.filter(|_| case.choices().cache == Cache::Direct)?).approximate();
    Some(format!(
        "{case}: --max-bytes leaves no room for the {check} that show whether O_DIRECT bypasses the page cache"
    ))
}
