//! What the caller has when a case is done.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quantity::Bytes;
use crate::value::named_values;

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
    /// Where the data was read from.
    pub source: Feed,
    /// What survives a loss of power.
    pub durability: Durability,
    /// After how many bytes of a thread all of them are durable on the way; none if only at the end.
    pub durable_every_bytes: Option<u64>,
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
        /// What another file holds.
        Copy = "copy",
    }

    /// Where the data came from.
    Feed {
        /// Memory as large as the file.
        Memory = "file",
        /// One chunk in memory, again and again.
        Chunk = "chunk",
        /// Another file that is in the page cache.
        WarmFile = "warm-file",
        /// Another file that is not.
        ColdFile = "cold-file",
    }

    /// What there was before.
    Start {
        /// No file.
        New = "new",
        /// A file of the same size.
        Existing = "existing",
    }

    /// What survives a loss of power.
    Durability {
        /// Nothing is promised: the data is in the page cache.
        Cached = "cached",
        /// Nothing is promised: the device has the data, but may keep it in a cache of its own.
        Device = "device",
        /// All data: a sync call has returned.
        Durable = "durable",
    }
}

impl Contract {
    /// Whether somebody who wanted the other one has at least that: the same bytes, as durable or more so.
    #[must_use]
    pub fn satisfies(&self, wanted: &Self) -> bool {
        let Self { content, bytes, files, start, source, durability, durable_every_bytes } = self;
        let is_same = (content, bytes, files, start, source)
            == (&wanted.content, &wanted.bytes, &wanted.files, &wanted.start, &wanted.source);
        let is_as_often = match (durable_every_bytes, wanted.durable_every_bytes) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(wanted)) => *own <= wanted,
        };
        is_same && *durability as u8 >= wanted.durability as u8 && is_as_often
    }

    /// Where the data is, or how often it is durable, in words.
    #[must_use]
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
            (Content::Random, Feed::Chunk) => "of incompressible data (one chunk again and again)",
            (Content::Random, _) => "of incompressible data",
            (Content::Zero, Feed::Chunk) => "of zeros (one chunk again and again)",
            (Content::Zero, _) => "of zeros",
            (Content::Reserved, _) => "of reserved blocks",
            (Content::Hole, _) => "of length without blocks",
            (Content::Copy, Feed::ColdFile) => "copied from a file that is not in the page cache",
            (Content::Copy, _) => "copied from a file in the page cache",
        };
        let start = self.start;
        let files =
            if self.files == 1 { format!("1 {start} file") } else { format!("{} {start} files", self.files) };
        write!(f, "{} {content} in {files}, {}", Bytes(self.bytes), self.kept())
    }
}
