use std::fmt;

use serde::{Deserialize, Serialize};

use crate::file_set::FileSize;
use crate::quantity::{Bytes, counted};
use crate::value::{Access, Checksums, DataMemory, named_values};

/// The state of a file after a case. Only cases of one workload are ranked together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Workload {
    pub content: Content,
    /// The percentage of zeros in otherwise incompressible content. Older documents lack the field.
    #[serde(default)]
    pub zero_percent: u8,
    /// The length of all files together.
    pub bytes: u64,
    pub files: u32,
    /// The size of each file in a set. It is `None` for methods that write no set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size: Option<FileSize>,
    #[serde(default)]
    pub visibility: Visibility,
    /// The state of the file before the case. An existing file has its blocks, and perhaps its pages.
    #[serde(rename = "initial_state", alias = "start")]
    pub start: Start,
    pub source: DataSource,
    /// The promises about the memory that holds the data. Documents of schema 5 lack the field.
    #[serde(default)]
    pub memory: DataMemory,
    /// Whether the filesystem makes checksums of the data as usual. Older documents lack the field.
    #[serde(default)]
    pub checksums: Checksums,
    pub durability: Durability,
    /// The bytes that a thread writes between two moments at which all of them are durable. With `None` they are
    /// durable only at the end.
    pub durable_every_bytes: Option<u64>,
    /// The rate at which records arrive. With `None` each record follows the one before at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records_per_s: Option<u32>,
    /// The pages at random places. With `None` the data is written from the beginning to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
}

/// What is given about pages at random places, and what a power loss may do to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pages {
    pub access: Access,
    pub bytes: u64,
    pub torn: Torn,
}

named_values! {
    /// Whether a power loss may leave a page with an old part and a new one.
    Torn {
        Allowed = "allowed",
        Never = "never",
    }

    Content {
        Random = "random",
        Zero = "zero",
        /// The file has blocks that read as zeros.
        Reserved = "reserved",
        /// The file has a length without blocks.
        Hole = "hole",
        /// The file is empty.
        Nothing = "nothing",
        Copy = "copy",
        /// The file shares its blocks with another file until one of them is written.
        SharedCopy = "shared-copy",
        /// The file has holes: a copy keeps those of its source, or a program or the kernel left bytes out.
        Sparse = "sparse",
    }

    /// The place from which the data comes.
    DataSource {
        /// The data is in memory as large as the file.
        Memory = "file",
        /// One chunk of memory is written again and again.
        Chunk = "chunk",
        /// The data is in a file whose pages are in the page cache.
        WarmFile = "warm-file",
        /// The data is in a file whose pages are not in the page cache.
        ColdFile = "cold-file",
    }

    /// The state of the file before the case.
    Start {
        New = "new",
        /// The file exists with the same size and other content.
        Existing = "existing",
    }

    /// What other programs and a crash may find under a file's name.
    #[derive(Default)]
    Visibility {
        /// They may find a part of the new content.
        #[default]
        Partial = "partial",
        /// They find nothing, the old content, or all of the new.
        Complete = "complete",
    }

    /// How far the data has come when the case ends.
    Durability {
        /// Only the page cache has the data.
        Cached = "cached",
        /// The device has the data, maybe in a volatile cache.
        Device = "device",
        /// A sync call has returned.
        Durable = "durable",
    }
}

/// Why work does not answer a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Shortfall {
    #[error("the file has other content")]
    Content,
    #[error("there are other files, or another number of bytes")]
    Files,
    #[error("the file is new where the other one exists, or the reverse")]
    Start,
    #[error("the data comes from elsewhere")]
    Source,
    #[error("the filesystem makes checksums, or does not, unlike with the other")]
    Checksums,
    #[error("records arrive at another rate")]
    Arrivals,
    #[error("the data needs memory with more promises")]
    Memory,
    #[error("a reader or a crash may find a part of the new content")]
    Visibility,
    #[error("the data is less durable when the last call returns")]
    Durability,
    #[error("a crash may cost more bytes")]
    AtRisk,
    #[error("the pages have another size, or other places")]
    Pages,
    #[error("a commit has another number of pages")]
    Commit,
    #[error("a power loss can tear a page")]
    Torn,
}

impl DataSource {
    /// Whether the work is a copy.
    pub fn is_file(self) -> bool {
        matches!(self, Self::WarmFile | Self::ColdFile)
    }
}

impl Content {
    /// Whether bytes are moved into the file. Otherwise a throughput means little.
    pub fn has_own_bytes(self) -> bool {
        matches!(self, Self::Random | Self::Zero | Self::Copy)
    }

    /// Whether the file has blocks or pages, which take space.
    pub fn takes_space(self) -> bool {
        !matches!(self, Self::Hole | Self::Nothing)
    }

    /// Whether the file has data that somebody wrote or copied, so not only a length or blocks that read as zeros.
    pub fn is_data(self) -> bool {
        !matches!(self, Self::Reserved | Self::Hole | Self::Nothing)
    }
}

impl Workload {
    /// Whether work with this result is enough where `wanted` must be true.
    ///
    /// # Errors
    ///
    /// The first property in which it is not.
    pub fn check(&self, wanted: &Self) -> Result<(), Shortfall> {
        // A copy may share its blocks, as with cp. It then also has the holes of its source.
        let shares_blocks = self.content == Content::SharedCopy
            && matches!(wanted.content, Content::Copy | Content::Sparse);
        let has_content = shares_blocks
            || self.content == wanted.content && self.zero_percent == wanted.zero_percent;
        let has_files = self.bytes == wanted.bytes
            && self.files == wanted.files
            && self.file_size == wanted.file_size;
        let is_durable_as_often = match (self.durable_every_bytes, wanted.durable_every_bytes) {
            (_, None) => true,
            (own, Some(wanted)) => own.is_some_and(|own| own <= wanted),
        };
        let own_pages = self.pages.map(|pages| (pages.access, pages.bytes));
        let wanted_pages = wanted.pages.map(|pages| (pages.access, pages.bytes));
        // The latency of a commit depends on its pages.
        let has_commits =
            wanted.pages.is_none() || self.durable_every_bytes == wanted.durable_every_bytes;
        let properties = [
            (has_content, Shortfall::Content),
            (has_files, Shortfall::Files),
            (self.start == wanted.start, Shortfall::Start),
            (self.source == wanted.source, Shortfall::Source),
            (self.checksums == wanted.checksums, Shortfall::Checksums),
            (
                self.records_per_s == wanted.records_per_s,
                Shortfall::Arrivals,
            ),
            (self.memory as u8 <= wanted.memory as u8, Shortfall::Memory),
            (
                self.visibility as u8 >= wanted.visibility as u8,
                Shortfall::Visibility,
            ),
            (
                self.durability as u8 >= wanted.durability as u8,
                Shortfall::Durability,
            ),
            (is_durable_as_often, Shortfall::AtRisk),
            (own_pages == wanted_pages, Shortfall::Pages),
            (has_commits, Shortfall::Commit),
            (
                self.is_of_pages(Torn::Never) || !wanted.is_of_pages(Torn::Never),
                Shortfall::Torn,
            ),
        ];
        match properties.into_iter().find(|(is_kept, _)| !is_kept) {
            Some((_, shortfall)) => Err(shortfall),
            None => Ok(()),
        }
    }

    /// ` with 50 % zeros`, or nothing for content without zeros.
    pub fn zeros_in_words(&self) -> String {
        if self.zero_percent == 0 {
            String::new()
        } else {
            format!(" with {} % zeros", self.zero_percent)
        }
    }

    /// The durability, with the rate of arriving records: `durable every 4 KiB, with 1000 arrivals a second`.
    pub fn durability_in_words(&self) -> String {
        let arrivals = self.records_per_s.map_or(String::new(), |rate| {
            format!(", with {rate} arrivals a second")
        });
        let durability = match (self.durability, self.durable_every_bytes) {
            (Durability::Cached, _) => "in the page cache".to_owned() + self.danger(),
            (Durability::Device, _) => "handed to the device".to_owned() + self.danger(),
            (Durability::Durable, None) => "durable".to_owned(),
            (Durability::Durable, Some(bytes)) if self.pages.is_some() => {
                self.commits_in_words(bytes)
            }
            (Durability::Durable, Some(1)) => "durable every byte".to_owned(),
            (Durability::Durable, Some(bytes)) => {
                format!("durable every {}", Bytes(bytes).in_words())
            }
        };
        durability + &arrivals
    }

    /// `durable every 16 pages, never torn`.
    fn commits_in_words(&self, every_bytes: u64) -> String {
        let Some(pages) = self.pages else {
            return String::new();
        };
        let every = match every_bytes / pages.bytes.max(1) {
            1 => "durable every page".to_owned(),
            count => format!("durable every {count} pages"),
        };
        match pages.torn {
            Torn::Allowed => every,
            Torn::Never => every + ", never torn",
        }
    }

    /// ` in pages of 8 KiB at random`, or nothing for data from the beginning to the end.
    pub fn pages_in_words(&self) -> String {
        self.pages.map_or(String::new(), |pages| {
            let bytes = Bytes(pages.bytes).in_words();
            let places = match pages.access {
                Access::Sequential => "",
                Access::Uniform => " at random",
                Access::Zipf => " by Zipf's law",
            };
            format!(" in pages of {bytes}{places}")
        })
    }

    /// Whether pages are written at random places, and may be torn like this.
    pub fn is_of_pages(&self, torn: Torn) -> bool {
        self.pages.is_some_and(|pages| pages.torn == torn)
    }

    /// The bytes of what is counted as a record: a page, or what a sync makes durable.
    pub fn record_bytes(&self) -> Option<u64> {
        match self.pages {
            Some(pages) => Some(pages.bytes),
            None => self.durable_every_bytes,
        }
    }

    /// A clause for each answer about replaced files, because they look safe.
    pub const NOT_SAFE: &str = ", not safe against power loss";

    /// Whether a power loss can lose the old content of a file as well as the new one, although each reader finds one of
    /// them.
    pub fn can_lose_old_content(&self) -> bool {
        self.start == Start::Existing
            && self.visibility == Visibility::Complete
            && self.durability != Durability::Durable
    }

    /// [`Self::NOT_SAFE`], or empty.
    pub fn danger(&self) -> &'static str {
        if self.can_lose_old_content() {
            Self::NOT_SAFE
        } else {
            ""
        }
    }

    /// The content in the words that follow a number of bytes: `of zeros`.
    fn content_in_words(&self) -> &'static str {
        match (self.content, self.source) {
            (Content::Random, _) if self.zero_percent > 0 => "of data",
            (Content::Random, DataSource::Chunk) => "of incompressible data (one chunk repeated)",
            (Content::Random, _) => "of incompressible data",
            (Content::Zero, DataSource::Chunk) => "of zeros (one chunk repeated)",
            (Content::Zero, _) => "of zeros",
            (Content::Reserved, _) => "of reserved blocks",
            (Content::Hole, _) => "of length without blocks",
            (Content::Nothing, _) => "passed over without a call",
            (Content::Copy, DataSource::ColdFile) => "copied from a file outside the page cache",
            (Content::Copy, _) => "copied from a file in the page cache",
            (Content::SharedCopy, _) => "with blocks shared with the source",
            (Content::Sparse, DataSource::WarmFile) => {
                "copied with the holes of a file in the page cache"
            }
            (Content::Sparse, DataSource::ColdFile) => {
                "copied with the holes of a file outside the page cache"
            }
            (Content::Sparse, _) => "with holes",
        }
    }

    /// `8 new files of 16 KiB never seen in part`.
    fn files_in_words(&self) -> String {
        let count = counted(self.files.into(), &format!("{} file", self.start));
        let size = match self.file_size {
            Some(FileSize::Whole) | None => String::new(),
            Some(size) => format!(" of {}", size.in_words()),
        };
        let visibility = match self.visibility {
            Visibility::Partial => "",
            Visibility::Complete => " never seen in part",
        };
        format!("{count}{size}{visibility}")
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = Bytes(self.bytes).in_words();
        let content = self.content_in_words();
        let zeros = self.zeros_in_words();
        write!(f, "{bytes} {content}{zeros}")?;
        if let Some(memory) = self.memory.words() {
            write!(f, " {memory}")?;
        }
        write!(f, "{}", self.pages_in_words())?;
        write!(f, " in {}", self.files_in_words())?;
        if let Some(checksums) = self.checksums.words() {
            write!(f, " {checksums}")?;
        }
        write!(f, ", {}", self.durability_in_words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Case;

    #[test]
    fn a_file_without_checksums_is_another_workload() {
        let [plain, without] =
            ["write", "write,checksums=no"].map(|name| Case::parse(name).unwrap().workload());
        assert_eq!(plain.check(&without), Err(Shortfall::Checksums));
        assert_eq!(without.check(&plain), Err(Shortfall::Checksums));
        assert_eq!(without.check(&without), Ok(()));
        assert!(
            without
                .to_string()
                .ends_with("in 1 new file without checksums, in the page cache"),
            "{without}"
        );
        let mut older = serde_json::to_value(&plain).unwrap();
        older.as_object_mut().unwrap().remove("checksums");
        assert_eq!(serde_json::from_value::<Workload>(older).unwrap(), plain);
    }
}
