//! The cases among which a search chooses.

use std::collections::HashSet;

use crate::axis::{Axis, Choices};
use crate::case::{Case, CaseError};
use crate::constraint::Constraint;
use crate::goal::Goal;
use crate::suite::{AxisValues, Overrides, Section, SuiteError, strategies};
use crate::sync::SyncCall;
use crate::value::{DataMemory, Prepare, Source};
use crate::workload::{Durability, Start, Workload};

/// A goal's baseline, and all other cases with at least its workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    pub title: String,
    /// The workload in words.
    pub summary: String,
    /// The case with plain write, the reference of all comparisons.
    pub baseline: Case,
    /// A few cases, one of which is close to the best on every environment measured so far.
    pub portfolio: Vec<Case>,
    /// All cases but the baseline, in the order of their file. Each makes other calls than all before.
    pub others: Vec<Case>,
}

/// The first case of each kind among these: the cases make different calls, also than the baseline. A vector of one chunk
/// is no other call than one without a vector.
fn different_cases(baseline: &Case, cases: impl IntoIterator<Item = Case>) -> Vec<Case> {
    let mut known = HashSet::from([baseline.canonical()]);
    cases
        .into_iter()
        .filter(|case| !case.has_needless_vector() && known.insert(case.canonical()))
        .collect()
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
        let has_whole_chunk = candidate.choices().chunk_size_bytes == Choices::WHOLE;
        if self.is_produced() && has_whole_chunk {
            return None;
        }
        let case = self.in_producers_memory(candidate);
        let is_fit = case.answers(&self.baseline.workload()).is_ok();
        if !is_fit || !self.has_fixed_values(&case) {
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
        self.baseline.given().source == Source::Chunk
    }

    /// The case with a producer that fills its chunks in aligned memory if that saves a copy.
    fn in_producers_memory(&self, case: Case) -> Case {
        let has_fixed_memory = self.fixed.iter().any(|(axis, _)| *axis == Axis::Memory);
        if !self.is_produced() || has_fixed_memory || !case.is_staged() {
            return case;
        }
        // A thread's range may be shorter than its chunk.
        let chunk_bytes = case.canonical().choices().chunk_size_bytes;
        let memories: &[DataMemory] = if chunk_bytes < Case::HUGE_PAGE_BYTES {
            &[DataMemory::PageAligned]
        } else {
            &[DataMemory::HugePages, DataMemory::PageAligned]
        };
        memories
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
                    .any(|value| axis.canonical(value) == Ok(case.value(*axis)))
        })
    }
}

/// The section of the strategies with the values that a workload determines: its own, the state of the file before, and
/// a sync call if the section names none. Overrides replace these values.
fn for_workload(mut section: Section, mut work: AxisValues, workload: &Workload) -> Section {
    let names_sync = section.values(Axis::Sync).is_some();
    if workload.file_size.is_none() && !names_sync {
        let call = match workload.durability {
            Durability::Durable => SyncCall::Fdatasync,
            Durability::Cached | Durability::Device => SyncCall::None,
        };
        work.push((Axis::Sync, vec![call.name().to_owned()]));
    }
    if workload.start == Start::Existing {
        section = in_existing_file(section);
    }
    section.with_common(work)
}

/// The section for a file that exists: what prepares a new one is not needed, apart from the values that need old content.
/// A section that is about a preparation has no cases.
fn in_existing_file(section: Section) -> Section {
    const UNPREPARED: [Prepare; 2] = [Prepare::Create, Prepare::SetLen];
    let Some(prepares) = section.values(Axis::Prepare) else {
        return section;
    };
    let prepares: Vec<Prepare> = prepares
        .iter()
        .filter_map(|text| Prepare::from_name(text))
        .collect();
    let mut existing: Vec<Prepare> = prepares
        .iter()
        .copied()
        .filter(|prepare| prepare.needs_old_content())
        .collect();
    if prepares.iter().any(|prepare| UNPREPARED.contains(prepare)) {
        if existing.is_empty() {
            return section.without_values(Axis::Prepare);
        }
        existing.insert(0, Prepare::Overwrite);
    }
    let texts = existing.iter().map(|prepare| prepare.name().to_owned());
    section.with_values(Axis::Prepare, texts.collect())
}

impl Space {
    /// The space of a goal, where the values of `fixed` replace the space's own, also in the baseline. Left out are
    /// contradictory combinations, workloads weaker than the baseline's, and cases that make the same calls as one
    /// before. A value without effect in a file of this size is not named.
    ///
    /// # Errors
    ///
    /// The baseline cannot have these values.
    pub fn for_goal(goal: Goal, fixed: &Overrides) -> Result<Self, SuiteError> {
        let prefix = goal.baseline_prefix();
        let plain = Section::plain(prefix.clone(), goal.work());
        let baseline = plain
            .combined(&prefix, fixed, 1)
            .into_iter()
            .next()
            .unwrap_or_else(|| Ok(goal.baseline().clone()))
            .map_err(|error| SuiteError::in_goal(goal.name(), &error))?;
        let admission = Admission {
            baseline: &baseline,
            fixed,
        };
        let mut others = Vec::new();
        let work = goal.work();
        for section in strategies() {
            let section = for_workload(section.clone(), work.clone(), &baseline.workload());
            // A method that lacks an axis of the work cannot do it.
            let able = section
                .prefixes
                .iter()
                .filter(|prefix| work.iter().all(|(axis, _)| prefix.method.has_axis(*axis)));
            for prefix in able {
                for candidate in section.combined(prefix, fixed, 1) {
                    match candidate {
                        Ok(case) => others.extend(admission.admitted(case)),
                        Err(CaseError::Contradiction(_)) => {}
                        Err(error @ CaseError::Unknown(_)) => {
                            return Err(SuiteError::in_goal(goal.name(), &error));
                        }
                    }
                }
            }
        }
        // A portfolio's case gets all values that its name does not have from the goal.
        let portfolio_cases = goal
            .portfolio()
            .into_iter()
            .flat_map(|prefix| plain.combined(&prefix.without(fixed), fixed, 1))
            .flatten()
            .filter_map(|case| admission.admitted(case));
        let portfolio = different_cases(&baseline, portfolio_cases);
        others.extend(portfolio.iter().cloned());
        Ok(Self {
            title: goal.title().to_owned(),
            summary: goal.summary().to_owned(),
            others: different_cases(&baseline, others),
            baseline,
            portfolio,
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
            *cases = different_cases(&self.baseline, grouped.chain(synced));
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
                    case.value(Axis::Chunk)
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
                .filter(|case| case.choices().threads > 1)
                .flat_map(&variant)
                .collect();
            *cases = different_cases(&self.baseline, cases.drain(..).chain(variants));
        }
    }

    /// All cases, of which the baseline is the first.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        std::iter::once(&self.baseline).chain(&self.others)
    }
}

/// The case that makes so many records durable together: by one sync if it syncs on the way, or else in one call.
fn grouped(case: &Case, count: u32) -> Result<Case, CaseError> {
    let sync = case.choices().sync;
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
