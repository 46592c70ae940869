//! All cases that satisfy a goal, to be searched for the best.

use std::collections::BTreeMap;

use crate::case::{Case, CaseError};
use crate::suite::{CasePrefix, Overrides, Section, Suite, SuiteError};
use crate::value::named_values;

named_values! {
    /// A contract that users ask for by name.
    Goal {
        /// A new file that may still be in the page cache.
        Stream = "stream",
        /// A new file that is durable at the end.
        DurableStream = "durable-stream",
        /// New content of a file, which may still be in the page cache.
        Overwrite = "overwrite",
        /// New content of a file, durable at the end.
        DurableOverwrite = "durable-overwrite",
        /// Records, each durable before the next.
        Records = "records",
        /// A copy of a file that is in the page cache.
        Copy = "copy",
        /// A copy of a file that is in the page cache, durable at the end.
        DurableCopy = "durable-copy",
        /// A new file that the memory cannot hold.
        LargerThanMemory = "larger-than-memory",
    }
}

/// The text of `portfolio.toml`: for each goal the beginnings of its cases' names.
const PORTFOLIO: &str = include_str!("../portfolio.toml");

/// The baseline of a goal, and all other cases with at least the same contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    pub title: String,
    /// The contract in words.
    pub summary: String,
    /// The baseline, plain write.
    pub baseline: Case,
    /// The few cases that come close to the best of all on every environment measured so far.
    pub portfolio: Vec<Case>,
    /// All other cases, in the order of their file, without duplicates.
    pub others: Vec<Case>,
}

/// The name in place of a suite's for the cases of a run that answers all goals.
pub const GOALS: &str = "goals";

impl Goal {
    /// The goals of a run that names none. A file larger than the memory takes minutes.
    pub const USUAL: &[Self] = &[
        Self::Stream,
        Self::Overwrite,
        Self::DurableStream,
        Self::DurableOverwrite,
        Self::Copy,
        Self::DurableCopy,
        Self::Records,
    ];

    /// Whether the data survives a loss of power.
    pub fn is_durable(self) -> bool {
        match self {
            Self::DurableStream | Self::DurableOverwrite | Self::DurableCopy | Self::Records => true,
            Self::Stream | Self::Overwrite | Self::Copy | Self::LargerThanMemory => false,
        }
    }

    /// The goal's space, in the form of a suite whose first section is the baseline.
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
        }
    }

    fn portfolio(self) -> Vec<CasePrefix> {
        let mut portfolios: BTreeMap<String, Vec<String>> =
            toml::from_str(PORTFOLIO).expect("the portfolio parses");
        let names = portfolios.remove(self.name()).unwrap_or_default();
        names.iter().map(|name| CasePrefix::parse(None, name).expect("a portfolio has cases")).collect()
    }
}

impl Space {
    /// The space of a goal. The values of `fixed`, one for each axis, replace its own, also in the baseline.
    ///
    /// Contradictory combinations are left out, and those with a weaker contract than the baseline.
    ///
    /// # Errors
    /// The baseline cannot have these values.
    ///
    /// # Panics
    /// Never in a build whose tests pass: the texts are fixed.
    pub fn for_goal(goal: Goal, fixed: &Overrides) -> Result<Self, SuiteError> {
        let suite = Suite::parse(goal.text()).expect("a built-in space parses");
        let combined = |section: &Section, prefix: &CasePrefix| {
            section.combined(prefix, fixed, 1).map_err(|error| suite.error(section, error))
        };
        let mut candidates = Vec::new();
        for section in &suite.sections {
            for prefix in &section.prefixes {
                candidates.extend(combined(section, prefix)?.into_iter().map(|case| (section, case)));
            }
        }
        let mut candidates = candidates.into_iter();
        let (section, baseline) = candidates.next().expect("a space has a baseline");
        let baseline = baseline.map_err(|error| suite.error(section, error))?;
        let (mut portfolio, mut others) = (Vec::new(), Vec::new());
        let add = |cases: &mut Vec<Case>, case: Case| {
            let is_enough = case.contract().satisfies(&baseline.contract());
            if is_enough && case != baseline && !cases.contains(&case) {
                cases.push(case);
            }
        };
        for (section, candidate) in candidates {
            match candidate {
                Ok(case) => add(&mut others, case),
                Err(CaseError::Contradiction(_)) => {}
                Err(error) => return Err(suite.error(section, error)),
            }
        }
        // The first section has no values of its own, only those that all sections share.
        for prefix in goal.portfolio() {
            let cases = combined(section, &prefix.without(fixed))?;
            cases.into_iter().flatten().for_each(|case| add(&mut portfolio, case));
        }
        others.extend(portfolio.iter().filter(|case| !others.contains(case)).cloned().collect::<Vec<_>>());
        Ok(Self { title: suite.title.clone(), summary: suite.summary.clone(), baseline, portfolio, others })
    }

    /// All cases, the baseline first.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        std::iter::once(&self.baseline).chain(&self.others)
    }
}
