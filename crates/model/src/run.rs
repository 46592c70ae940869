//! One invocation and what it made.

use serde::{Deserialize, Serialize};

use crate::case_record::CaseRecord;
use crate::read_back::Extent;
use crate::target::{MissingTarget, TargetRecord};
use crate::value::named_values;

named_values! {
    /// How a run stands.
    RunStatus {
        /// Under way. A killed run leaves it in its database, where the run's lock tells the two apart.
        Running = "running",
        /// Every case has its samples, or an outcome that ends it, and the copy that the run leaves is made.
        Complete = "complete",
        /// A limit on time or bytes came first.
        Limited = "limited",
        /// A signal ended it, or it was killed.
        Interrupted = "interrupted",
        /// writebench itself failed: the target vanished, the database could not be written.
        Failed = "failed",
    }

    /// When files are read back and compared, and how much of them.
    Verify {
        /// Each case's first sample whole, and a part of every later one.
        Sampled = "sampled",
        /// Each case's first sample whole.
        First = "first",
        /// Every sample whole.
        Every = "every",
        /// Never; the size is still checked.
        Never = "never",
    }
}

impl Verify {
    /// How much is read back of a sample.
    #[must_use]
    pub fn extent(self, is_first: bool) -> Option<Extent> {
        match self {
            Self::Every => Some(Extent::Whole),
            Self::Sampled | Self::First if is_first => Some(Extent::Whole),
            Self::Sampled => Some(Extent::Part),
            Self::First | Self::Never => None,
        }
    }
}

/// What a run was told, as far as it shapes the samples. With the cases, enough to resume it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Undisturbed samples wanted of each case.
    pub samples: u32,
    /// Half the width of a case's interval, in millionths of its median, at which it needs no more samples; none to
    /// take as many as were asked for.
    pub precision_ppm: Option<u32>,
    /// Time limit for the run.
    pub budget_ns: Option<u64>,
    /// Most bytes that the run may write.
    pub max_bytes: Option<u64>,
    /// Seed of the order and of the data.
    pub seed: u64,
    /// When files are read back, and how much of them.
    pub verify: Verify,
    /// Deadline of a sample; from its size if none.
    pub timeout_ns: Option<u64>,
    /// The file that copying cases copy; their own if none.
    pub copy_from: Option<String>,
    /// The file that is a copy of it when the run is over.
    pub copy_to: Option<String>,
    /// The size of the file that a search is for. Where the limits do not pay for it, it ends with a smaller one.
    pub search_bytes: Option<u64>,
}

/// One invocation. In its serde form targets and cases stand beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Random, so unique among runs of all machines.
    pub id: String,
    /// What people call it.
    pub label: Option<String>,
    /// How it stands.
    pub status: RunStatus,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// writebench's version.
    pub version: String,
    /// The command line.
    pub arguments: Vec<String>,
    /// What it was told.
    pub settings: Settings,
    /// Where it writes to: at least one. All others are compared with the first.
    #[serde(skip)]
    pub targets: Vec<TargetRecord>,
    /// What it was to write to as well, and cannot.
    #[serde(skip)]
    pub missing: Vec<MissingTarget>,
    /// In the order of the suites; a row of a table once for every target, in the order of the targets.
    #[serde(skip)]
    pub cases: Vec<CaseRecord>,
}

impl RunRecord {
    /// The target of that name.
    #[must_use]
    pub fn target(&self, name: &str) -> Option<&TargetRecord> {
        self.targets.iter().find(|target| target.name == name)
    }

    /// Whether it made a filesystem of its own, which went with it: such a run cannot go on.
    #[must_use]
    pub fn has_made_filesystems(&self) -> bool {
        self.targets.iter().any(|target| target.making.is_some())
    }

    /// Whether it is a search for the best case, which cannot go on either.
    #[must_use]
    pub fn is_search(&self) -> bool {
        self.settings.search_bytes.is_some() || self.cases.iter().any(|case| case.origin.is_search())
    }

    /// Whether tables have a column for each target.
    #[must_use]
    pub fn is_side_by_side(&self) -> bool {
        self.targets.len() + self.missing.len() > 1
    }

    /// The run as if it had had only that target; none if it has no such.
    #[must_use]
    pub fn on_target(&self, name: &str) -> Option<Self> {
        let target = self.target(name)?.clone();
        let cases = self.cases.iter().filter(|case| case.target == name).cloned().collect();
        Some(Self { targets: vec![target], missing: Vec::new(), cases, ..self.clone() })
    }
}
