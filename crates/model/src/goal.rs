//! Goals: workloads with a name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::axis::Axis;
use crate::case::Case;
use crate::suite::{AxisValues, CasePrefix};
use crate::value::named_values;
use crate::workload::{Content, Durability, Start, Torn, Visibility, Workload};

const PORTFOLIO: &str = include_str!("../portfolio.toml");

/// Declares the goals in the order of `writebench list goals`. `baseline` is the strategy of plain write, and `work` the
/// values of the workload, which all cases of the goal have. What the baseline achieves is what they must achieve.
macro_rules! goals {
    ($(
        $(#[doc = $doc:literal])+
        $goal:ident = $name:literal, also [$($alias:literal),*] {
            title: $title:literal,
            summary: $summary:literal,
            baseline: $baseline:literal,
            work: $work:literal,
        }
    )+) => {
        named_values! {
            /// A workload with a name.
            Goal { $($(#[doc = $doc])+ $goal = $name,)+ }
        }

        impl Goal {
            /// A run leaves out a goal if its limits pay for fewer samples than this: three rounds of nine cases, and
            /// three more of six cases.
            pub const LEAST_SAMPLES: u64 = 45;

            /// Everyday words for it.
            pub fn aliases(self) -> &'static [&'static str] {
                match self { $(Self::$goal => &[$($alias),*],)+ }
            }

            /// A heading for its tables.
            pub fn title(self) -> &'static str {
                match self { $(Self::$goal => $title,)+ }
            }

            /// What is true afterwards, in words.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$goal => $summary,)+ }
            }

            fn baseline_text(self) -> &'static str {
                match self { $(Self::$goal => $baseline,)+ }
            }

            fn work_text(self) -> &'static str {
                match self { $(Self::$goal => $work,)+ }
            }
        }
    };
}

goals! {
    /// A new file, maybe only in the page cache.
    Stream = "stream", also ["download", "export", "write"] {
        title: "Stream data into a new file",
        summary: "the data is written, perhaps only to the page cache",
        baseline: "write",
        work: "size=64MiB",
    }
    /// A new file, durable at the end.
    DurableStream = "durable-stream", also ["checkpoint", "dump"] {
        title: "Stream data into a new file, durable at the end",
        summary: "the data survives a power loss when the last call has returned",
        baseline: "write,sync=fsync",
        work: "size=64MiB",
    }
    /// New content of a file, maybe only in the page cache.
    Overwrite = "overwrite", also [] {
        title: "Overwrite a file in place",
        summary: "the data is written over the old content, perhaps only to the page cache",
        baseline: "write",
        work: "size=64MiB,prepare=overwrite",
    }
    /// New content of a file, durable at the end.
    DurableOverwrite = "durable-overwrite", also [] {
        title: "Overwrite a file in place, durable at the end",
        summary: "the data survives a power loss when the last call has returned",
        baseline: "write,sync=fsync",
        work: "size=64MiB,prepare=overwrite",
    }
    /// Records that are appended to a new file, each durable before the next.
    Records = "records", also ["append", "journal", "log", "wal"] {
        title: "Append durable records to a new file",
        summary: "each record survives a power loss before the next is written",
        baseline: "write,sync=fsync/1",
        work: "size=4MiB,chunk=4KiB",
    }
    /// Pages of an existing file at random places, durable in commits.
    Pages = "pages", also ["btree", "database", "page-store", "random"] {
        title: "Overwrite pages of a file at random, durable in commits",
        summary: "the pages of a commit survive a power loss before the next commit, which can be left with torn pages",
        baseline: "pwrite,sync=fsync/16",
        work: "size=64MiB,chunk=8KiB,access=uniform,prepare=overwrite",
    }
    /// The same, where each page is old or new after a power loss.
    UntornPages = "untorn-pages", also ["atomic-pages"] {
        title: "Overwrite pages of a file at random, durable in commits and never torn",
        summary: "the pages of a commit survive a power loss before the next commit, whose pages are each old or new",
        baseline: "pwrite,protect=double-write,sync=fsync/16",
        work: "size=64MiB,chunk=8KiB,access=uniform,prepare=overwrite",
    }
    /// A copy of a source in the page cache, maybe only in the page cache itself.
    Copy = "copy", also ["cp"] {
        title: "Copy a file into a new one",
        summary: "the copy is written, perhaps only to the page cache",
        baseline: "read-write",
        work: "size=64MiB",
    }
    /// A copy of a source in the page cache, durable at the end.
    DurableCopy = "durable-copy", also ["backup"] {
        title: "Copy a file into a new one, durable at the end",
        summary: "the copy survives a power loss when the last call has returned",
        baseline: "read-write,sync=fsync",
        work: "size=64MiB",
    }
    /// A new file that does not fit into the page cache.
    LargerThanMemory = "larger-than-memory", also [] {
        title: "Stream data into a new file larger than memory",
        summary: "the data is written, its end perhaps only to the page cache",
        baseline: "write",
        work: "size=1GiB,source=chunk",
    }
    /// Many new files, maybe only in the page cache.
    Files = "files", also ["checkout", "unpack", "untar", "unzip"] {
        title: "Write many files",
        summary: "the files are written, perhaps only to the page cache",
        baseline: "write-files",
        work: "size=32MiB,file-size=16KiB",
    }
    /// Many new files, durable at the end.
    DurableFiles = "durable-files", also [] {
        title: "Write many files, durable at the end",
        summary: "all files and their names survive a power loss when the last call has returned",
        baseline: "write-files,sync-files=each",
        work: "size=4MiB,file-size=16KiB",
    }
    /// An existing file is replaced and never seen in part.
    Replace = "replace", also [] {
        title: "Replace a file",
        summary: "a reader finds the old content or the new, never a part, but a power loss can leave neither",
        baseline: "write-files,naming=rename",
        work: "size=1MiB,file-size=whole,prepare=overwrite",
    }
    /// An existing file is replaced, never seen in part, and durable at the end.
    DurableReplace = "durable-replace", also ["config", "save"] {
        title: "Replace a file, durable at the end",
        summary: "a reader and a power loss find the old content or the new, and the new one when the last call has returned",
        baseline: "write-files,naming=rename,sync-files=each",
        work: "size=1MiB,file-size=whole,prepare=overwrite",
    }
}

/// The baselines with files of their default sizes, in the order of [`Goal::ALL`].
static BASELINES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    Goal::ALL
        .iter()
        .map(|goal| {
            let name = format!("{},{}", goal.baseline_text(), goal.work_text());
            Case::parse(&name).expect("a goal has a baseline")
        })
        .collect()
});

impl Goal {
    /// The goals of a run that names none: what most programs do, so that each gets enough time. A slow disk has no time
    /// for the last ones.
    pub const USUAL: &[Self] = &[
        Self::Stream,
        Self::DurableStream,
        Self::Copy,
        Self::Records,
        Self::DurableFiles,
    ];

    /// All goals that one run can answer, in the order of their importance. A file larger than memory takes minutes, and
    /// pages have been measured in too few environments.
    pub const TOGETHER: &[Self] = &[
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

    /// The goal of this name or everyday word.
    pub fn from_word(word: &str) -> Option<Self> {
        let mut goals = Self::ALL.iter().copied();
        goals.find(|goal| goal.name() == word || goal.aliases().contains(&word))
    }

    /// Plain write, with a file of the default size.
    pub fn baseline(self) -> &'static Case {
        &BASELINES[self as usize]
    }

    pub fn is_durable(self) -> bool {
        self.baseline().workload().durability == Durability::Durable
    }

    /// Whether each of its records is durable before the next.
    pub fn has_records(self) -> bool {
        self.baseline().workload().durable_every_bytes.is_some()
    }

    /// Whether it overwrites pages at random places.
    pub fn has_pages(self) -> bool {
        self.baseline().workload().pages.is_some()
    }

    /// The goal whose workload this is, apart from sizes and the source of the data. A file larger than memory is a
    /// stream. None for files without data.
    pub fn of_workload(workload: &Workload) -> Option<Self> {
        let kind = Kind::of(workload)?;
        Self::ALL
            .iter()
            .copied()
            .find(|goal| Kind::of(&goal.baseline().workload()) == Some(kind))
    }

    /// The strategy of plain write.
    pub(crate) fn baseline_prefix(self) -> CasePrefix {
        CasePrefix::parse(None, self.baseline_text()).expect("a goal has a baseline")
    }

    /// The values that all cases of the goal have, unless a user replaces them.
    pub(crate) fn work(self) -> AxisValues {
        self.work_text()
            .split(',')
            .map(|part| {
                let (name, value) = part.split_once('=').expect("axis=value");
                let axis = Axis::from_name(name).expect("an axis");
                (axis, vec![value.to_owned()])
            })
            .collect()
    }

    pub(crate) fn portfolio(self) -> Vec<CasePrefix> {
        let mut portfolios: BTreeMap<String, Vec<String>> =
            toml::from_str(PORTFOLIO).expect("the portfolio parses");
        let names = portfolios.remove(self.name()).unwrap_or_default();
        names
            .iter()
            .map(|name| CasePrefix::parse(None, name).expect("a portfolio has cases"))
            .collect()
    }
}

/// What the goals differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    work: Work,
    is_durable: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Copy,
    Records,
    Pages,
    UntornPages,
    Replace,
    Files,
    NewFile,
    Overwrite,
}

impl Kind {
    /// None for files without data.
    fn of(workload: &Workload) -> Option<Self> {
        let work = match (workload.content, workload.start, workload.visibility) {
            (Content::Copy | Content::SharedCopy, ..) => Work::Copy,
            (Content::Sparse, ..) if workload.source.is_file() => Work::Copy,
            (Content::Reserved | Content::Hole | Content::Nothing, ..) => return None,
            _ if workload.is_of_pages(Torn::Allowed) => Work::Pages,
            _ if workload.is_of_pages(Torn::Never) => Work::UntornPages,
            _ if workload.durable_every_bytes.is_some() => Work::Records,
            (_, Start::Existing, Visibility::Complete) => Work::Replace,
            (_, Start::New, _) if workload.file_size.is_some() => Work::Files,
            (_, Start::New, _) => Work::NewFile,
            (_, Start::Existing, _) => Work::Overwrite,
        };
        // Direct I/O without a sync makes records durable on some devices.
        let has_records = matches!(work, Work::Records | Work::Pages | Work::UntornPages);
        let is_durable = has_records || workload.durability == Durability::Durable;
        Some(Self { work, is_durable })
    }
}
