//! The cases among which a search chooses.

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
    /// The contract in words.
    pub summary: String,
    /// The case with plain write, the reference of all comparisons.
    pub baseline: Case,
    /// A few cases, one of which is close to the best on every environment measured so far.
    pub portfolio: Vec<Case>,
    /// All cases but the baseline, in the order of their file. Each makes other calls than all before.
    pub others: Vec<Case>,
}

/// Cases that make different calls, also than the baseline.
struct DifferentCases {
    /// The canonical forms of the cases, and that of the baseline.
    canonical: HashSet<Case>,
    cases: Vec<Case>,
}

impl DifferentCases {
    fn beside(baseline: &Case) -> Self {
        Self {
            canonical: HashSet::from([baseline.canonical()]),
            cases: Vec::new(),
        }
    }

    fn add(&mut self, case: Case) {
        if self.canonical.insert(case.canonical()) {
            self.cases.push(case);
        }
    }

    /// The first case of each kind among these.
    fn among(baseline: &Case, cases: impl IntoIterator<Item = Case>) -> Vec<Case> {
        let mut different = Self::beside(baseline);
        cases.into_iter().for_each(|case| different.add(case));
        different.cases
    }
}

/// What decides whether a case belongs to a space.
struct Admission<'s> {
    baseline: &'s Case,
    /// The values that replace the space's own.
    fixed: &'s Overrides,
}

impl Admission<'_> {
    /// The case under which a candidate joins the space. None if the candidate does not belong to it.
    fn admitted(&self, candidate: Case) -> Option<Case> {
        let has_whole_chunk = candidate.axes().chunk_size_bytes == Axes::WHOLE;
        if self.is_produced() && has_whole_chunk {
            return None;
        }
        let case = self.in_producers_memory(candidate);
        let keeps_contract = case.contract().satisfies(&self.baseline.contract());
        if !keeps_contract || !self.has_fixed_values(&case) {
            return None;
        }
        let canonical = case.canonical();
        Some(if self.has_fixed_values(&canonical) {
            canonical
        } else {
            case
        })
    }

    /// Whether a producer makes the data, chunk by chunk.
    fn is_produced(&self) -> bool {
        self.baseline.axes().source == Source::Chunk
    }

    /// The case with a producer that fills its chunks in aligned memory if that saves a copy.
    fn in_producers_memory(&self, case: Case) -> Case {
        let has_fixed_memory = self.fixed.iter().any(|(axis, _)| *axis == Axis::Memory);
        if !self.is_produced() || has_fixed_memory || !case.axes().is_staged() {
            return case;
        }
        // Chunks below 2 MiB fill no huge page.
        [DataMemory::HugePages, DataMemory::PageAligned]
            .iter()
            .find_map(|memory| case.with(Axis::Memory, memory.name()).ok())
            .unwrap_or(case)
    }

    /// Whether the case has one of the fixed values on each of their axes. A method without an axis has its default,
    /// and another section its own value.
    fn has_fixed_values(&self, case: &Case) -> bool {
        self.fixed.iter().all(|(axis, values)| {
            !self.baseline.method().has_axis(*axis)
                || values
                    .iter()
                    .any(|value| Axes::canonical(*axis, value) == Ok(case.axes().get(*axis)))
        })
    }
}

impl Space {
    /// The space of a goal, where the values of `fixed` replace the space's own, also in the baseline. Left out are
    /// contradictory combinations, contracts weaker than the baseline's, and cases that make the same calls as one
    /// before. A value without effect in a file of this size is not named.
    ///
    /// # Errors
    ///
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
        let (first_section, baseline) = candidates.next().expect("a space has a baseline");
        let baseline = baseline.map_err(|error| suite.error(first_section, error))?;
        let admission = Admission {
            baseline: &baseline,
            fixed,
        };
        let mut others = DifferentCases::beside(&baseline);
        for (section, candidate) in candidates {
            match candidate {
                Ok(case) => {
                    if let Some(case) = admission.admitted(case) {
                        others.add(case);
                    }
                }
                Err(CaseError::Contradiction(_)) => {}
                Err(error) => return Err(suite.error(section, error)),
            }
        }
        // The first section has only shared values, so a portfolio's case gets all others from it.
        let portfolio_cases = goal
            .portfolio()
            .into_iter()
            .flat_map(|prefix| first_section.combined(&prefix.without(fixed), fixed, 1))
            .flatten()
            .filter_map(|case| admission.admitted(case));
        let portfolio = DifferentCases::among(&baseline, portfolio_cases);
        portfolio.iter().for_each(|case| others.add(case.clone()));
        Ok(Self {
            title: suite.title.clone(),
            summary: suite.summary.clone(),
            baseline,
            portfolio,
            others: others.cases,
        })
    }

    /// Makes so many records durable together, by one sync or in one call.
    ///
    /// # Errors
    ///
    /// The baseline, plain write, cannot have so many.
    pub fn group(&mut self, count: u32) -> Result<(), CaseError> {
        self.baseline = grouped(&self.baseline, count)?;
        for cases in [&mut self.portfolio, &mut self.others] {
            let vectored = cases
                .iter()
                .filter(|case| case.method().has_axis(Axis::Vector));
            let synced: Vec<Case> = vectored
                .flat_map(|case| with_vector(case, count))
                .flat_map(|case| with_sync_after(&case, SyncCall::Fdatasync, count))
                .collect();
            let grouped = cases.iter().flat_map(|case| grouped(case, count));
            *cases = DifferentCases::among(&self.baseline, grouped.chain(synced));
        }
        Ok(())
    }

    /// Adds candidates with the most threads of a constraint, and with powers of two below. If the file's length is not
    /// known at first, each thread takes the next chunk.
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

    /// Adds a variant of each case with several threads.
    fn add_variants(&mut self, variant: impl Fn(&Case) -> Result<Case, CaseError>) {
        for cases in [&mut self.portfolio, &mut self.others] {
            let variants: Vec<Case> = cases
                .iter()
                .filter(|case| case.axes().threads > 1)
                .flat_map(&variant)
                .collect();
            *cases = DifferentCases::among(&self.baseline, cases.drain(..).chain(variants));
        }
    }

    /// All cases, of which the baseline is the first.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        std::iter::once(&self.baseline).chain(&self.others)
    }
}

/// The case that makes so many records durable together: by one sync if it syncs on the way, or else in one call.
fn grouped(case: &Case, count: u32) -> Result<Case, CaseError> {
    let sync = case.axes().sync;
    match sync.every {
        Some(_) => with_sync_after(case, sync.call, count),
        None => with_vector(case, count),
    }
}

fn with_sync_after(case: &Case, call: SyncCall, chunks: u32) -> Result<Case, CaseError> {
    case.with(Axis::Sync, &format!("{call}/{chunks}"))
}

/// The case with so many chunks in a call. A method without vectors keeps one.
fn with_vector(case: &Case, chunks: u32) -> Result<Case, CaseError> {
    if case.method().has_axis(Axis::Vector) {
        case.with(Axis::Vector, &chunks.to_string())
    } else {
        Ok(case.clone())
    }
}
