//! One invocation and its results.

use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::case::Case;
use crate::case_record::CaseRecord;
use crate::ranks::Cluster;
use crate::sample::Extent;
use crate::target::{MissingTarget, TargetRecord};
use crate::value::named_values;

named_values! {
    /// The status of a run.
    RunStatus {
        /// Under way. A killed run keeps this status in its database; the run's lock distinguishes the two.
        Running = "running",
        /// Every case has its samples, or an outcome that ends it, and the copy that the run leaves is made.
        Complete = "complete",
        /// A limit on time or bytes ended it.
        Limited = "limited",
        /// A signal ended it, or it was killed.
        Interrupted = "interrupted",
        /// writebench itself failed: the target vanished, the database could not be written.
        Failed = "failed",
    }

    /// The choice of samples that are read back and compared, and the extent.
    #[derive(Default)]
    Verify {
        /// Each case's first sample completely, and a part of every later one.
        #[default]
        Sampled = "sampled",
        /// Each case's first sample completely.
        First = "first",
        /// Every sample completely.
        Every = "every",
        /// Never; the size is still checked.
        Never = "never",
    }
}

impl Verify {
    /// The extent that is read back of a sample.
    pub fn extent(self, is_first: bool) -> Option<Extent> {
        match self {
            Self::Every => Some(Extent::Whole),
            Self::Sampled | Self::First if is_first => Some(Extent::Whole),
            Self::Sampled => Some(Extent::Part),
            Self::First | Self::Never => None,
        }
    }
}

/// The settings that influence the samples. With the cases, they suffice to resume the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The number of undisturbed samples wanted of each case.
    pub samples: u32,
    /// The half-width of a case's interval, in millionths of its median, at which it needs no more samples;
    /// none for a fixed number of samples.
    pub precision_ppm: Option<u32>,
    /// Time limit for the run.
    pub budget_ns: Option<u64>,
    pub max_bytes: Option<u64>,
    /// Seed of the order and of the data.
    pub seed: u64,
    pub verify: Verify,
    /// The deadline of a sample; none to derive it from the sample's size.
    pub timeout_ns: Option<u64>,
    /// The file that copying cases copy; none for a file of their own.
    pub copy_from: Option<String>,
    /// The path at which a copy of that file remains after the run.
    pub copy_to: Option<String>,
    /// The file size of a search. If the limits do not allow it, the search ends with a smaller one.
    pub search_bytes: Option<u64>,
    /// The user's own programs, each in words with placeholders, by the number on axis `program`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub programs: Vec<Vec<String>>,
}

impl Settings {
    /// The words of a case's program; none for other cases.
    pub fn program_for(&self, case: &Case) -> Option<Vec<String>> {
        let number = (case.axes().program as usize).checked_sub(1)?;
        self.programs.get(number).filter(|_| case.method().is_program()).cloned()
    }
}

/// One invocation. In its serde form targets and cases are separate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// A random identifier, unique across machines.
    pub id: String,
    /// The user's name for the run.
    pub label: Option<String>,
    pub status: RunStatus,
    /// RFC 3339 in UTC.
    pub started: String,
    /// writebench's version.
    pub version: String,
    /// The command line.
    #[serde(deserialize_with = "list")]
    pub arguments: Vec<String>,
    pub settings: Settings,
    /// The ranks, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// The bytes that the run has written in all: by samples, for them, and beside them. None before its end, and for
    /// runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// The share of the samples' time in which a task of any program waited for a CPU, in millionths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_ppm: Option<u32>,
    /// The targets, at least one. All others are compared with the first.
    #[serde(skip)]
    pub targets: Vec<TargetRecord>,
    /// The requested targets that are missing.
    #[serde(skip)]
    pub missing: Vec<MissingTarget>,
    /// In the order of the suites; a table has a row for every target, in the order of the targets.
    #[serde(skip)]
    pub cases: Vec<CaseRecord>,
}

impl RunRecord {
    pub fn target(&self, name: &str) -> Option<&TargetRecord> {
        self.targets.iter().find(|target| target.name == name)
    }

    /// Whether the run made a filesystem of its own, which is gone: such a run cannot be resumed.
    pub fn has_made_filesystems(&self) -> bool {
        self.targets.iter().any(|target| target.making.is_some())
    }

    /// Whether the run is a search for the best case, which cannot be resumed either.
    pub fn is_search(&self) -> bool {
        self.settings.search_bytes.is_some() || self.cases.iter().any(|case| case.origin.is_search())
    }

    /// Whether tables have a column for each target.
    pub fn is_side_by_side(&self) -> bool {
        self.targets.len() + self.missing.len() > 1
    }

    /// The run as if it had only that target; none if it lacks the target.
    pub fn on_target(&self, name: &str) -> Option<Self> {
        let target = self.target(name)?.clone();
        let cases = self.cases.iter().filter(|case| case.target == name).cloned().collect();
        Some(Self { targets: vec![target], missing: Vec::new(), cases, ..self.clone() })
    }
}
