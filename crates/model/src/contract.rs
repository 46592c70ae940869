//! What the caller has when a case is done.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::axis::{Source, named_values};
use crate::bytes::Bytes;

/// What a case leaves behind. Only cases of one contract are ranked together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Contract {
    /// What is in the file.
    pub content: Content,
    /// How much of it, over all files.
    pub bytes: u64,
    /// In how many files.
    pub files: u32,
    /// Whether there was a file before: one that exists has its blocks, and may have its pages.
    pub start: Start,
    /// How much memory the data was read from.
    pub source: Source,
    /// What survives a loss of power.
    pub durability: Durability,
}

named_values! {
    /// What is in the file.
    Content {
        /// Incompressible data.
        Random = "random",
        /// Zeros that were written.
        Zero = "zero",
        /// Reserved blocks that read as zeros.
        Reserved = "reserved",
        /// A length and no blocks.
        Hole = "hole",
    }
}

named_values! {
    /// What there was before.
    Start {
        /// No file.
        New = "new",
        /// A file of the same size.
        Existing = "existing",
    }
}

named_values! {
    /// What survives a loss of power.
    Durability {
        /// Nothing is promised: the data is in the page cache.
        Cached = "cached",
        /// All data: a sync call has returned.
        Durable = "durable",
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = match self.content {
            Content::Random => "incompressible data",
            Content::Zero => "zeros",
            Content::Reserved => "reserved blocks",
            Content::Hole => "length without blocks",
        };
        let source = match self.source {
            Source::File => "",
            Source::Chunk => " (one chunk again and again)",
        };
        let start = self.start;
        let files =
            if self.files == 1 { format!("1 {start} file") } else { format!("{} {start} files", self.files) };
        let durability = match self.durability {
            Durability::Cached => "in the page cache",
            Durability::Durable => "durable",
        };
        write!(f, "{} of {content}{source} in {files}, {durability}", Bytes(self.bytes))
    }
}
