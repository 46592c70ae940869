use std::collections::HashSet;

use crate::axis::{Axes, Axis};
use crate::case::{Case, CaseError};
use crate::constraint::Constraint;
use crate::goal::Goal;
use crate::suite::{Overrides, SuiteError};
use crate::sync::SyncCall;
use crate::value::{DataMemory, Source};

/// A goal's baseline, and all other cases with at least its contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    pub title: String,
    /// The contract.
    pub summary: String,
    /// Plain write.
    pub baseline: Case,
    /// A few cases, one of which is close to the best on every environment measured so far.
    pub portfolio: Vec<Case>,
    /// In the order of their file. Each makes other calls than all before.
    pub others: Vec<Case>,
}

/// Cases that make different calls.
struct Different {
    calls: HashSet<Case>,
    cases: Vec<Case>,
}

impl Different {
    fn beside(baseline: &Case) -> Self {
        Self {
            calls: HashSet::from([baseline.canonical()]),
            cases: Vec::new(),
        }
    }

    fn add(&mut self, case: Case) {
        if self.calls.insert(case.canonical()) {
            self.cases.push(case);
        }
    }

    fn of(baseline: &Case, cases: impl IntoIterator<Item = Case>) -> Vec<Case> {
        let mut different = Self::beside(baseline);
        cases.into_iter().for_each(|case| different.add(case));
        different.cases
    }
}

impl Space {
    /// The values of `fixed` replace the space's own, also in the baseline. Left out are contradictory
    /// combinations, contracts weaker than the baseline's, and cases that make the same calls as one before. A value
    /// without effect in a file of this size is not named.
    ///
    /// # Errors
    /// The baseline cannot have these values.
    pub fn for_goal(goal: Goal, fixed: &Overrides) -> Result<Self, SuiteError> {
        let suite = goal.space_as_suite();
        let mut candidates = suite.sections.iter().flat_map(|section| {
            let cases = section
                .prefixes
                .iter()
                .flat_map(|prefix| section.combined(prefix, fixed, 1));
            cases.map(move |case| (section, case))
        });
        let (section, baseline) = candidates.next().expect("a space has a baseline");
        let baseline = baseline.map_err(|error| suite.error(section, error))?;
        let [mut portfolio, mut others] =
            [Different::beside(&baseline), Different::beside(&baseline)];
        // A method without an axis has its default, and another section its own value.
        let is_fixed = |(axis, values): &(Axis, Vec<String>), case: &Case| {
            let is_own =
                |value: &String| Axes::canonical(*axis, value) == Ok(case.axes().get(*axis));
            !baseline.method().has_axis(*axis) || values.iter().any(is_own)
        };
        // A producer has chunks, and fills them in aligned memory if that saves a copy.
        let is_produced = baseline.axes().source == Source::Chunk;
        let is_aligned = fixed.iter().all(|(axis, _)| *axis != Axis::Memory);
        let add = |cases: &mut Different, case: Case| {
            if is_produced && case.axes().chunk_size_bytes == Axes::WHOLE {
                return;
            }
            let case = match is_produced && is_aligned && case.axes().is_staged() {
                // Chunks below 2 MiB fill no huge page.
                true => [DataMemory::HugePages, DataMemory::PageAligned]
                    .iter()
                    .find_map(|memory| case.with(Axis::Memory, memory.name()).ok())
                    .unwrap_or(case),
                false => case,
            };
            let is_enough = case.contract().satisfies(&baseline.contract())
                && fixed.iter().all(|values| is_fixed(values, &case));
            if is_enough {
                let named = Some(case.canonical())
                    .filter(|case| fixed.iter().all(|values| is_fixed(values, case)));
                cases.add(named.unwrap_or(case));
            }
        };
        for (section, candidate) in candidates {
            match candidate {
                Ok(case) => add(&mut others, case),
                Err(CaseError::Contradiction(_)) => {}
                Err(error) => return Err(suite.error(section, error)),
            }
        }
        // The first section has only shared values.
        for prefix in goal.portfolio() {
            let cases = section.combined(&prefix.without(fixed), fixed, 1);
            cases
                .into_iter()
                .flatten()
                .for_each(|case| add(&mut portfolio, case));
        }
        portfolio
            .cases
            .iter()
            .for_each(|case| others.add(case.clone()));
        let (title, summary) = (suite.title.clone(), suite.summary.clone());
        Ok(Self {
            title,
            summary,
            baseline,
            portfolio: portfolio.cases,
            others: others.cases,
        })
    }

    /// Makes so many records durable together, by one sync or in one call.
    ///
    /// # Errors
    /// Plain write cannot.
    pub fn group(&mut self, count: u32) -> Result<(), CaseError> {
        let with_sync = |case: &Case, call| case.with(Axis::Sync, &format!("{call}/{count}"));
        let vector = |case: &Case| match case.method().has_axis(Axis::Vector) {
            true => case.with(Axis::Vector, &count.to_string()),
            false => Ok(case.clone()),
        };
        let grouped = |case: &Case| match case.axes().sync.every {
            Some(_) => with_sync(case, case.axes().sync.call),
            None => vector(case),
        };
        self.baseline = grouped(&self.baseline)?;
        for cases in [&mut self.portfolio, &mut self.others] {
            let has_vector = |case: &&Case| case.method().has_axis(Axis::Vector);
            let synced = |case| vector(case).and_then(|case| with_sync(&case, SyncCall::Fdatasync));
            let synced: Vec<Case> = cases.iter().filter(has_vector).flat_map(synced).collect();
            *cases = Different::of(&self.baseline, cases.iter().flat_map(grouped).chain(synced));
        }
        Ok(())
    }

    /// Adds candidates with the most threads of a constraint, and with powers of two below. Of a file without a known
    /// length, each thread takes the next chunk.
    pub fn add_allowed(&mut self, constraint: &Constraint) {
        match *constraint {
            Constraint::Threads(most) => {
                let doubled = std::iter::successors(Some(8_u32), |count| count.checked_mul(2));
                for count in doubled.take_while(|&count| count < most).chain([most]) {
                    self.add_variants(|case| case.with(Axis::Threads, &count.to_string()));
                }
            }
            Constraint::UnknownLength => self.add_variants(|case| {
                Case::parse(&format!(
                    "{case},layout=strided,block={}",
                    case.axes().get(Axis::Chunk)
                ))
            }),
            _ => {}
        }
    }

    /// Of cases with several threads.
    fn add_variants(&mut self, variant: impl Fn(&Case) -> Result<Case, CaseError>) {
        for cases in [&mut self.portfolio, &mut self.others] {
            let variants: Vec<Case> = cases
                .iter()
                .filter(|case| case.axes().threads > 1)
                .flat_map(&variant)
                .collect();
            *cases = Different::of(&self.baseline, cases.drain(..).chain(variants));
        }
    }

    /// The baseline first.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        std::iter::once(&self.baseline).chain(&self.others)
    }
}
