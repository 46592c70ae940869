//! The state that a case leaves for its caller.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quantity::Bytes;
use crate::value::{Checksums, DataMemory, named_values};

/// The contract of a case. Only cases of one contract are ranked together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Contract {
    pub content: Content,
    /// The percentage of zeros in otherwise incompressible content. Older documents have no such field.
    #[serde(default)]
    pub zero_percent: u8,
    /// The total bytes over all files.
    pub bytes: u64,
    pub files: u32,
    /// Whether a file existed before: its blocks, and perhaps its pages, exist already.
    pub start: Start,
    pub source: DataSource,
    /// The memory that the data must be in; documents of schema 5 have no such field.
    #[serde(default)]
    pub memory: DataMemory,
    /// Whether the filesystem makes checksums of the data as usual. Older documents have no such field.
    #[serde(default)]
    pub checksums: Checksums,
    /// The data that survives a loss of power.
    pub durability: Durability,
    /// The bytes of a thread between moments at which all of them are durable; none if only the end is.
    pub durable_every_bytes: Option<u64>,
}

named_values! {
    /// The content of a file.
    Content {
        /// Incompressible data.
        Random = "random",
        /// Zeros that were written.
        Zero = "zero",
        /// Reserved blocks that read as zeros.
        Reserved = "reserved",
        /// A length and no blocks.
        Hole = "hole",
        /// No bytes at all: the file is empty.
        Nothing = "nothing",
        /// The content of another file.
        Copy = "copy",
        /// The blocks of another file, shared with it until one of them is written.
        SharedCopy = "shared-copy",
    }

    /// The source of the data.
    DataSource {
        /// Memory as large as the file.
        Memory = "file",
        /// One chunk in memory, repeatedly.
        Chunk = "chunk",
        /// Another file that is in the page cache.
        WarmFile = "warm-file",
        /// Another file that is not in the page cache.
        ColdFile = "cold-file",
    }

    /// The state before.
    Start {
        /// No file.
        New = "new",
        /// A file of the same size.
        Existing = "existing",
    }

    /// The data that survives a loss of power.
    Durability {
        /// None is guaranteed: the data is in the page cache.
        Cached = "cached",
        /// None is guaranteed: the device has the data, but may keep it in a volatile cache.
        Device = "device",
        /// All data: a sync call has returned.
        Durable = "durable",
    }
}

impl Content {
    /// Whether bytes are moved into the file: otherwise the time says more than a throughput.
    pub fn has_own_bytes(self) -> bool {
        match self {
            Self::Random | Self::Zero | Self::Copy => true,
            Self::Reserved | Self::Hole | Self::Nothing | Self::SharedCopy => false,
        }
    }

    /// Whether the file's blocks or pages take space.
    pub fn takes_space(self) -> bool {
        !matches!(self, Self::Hole | Self::Nothing)
    }

    /// Whether data reaches the file.
    pub fn is_data(self) -> bool {
        !matches!(self, Self::Reserved | Self::Hole | Self::Nothing)
    }
}

impl Contract {
    /// Whether this contract is at least as strong as the other: the same bytes, at least as durable, and from
    /// memory of which no more is asked. A copy may share its blocks, as with cp.
    pub fn satisfies(&self, wanted: &Self) -> bool {
        let Self { content, zero_percent, bytes, files, start, source, .. } = self;
        let Self { memory, checksums, durability, durable_every_bytes, .. } = self;
        let is_copy = *content == Content::SharedCopy && wanted.content == Content::Copy;
        let is_same = (is_copy || *content == wanted.content)
            && (bytes, files, start, source) == (&wanted.bytes, &wanted.files, &wanted.start, &wanted.source)
            && (zero_percent, checksums) == (&wanted.zero_percent, &wanted.checksums);
        let is_as_often = match (durable_every_bytes, wanted.durable_every_bytes) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(wanted)) => *own <= wanted,
        };
        let is_content_with = *memory as u8 <= wanted.memory as u8;
        is_same && is_content_with && *durability as u8 >= wanted.durability as u8 && is_as_often
    }

    /// How well the content compresses, in words, if there is more to it than its kind.
    #[must_use]
    pub fn zeros_in_words(&self) -> String {
        if self.zero_percent == 0 { String::new() } else { format!(" with {} % zeros", self.zero_percent) }
    }

    /// The place of the data, or how often it is durable, in words.
    pub fn kept(&self) -> String {
        match (self.durability, self.durable_every_bytes) {
            (Durability::Cached, _) => "in the page cache".to_owned(),
            (Durability::Device, _) => "handed to the device".to_owned(),
            (Durability::Durable, None) => "durable".to_owned(),
            (Durability::Durable, Some(1)) => "durable every byte".to_owned(),
            (Durability::Durable, Some(bytes)) if !bytes.is_multiple_of(1024) => {
                format!("durable every {bytes} bytes")
            }
            (Durability::Durable, Some(bytes)) => format!("durable every {}", Bytes(bytes)),
        }
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = match (self.content, self.source) {
            (Content::Random, _) if self.zero_percent > 0 => "of data",
            (Content::Random, DataSource::Chunk) => "of incompressible data (one chunk again and again)",
            (Content::Random, _) => "of incompressible data",
            (Content::Zero, DataSource::Chunk) => "of zeros (one chunk again and again)",
            (Content::Zero, _) => "of zeros",
            (Content::Reserved, _) => "of reserved blocks",
            (Content::Hole, _) => "of length without blocks",
            (Content::Nothing, _) => "passed over without a call",
            (Content::Copy, DataSource::ColdFile) => "copied from a file that is not in the page cache",
            (Content::Copy, _) => "copied from a file in the page cache",
            (Content::SharedCopy, _) => "that share their blocks with the copied file",
        };
        let memory = self.memory.words().map_or(String::new(), |words| format!(" {words}"));
        let start = self.start;
        let files =
            if self.files == 1 { format!("1 {start} file") } else { format!("{} {start} files", self.files) };
        let checksums = self.checksums.words().map_or(String::new(), |words| format!(" {words}"));
        let zeros = self.zeros_in_words();
        write!(f, "{} {content}{zeros}{memory} in {files}{checksums}, {}", Bytes(self.bytes), self.kept())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Case;

    #[test]
    fn a_file_without_checksums_is_another_contract() {
        let [plain, without] =
            ["write", "write,checksums=no"].map(|name| Case::parse(name).unwrap().contract());
        assert!(!plain.satisfies(&without) && !without.satisfies(&plain) && without.satisfies(&without));
        assert!(
            without.to_string().ends_with("in 1 new file without checksums, in the page cache"),
            "{without}"
        );
        let mut older = serde_json::to_value(&plain).unwrap();
        older.as_object_mut().unwrap().remove("checksums");
        assert_eq!(serde_json::from_value::<Contract>(older).unwrap(), plain);
    }
}
