//! Goals: workloads with a name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::case::Case;
use crate::contract::{Content, Contract, Durability, Start, Visibility};
use crate::suite::{CasePrefix, Suite};
use crate::value::named_values;

/// In place of a suite's name, in a run of several goals.
pub const GOALS: &str = "goals";

const PORTFOLIO: &str = include_str!("../portfolio.toml");

/// Declares the goals in the order of `writebench list goals`. `spaces/NAME.toml` has a goal's plain write and all methods
/// that it may try, and `portfolio.toml` the few that it tries first.
macro_rules! goals {
    ($($(#[doc = $doc:literal])+ $goal:ident = $name:literal, also [$($alias:literal),*];)+) => {
        named_values! {
            /// A workload with a name. Its baseline's contract says what must be true afterwards.
            Goal { $($(#[doc = $doc])+ $goal = $name,)+ }
        }

        impl Goal {
            /// Everyday words for it.
            pub fn aliases(self) -> &'static [&'static str] {
                match self { $(Self::$goal => &[$($alias),*],)+ }
            }

            /// The goal's space as a suite, with the baseline as its first section.
            fn space_file(self) -> &'static str {
                match self { $(Self::$goal => include_str!(concat!("../spaces/", $name, ".toml")),)+ }
            }
        }
    };
}

goals! {
    /// A new file, maybe only in the page cache.
    Stream = "stream", also ["download", "export", "write"];
    /// A new file, durable at the end.
    DurableStream = "durable-stream", also ["checkpoint", "dump"];
    /// New content of a file, maybe only in the page cache.
    Overwrite = "overwrite", also [];
    /// New content of a file, durable at the end.
    DurableOverwrite = "durable-overwrite", also [];
    /// Records that are appended to a new file, each durable before the next.
    Records = "records", also ["append", "database", "journal", "log", "wal"];
    /// A copy of a source in the page cache, maybe only in the page cache itself.
    Copy = "copy", also ["cp"];
    /// A copy of a source in the page cache, durable at the end.
    DurableCopy = "durable-copy", also ["backup"];
    /// A new file that does not fit into the page cache.
    LargerThanMemory = "larger-than-memory", also [];
    /// Many new files, maybe only in the page cache.
    Files = "files", also ["checkout", "unpack", "untar", "unzip"];
    /// Many new files, durable at the end.
    DurableFiles = "durable-files", also [];
    /// An existing file is replaced and never seen in part.
    Replace = "replace", also [];
    /// An existing file is replaced, never seen in part, and durable at the end.
    DurableReplace = "durable-replace", also ["config", "save"];
}

/// The baselines with files of their default sizes, in the order of [`Goal::ALL`].
static BASELINES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    Goal::ALL
        .iter()
        .map(|goal| first_case(&goal.space_as_suite()).expect("a space begins with its baseline"))
        .collect()
});

fn first_case(suite: &Suite) -> Option<Case> {
    let section = suite.sections.first()?;
    let cases = section.combined(section.prefixes.first()?, &[], 1);
    cases.into_iter().next()?.ok()
}

impl Goal {
    /// The goals of a run that names none. A slow disk has no time for the last ones, so what most programs do is
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

    /// Plain write, with a file of the default size.
    pub fn baseline(self) -> &'static Case {
        &BASELINES[self as usize]
    }

    pub fn is_durable(self) -> bool {
        self.baseline().contract().durability == Durability::Durable
    }

    /// The goal whose contract this is, apart from sizes and the source of the data. A file larger than memory is a
    /// stream. None for files without data.
    pub fn of_contract(contract: &Contract) -> Option<Self> {
        let kind = Kind::of(contract)?;
        Self::ALL
            .iter()
            .copied()
            .find(|goal| Kind::of(&goal.baseline().contract()) == Some(kind))
    }

    pub(crate) fn space_as_suite(self) -> Suite {
        Suite::parse(self.space_file()).expect("a built-in space parses")
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
    Replace,
    Files,
    NewFile,
    Overwrite,
}

impl Kind {
    /// None for files without data.
    fn of(contract: &Contract) -> Option<Self> {
        let work = match (contract.content, contract.start, contract.visibility) {
            (Content::Copy | Content::SharedCopy, ..) => Work::Copy,
            (Content::Reserved | Content::Hole | Content::Nothing, ..) => return None,
            _ if contract.durable_every_bytes.is_some() => Work::Records,
            (_, Start::Existing, Visibility::Complete) => Work::Replace,
            (_, Start::New, _) if contract.file_size.is_some() => Work::Files,
            (_, Start::New, _) => Work::NewFile,
            (_, Start::Existing, _) => Work::Overwrite,
        };
        // Direct I/O without a sync makes records durable on some devices.
        let is_durable = work == Work::Records || contract.durability == Durability::Durable;
        Some(Self { work, is_durable })
    }
}
