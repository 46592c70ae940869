use std::collections::{BTreeMap, HashSet};

use crate::axis::{Axes, Axis};
use crate::case::{Case, CaseError};
use crate::constraint::Constraint;
use crate::contract::{Content, Contract, Durability, Start, Visibility};
use crate::suite::{CasePrefix, Overrides, Suite, SuiteError};
use crate::sync::SyncCall;
use crate::value::{DataMemory, Source, named_values};

named_values! {
    /// The name of a contract.
    Goal {
        /// A new file, maybe only in the page cache.
        Stream = "stream",
        /// A new file, durable at the end.
        DurableStream = "durable-stream",
        /// New content of a file, maybe only in the page cache.
        Overwrite = "overwrite",
        /// New content of a file, durable at the end.
        DurableOverwrite = "durable-overwrite",
        /// Each durable before the next.
        Records = "records",
        /// Of a source in the page cache.
        Copy = "copy",
        /// Durable at the end.
        DurableCopy = "durable-copy",
        LargerThanMemory = "larger-than-memory",
        /// Many new files, maybe only in the page cache.
        Files = "files",
        /// Many new files, durable at the end.
        DurableFiles = "durable-files",
        /// An existing file is replaced and never seen in part.
        Replace = "replace",
        /// The same, durable at the end.
        DurableReplace = "durable-replace",
    }
}

const PORTFOLIO: &str = include_str!("../portfolio.toml");

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

/// In place of a suite's name, in a run of several goals.
pub const GOALS: &str = "goals";

impl Goal {
    /// Without a goal on the command line. A slow disk has no time for the last ones, so what most programs do is
    /// first. A file larger than memory takes minutes.
    pub const USUAL: &[Self] = &[
        Self::Stream,
        Self::DurableStream,
        Self::Copy,
        Self::Records,
        Self::DurableFiles,
        Self::Overwrite,
        Self::DurableOverwrite,
        Self::DurableCopy,
        Self::Files,
        Self::Replace,
        Self::DurableReplace,
    ];

    /// Everyday words for it.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Stream => &["download", "export", "write"],
            Self::DurableStream => &["checkpoint", "dump"],
            Self::Records => &["append", "database", "journal", "log", "wal"],
            Self::Copy => &["cp"],
            Self::DurableCopy => &["backup"],
            Self::Files => &["checkout", "unpack", "untar", "unzip"],
            Self::DurableReplace => &["config", "save"],
            Self::Overwrite
            | Self::DurableOverwrite
            | Self::LargerThanMemory
            | Self::DurableFiles
            | Self::Replace => &[],
        }
    }

    pub fn is_durable(self) -> bool {
        match self {
            Self::DurableStream | Self::DurableOverwrite | Self::DurableCopy | Self::Records => {
                true
            }
            Self::DurableFiles | Self::DurableReplace => true,
            Self::Stream
            | Self::Overwrite
            | Self::Copy
            | Self::LargerThanMemory
            | Self::Files
            | Self::Replace => false,
        }
    }

    /// Whether the goal is about small files or records, whose number is the question.
    pub fn is_of_files(self) -> bool {
        matches!(
            self,
            Self::Files | Self::DurableFiles | Self::Replace | Self::DurableReplace
        )
    }

    /// The goal whose contract this is, apart from sizes and the source of the data. A file larger than memory is a
    /// stream.
    pub fn of_contract(contract: &Contract) -> Option<Self> {
        let is_durable = contract.durability == Durability::Durable;
        let [usual, durable] = match (contract.content, contract.start, contract.visibility) {
            (Content::Copy | Content::SharedCopy, ..) => [Self::Copy, Self::DurableCopy],
            (Content::Reserved | Content::Hole | Content::Nothing, ..) => return None,
            _ if contract.durable_every_bytes.is_some() => [Self::Records; 2],
            (_, Start::Existing, Visibility::Complete) => [Self::Replace, Self::DurableReplace],
            (_, Start::New, _) if contract.file_size.is_some() => [Self::Files, Self::DurableFiles],
            (_, Start::New, _) => [Self::Stream, Self::DurableStream],
            (_, Start::Existing, _) => [Self::Overwrite, Self::DurableOverwrite],
        };
        Some(if is_durable { durable } else { usual })
    }

    /// The goal's space as a suite, with the baseline as its first section.
    fn text(self) -> &'static str {
        match self {
            Self::Stream => include_str!("../spaces/stream.toml"),
            Self::DurableStream => include_str!("../spaces/durable-stream.toml"),
            Self::Overwrite => include_str!("../spaces/overwrite.toml"),
            Self::DurableOverwrite => include_str!("../spaces/durable-overwrite.toml"),
            Self::Records => include_str!("../spaces/records.toml"),
            Self::Copy => include_str!("../spaces/copy.toml"),
            Self::DurableCopy => include_str!("../spaces/durable-copy.toml"),
            Self::LargerThanMemory => include_str!("../spaces/larger-than-memory.toml"),
            Self::Files => include_str!("../spaces/files.toml"),
            Self::DurableFiles => include_str!("../spaces/durable-files.toml"),
            Self::Replace => include_str!("../spaces/replace.toml"),
            Self::DurableReplace => include_str!("../spaces/durable-replace.toml"),
        }
    }

    fn portfolio(self) -> Vec<CasePrefix> {
        let mut portfolios: BTreeMap<String, Vec<String>> =
            toml::from_str(PORTFOLIO).expect("the portfolio parses");
        let names = portfolios.remove(self.name()).unwrap_or_default();
        names
            .iter()
            .map(|name| CasePrefix::parse(None, name).expect("a portfolio has cases"))
            .collect()
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
        let suite = Suite::parse(goal.text()).expect("a built-in space parses");
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
