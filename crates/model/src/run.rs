use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::case::Case;
use crate::case_record::CaseRecord;
use crate::constraint::Constraint;
use crate::decision::Decision;
use crate::goal::Goal;
use crate::objective::Objective;
use crate::ranks::Cluster;
use crate::requirement::Requirement;
use crate::sample::Extent;
use crate::target::{MissingTarget, TargetRecord};
use crate::value::named_values;
use crate::workload::{DataSource, Workload};

named_values! {
    RunStatus {
        /// A killed run has this status as well. The run's lock distinguishes the two.
        Running = "running",
        /// Every case has its samples, or an outcome that ends it. The requested copy is made.
        Complete = "complete",
        /// A limit on time or bytes ended the run.
        Limited = "limited",
        /// A signal ended the run, maybe SIGKILL.
        Interrupted = "interrupted",
        /// writebench itself failed: the target vanished, or the database could not be written.
        Failed = "failed",
    }

    /// The samples whose content is read back and compared, and how much of it.
    #[derive(Default)]
    Verify {
        /// Each case's first sample completely, and a part of every later one.
        #[default]
        Sampled = "sampled",
        First = "first",
        Every = "every",
        /// Only the size is checked.
        Never = "never",
    }
}

impl Verify {
    /// How much of a case's first or later sample is read back. With `None` only the size is checked.
    pub fn extent(self, is_first: bool) -> Option<Extent> {
        match self {
            Self::Every => Some(Extent::Whole),
            Self::Sampled | Self::First if is_first => Some(Extent::Whole),
            Self::Sampled => Some(Extent::Part),
            Self::First | Self::Never => None,
        }
    }
}

/// A user's program and the commands around it, in words with placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramCommands {
    pub program: Vec<String>,
    pub setup: Vec<String>,
    pub cleanup: Vec<String>,
}

/// What influences the samples besides their cases. Both together suffice to resume the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Undisturbed samples wanted of each case.
    pub samples: u32,
    /// The half-width of a case's interval, in millionths of its median, at which it needs no more samples.
    /// With `None` the number of samples is fixed.
    pub precision_ppm: Option<u32>,
    pub budget_ns: Option<u64>,
    pub max_bytes: Option<u64>,
    /// The seed of the order of samples and of their data.
    pub seed: u64,
    pub verify: Verify,
    /// The deadline of a sample. With `None` it follows from the sample's size.
    pub timeout_ns: Option<u64>,
    /// The source of copying cases. With `None` writebench makes one.
    #[serde(rename = "from", alias = "copy_from")]
    pub copy_from: Option<String>,
    /// The path at which a copy remains after the run.
    #[serde(rename = "to", alias = "copy_to")]
    pub copy_to: Option<String>,
    #[serde(default)]
    pub objective: Objective,
    /// The constraints of a search, or of a run of goals. Other runs have none.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "list"
    )]
    pub constraints: Vec<Constraint>,
    /// The file size of a search. Limits can force the search to end with a smaller one.
    pub search_bytes: Option<u64>,
    /// The user's programs, in words with placeholders, by the number on axis `program`.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "list"
    )]
    pub programs: Vec<Vec<String>>,
    /// The words of the command before each sample of a program. The list is empty if there is no such command.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "list"
    )]
    pub setup: Vec<String>,
    /// The words of the command after each sample of a program.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "list"
    )]
    pub cleanup: Vec<String>,
    /// The loss of speed to the first case, in millionths, above which the run fails. Rounds continue until it
    /// is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_if_slower_ppm: Option<u32>,
    /// The limits of `--require`. Samples continue until it is known whether they are met.
    #[serde(
        default,
        rename = "require",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "list"
    )]
    pub requirements: Vec<Requirement>,
}

impl Settings {
    /// If an interval decides when a case has enough samples, it gets at most this multiple of the requested number.
    const MOST_FACTOR: u32 = 20;

    /// The most undisturbed samples of a case.
    pub fn most_samples(&self) -> u32 {
        let depends_on_interval = self.precision_ppm.or(self.fail_if_slower_ppm).is_some()
            || !self.requirements.is_empty();
        let factor = if depends_on_interval {
            Self::MOST_FACTOR
        } else {
            1
        };
        self.samples.saturating_mul(factor)
    }

    /// Whether the case fulfils all constraints. A baseline that does not is a mere reference.
    pub fn allows(&self, case: &Case, baseline: &Case) -> bool {
        self.constraints
            .iter()
            .all(|constraint| constraint.allows(case, baseline))
    }

    /// The name of the only language of printed code.
    pub fn language(&self) -> Option<&str> {
        self.constraints
            .iter()
            .find_map(|constraint| match constraint {
                Constraint::Language(name) => Some(name.as_str()),
                _ => None,
            })
    }

    /// The user's program that the case measures. None if the case has one of writebench's own methods.
    pub fn program_for(&self, case: &Case) -> Option<ProgramCommands> {
        let number = (case.choices().program as usize).checked_sub(1)?;
        let program = self
            .programs
            .get(number)
            .filter(|_| case.method().is_program())?
            .clone();
        Some(ProgramCommands {
            program,
            setup: self.setup.clone(),
            cleanup: self.cleanup.clone(),
        })
    }
}

/// A run with all of its samples. In its serde form, targets and cases are separate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// A random text, unique across machines.
    pub id: String,
    pub label: Option<String>,
    pub status: RunStatus,
    /// The time of the run's beginning, as RFC 3339 in UTC.
    pub started: String,
    pub version: String,
    #[serde(deserialize_with = "list")]
    pub arguments: Vec<String>,
    pub settings: Settings,
    /// The MPI ranks and their nodes. None for a single rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// The bytes that the run wrote for samples and for any other purpose. None before the end, and for runs of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// The share of the samples' time in which a task of any program waited for a CPU, in millionths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_ppm: Option<u32>,
    /// The decision of each contest that had samples. Other runs, those of earlier versions, and killed ones have none.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "list"
    )]
    pub decisions: Vec<Decision>,
    /// The targets, of which there is at least one. The first is the reference of all comparisons.
    #[serde(skip)]
    pub targets: Vec<TargetRecord>,
    #[serde(skip)]
    pub missing: Vec<MissingTarget>,
    /// The rows of all tables in the order of the suites. A table has a row for every target, in their order.
    #[serde(skip)]
    pub cases: Vec<CaseRecord>,
}

impl RunRecord {
    pub fn target(&self, name: &str) -> Option<&TargetRecord> {
        self.targets.iter().find(|target| target.name == name)
    }

    /// What the contest found to which a case of this workload belongs. Each goal has a contest for its workload. A
    /// search has one, in which cases may do more than the baseline's workload asks for.
    pub fn decision(&self, target: &str, workload: &Workload) -> Option<&Decision> {
        let mut decisions = self.decisions_on(target);
        let own_contest = decisions.find(|decision| decision.workload == *workload);
        own_contest.or_else(|| {
            self.decisions_on(target)
                .find(|decision| decision.covers(workload))
        })
    }

    fn decisions_on<'r>(&'r self, target: &str) -> impl Iterator<Item = &'r Decision> {
        self.decisions
            .iter()
            .filter(move |decision| decision.target == target)
    }

    /// Whether a filesystem was made for the run. It is removed at the end, so such a run cannot be resumed.
    pub fn has_made_filesystems(&self) -> bool {
        self.targets
            .iter()
            .any(|target| target.made_filesystem.is_some())
    }

    /// Whether the run searches for the best case. Such a run cannot be resumed.
    pub fn is_search(&self) -> bool {
        self.settings.search_bytes.is_some()
            || self.cases.iter().any(|case| case.origin.is_search())
    }

    /// The goal whose contest has this case. None if the case is of a suite or named, because a comparison has no goal.
    pub fn goal_of(&self, case: &CaseRecord) -> Option<Goal> {
        if !case.origin.is_of_goal() && !case.origin.is_search() {
            return None;
        }
        let target = self.target(&case.target).or(self.targets.first());
        let goal = Goal::of_workload(&case.workload)?;
        match target {
            // A search for it writes 1.5 times the memory, from one buffer that a producer refills.
            Some(target)
                if goal == Goal::Stream
                    && case.workload.source == DataSource::Chunk
                    && case.workload.bytes > target.memory_bytes() =>
            {
                Some(Goal::LargerThanMemory)
            }
            _ => Some(goal),
        }
    }

    /// The run as if it had only that goal. None if it has not.
    pub fn for_goal(&self, goal: Goal) -> Option<Self> {
        let is_of_goal = |case: &&CaseRecord| self.goal_of(case) == Some(goal);
        if self.is_search() {
            // Candidates may do more than the goal asks for.
            let mut baselines = self.cases.iter().filter(|case| case.origin.is_baseline());
            return baselines.find(is_of_goal).map(|_| self.clone());
        }
        let cases: Vec<CaseRecord> = self.cases.iter().filter(is_of_goal).cloned().collect();
        (!cases.is_empty()).then(|| Self {
            cases,
            ..self.clone()
        })
    }

    /// Whether tables have a column for each target.
    pub fn is_side_by_side(&self) -> bool {
        self.targets.len() + self.missing.len() > 1
    }

    /// The run as if it had only that target.
    pub fn on_target(&self, name: &str) -> Option<Self> {
        let target = self.target(name)?.clone();
        let cases = self
            .cases
            .iter()
            .filter(|case| case.target == name)
            .cloned()
            .collect();
        Some(Self {
            targets: vec![target],
            missing: Vec::new(),
            cases,
            decisions: self.decisions_on(name).cloned().collect(),
            ..self.clone()
        })
    }
}
