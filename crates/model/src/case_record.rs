use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::axis::Axis;
use crate::bounded::{MOST_SAMPLES, at_most};
use crate::case::Case;
use crate::earlier_names::{self, todays_name};
use crate::kernel_threads::{KernelShare, KernelThreads};
use crate::sample::{Sample, SampleDocument};
use crate::value::{DataMemory, named_values};
use crate::workload::{Content, Workload};

/// A row of a table: a case on one target with its samples. Its serde form is that of databases and
/// documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseRecord {
    #[serde(flatten)]
    pub case: RecordedCase,
    pub target: String,
    #[serde(flatten)]
    pub origin: CaseOrigin,
    #[serde(default, deserialize_with = "earlier_names::label")]
    pub label: Option<String>,
    /// Documents have had this name since version 0.1.
    #[serde(rename = "contract")]
    pub workload: Workload,
    #[serde(serialize_with = "rows", deserialize_with = "samples")]
    pub samples: Vec<Sample>,
}

fn samples<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Sample>, D::Error> {
    at_most(from, MOST_SAMPLES, "samples of a case")
}

fn rows<S: Serializer>(samples: &[Sample], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(samples.iter().map(SampleDocument::from))
}

/// The reason why a row is in a run, which decides its table: a suite has a layout, a search a stage, and a
/// case by name neither.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseOrigin {
    /// The suite's name, or a word in its place.
    suite: String,
    section: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<Layout>,
    /// The stage of a search for the best case. Other runs have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    /// Whether this is plain write, the reference of all comparisons in a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_baseline: Option<bool>,
}

named_values! {
    /// The stages of a search.
    Stage {
        /// In searches before version 0.4: one or two samples of each candidate, mostly with smaller files.
        Screening = "screening",
        /// All candidates with files of one size.
        Final = "final",
    }

    /// The form of a suite's tables.
    #[derive(Default)]
    Layout {
        /// A table has a row per case with throughput and phases.
        #[default]
        Phases = "phases",
        /// A table has a row per case from fastest to slowest, with the distance to the fastest.
        Ranked = "ranked",
        /// A table has records per second and the latency of records.
        Records = "records",
        /// A table of throughput has a row per label and a column per chunk size.
        Matrix = "matrix",
        /// There is a table each for elapsed, user CPU and system CPU time.
        CpuTime = "cpu-time",
    }
}

impl CaseOrigin {
    /// The word of a search in place of a suite's name.
    pub const SEARCH: &'static str = "advise";
    /// The word of a run of goals in place of a suite's name.
    pub const GOALS: &'static str = "goals";

    pub fn of_suite(suite: &str, section: &str, layout: Layout) -> Self {
        Self {
            suite: suite.to_owned(),
            section: section.to_owned(),
            layout: Some(layout),
            ..Self::default()
        }
    }

    /// The origin of a case that the user named.
    pub fn named() -> Self {
        Self {
            suite: "case".to_owned(),
            section: "Cases by name".to_owned(),
            ..Self::default()
        }
    }

    pub fn of_search(stage: Stage, is_baseline: bool) -> Self {
        let section = match stage {
            Stage::Screening => "Screening".to_owned(),
            Stage::Final => "Finals".to_owned(),
        };
        Self {
            suite: Self::SEARCH.to_owned(),
            section,
            stage: Some(stage),
            is_baseline: Some(is_baseline),
            ..Self::default()
        }
    }

    /// The origin of a case that joined the contest of a case with this origin.
    pub(crate) fn of_joined(&self) -> Self {
        Self {
            is_baseline: Some(false),
            ..self.clone()
        }
    }

    pub fn suite(&self) -> &str {
        &self.suite
    }

    pub fn section(&self) -> &str {
        &self.section
    }

    /// The suite and the section, which together identify a table.
    pub fn table(&self) -> (&str, &str) {
        (&self.suite, &self.section)
    }

    pub fn layout(&self) -> Layout {
        if self.is_search() {
            Layout::Ranked
        } else {
            self.layout.unwrap_or_default()
        }
    }

    pub fn is_search(&self) -> bool {
        self.stage.is_some()
    }

    /// Whether the case is a method of a goal.
    pub fn is_of_goal(&self) -> bool {
        self.suite == Self::GOALS
    }

    pub fn is_stage(&self, wanted: Stage) -> bool {
        self.stage == Some(wanted)
    }

    pub fn is_baseline(&self) -> bool {
        self.is_baseline == Some(true)
    }

    /// Whether the case is a candidate of a search, or joined the contest of a goal. Few samples of it show only that
    /// others are better. The first cases of a goal are no candidates.
    pub fn is_candidate(&self) -> bool {
        self.is_baseline == Some(false) || self.is_search() && !self.is_baseline()
    }
}

/// A case of this version, or the texts of an unknown one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "CaseTexts", into = "CaseTexts")]
pub enum RecordedCase {
    /// The name is as it was recorded.
    Known {
        name: String,
        case: Case,
    },
    Unknown(CaseTexts),
}

/// A case in databases and documents, which other versions can read as well.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CaseTexts {
    #[serde(alias = "id")]
    pub name: String,
    pub method: String,
    /// The values by the names of their axes.
    pub axes: BTreeMap<String, String>,
}

impl RecordedCase {
    /// A case that is unknown at least until [`RecordedCase::resolve`].
    pub fn unknown(name: String, method: String, axes: BTreeMap<String, String>) -> Self {
        Self::Unknown(CaseTexts { name, method, axes })
    }

    /// Makes the case known if its name still means the recorded values. Versions with other defaults may
    /// have given the name to another case. Newer axes have their defaults.
    pub fn resolve(&mut self) {
        let Ok(case) = Case::parse(self.name()) else {
            return;
        };
        let axes = self.axes();
        let values = axes
            .iter()
            .map(|(axis, value)| Some((Axis::from_name(axis)?, value)));
        let Some(values) = values.collect::<Option<Vec<_>>>() else {
            return;
        };
        if case.method().name() == self.method()
            && Case::new(case.method(), &values).as_ref() == Ok(&case)
        {
            let name = self.name().to_owned();
            *self = Self::Known { name, case };
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Known { name, .. } => name,
            Self::Unknown(texts) => &texts.name,
        }
    }

    /// The case. None if this version does not know it.
    pub fn known(&self) -> Option<&Case> {
        match self {
            Self::Known { case, .. } => Some(case),
            Self::Unknown(_) => None,
        }
    }

    pub fn method(&self) -> &str {
        match self {
            Self::Known { case, .. } => case.method().name(),
            Self::Unknown(texts) => &texts.method,
        }
    }

    /// The texts of the values by the names of their axes.
    pub fn axes(&self) -> BTreeMap<String, String> {
        match self {
            Self::Known { case, .. } => case
                .method()
                .own_axes()
                .map(|axis| (axis.to_string(), case.value(axis)))
                .collect(),
            Self::Unknown(texts) => texts.axes.clone(),
        }
    }

    pub fn value(&self, axis: Axis) -> Option<String> {
        match self {
            Self::Known { case, .. } => case.method().has_axis(axis).then(|| case.value(axis)),
            Self::Unknown(texts) => texts.axes.get(axis.name()).cloned(),
        }
    }

    /// The name without the values of some axes, which cases share that differ only on these.
    pub fn name_without(&self, axes: &[Axis]) -> String {
        let other_parts: Vec<&str> = self
            .name()
            .split(',')
            .filter(|part| {
                let axis_name = part.split_once('=').map(|(name, _)| name);
                axis_name.is_none_or(|name| axes.iter().all(|axis| axis.name() != name))
            })
            .collect();
        other_parts.join(",")
    }
}

impl From<Case> for RecordedCase {
    fn from(case: Case) -> Self {
        Self::Known {
            name: case.to_string(),
            case,
        }
    }
}

impl From<CaseTexts> for RecordedCase {
    fn from(texts: CaseTexts) -> Self {
        Self::Unknown(CaseTexts {
            name: todays_name(&texts.name).into_owned(),
            method: todays_name(&texts.method).into_owned(),
            axes: texts.axes,
        })
    }
}

impl From<RecordedCase> for CaseTexts {
    fn from(case: RecordedCase) -> Self {
        match case {
            RecordedCase::Known { .. } => Self {
                name: case.name().to_owned(),
                method: case.method().to_owned(),
                axes: case.axes(),
            },
            RecordedCase::Unknown(texts) => texts,
        }
    }
}

impl fmt::Display for RecordedCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The rows without those that repeat a case of an earlier row on the same target.
pub fn distinct_rows<'r>(
    rows: impl IntoIterator<Item = &'r CaseRecord>,
) -> impl Iterator<Item = &'r CaseRecord> {
    let mut known = HashSet::new();
    rows.into_iter()
        .filter(move |row| known.insert((&row.target, &row.case)))
}

impl CaseRecord {
    /// Gives a case of JSON schema 5 today's name, axes and workload: its data began at a page, unless an
    /// axis `alignment` stated otherwise. `migrations/009.sql` does the same for databases.
    pub fn say_where_its_data_was(&mut self) {
        let RecordedCase::Unknown(texts) = &mut self.case else {
            return;
        };
        let memory = match (
            texts.axes.remove("alignment").as_deref(),
            texts.axes.get("memory").map(String::as_str),
        ) {
            (Some("off-by-one"), Some("huge-pages")) => return,
            (Some("off-by-one"), _) => DataMemory::Any,
            (_, Some("huge-pages")) => DataMemory::HugePages,
            (_, None) if texts.method != "fwrite" => return,
            _ => DataMemory::PageAligned,
        };
        texts.axes.insert("memory".to_owned(), memory.to_string());
        self.workload.memory = memory;
        let label = self.label.as_mut().filter(|_| self.origin.is_search());
        for name in label.into_iter().chain([&mut texts.name]) {
            *name = name.replace(",alignment=off-by-one", "");
            if memory == DataMemory::PageAligned {
                *name += ",memory=page-aligned";
            }
        }
    }

    /// The row as it joins a run.
    pub fn without_samples(&self) -> Self {
        Self {
            case: self.case.clone(),
            target: self.target.clone(),
            origin: self.origin.clone(),
            label: self.label.clone(),
            workload: self.workload.clone(),
            samples: Vec::new(),
        }
    }

    /// The user's program that the row measures. None for writebench's own methods.
    pub fn program(&self) -> Option<&str> {
        self.label.as_deref().filter(|_| {
            self.case
                .known()
                .is_some_and(|case| case.method().is_program())
        })
    }

    /// The bytes that the row's samples wrote, old content included.
    pub fn sample_bytes(&self) -> u64 {
        let each = self
            .case
            .known()
            .map_or(self.workload.bytes, Case::bytes_written);
        each.saturating_mul(self.samples.len() as u64)
    }

    /// How much of the work of io_uring the kernel's threads did. None for other methods, and without a good sample.
    pub fn kernel_share(&self) -> Option<KernelShare> {
        let good = Sample::good(&self.samples);
        let threads = good
            .iter()
            .map(|sample| sample.kernel_threads.as_deref().copied());
        threads.sum::<Option<KernelThreads>>()?.share()
    }

    /// The content that the files really have. The filesystem or a program may have shared or left out the bytes of the
    /// workload.
    pub fn found_content(&self) -> Content {
        let promised = self.workload.content;
        let good = Sample::good(&self.samples);
        if !promised.has_own_bytes() && promised != Content::Sparse {
            promised
        } else if good.iter().any(|sample| sample.shares_blocks == Some(true)) {
            Content::SharedCopy
        } else if good.iter().any(|sample| sample.hole_bytes.is_some()) {
            Content::Sparse
        } else {
            promised
        }
    }
}
