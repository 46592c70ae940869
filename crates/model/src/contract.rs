use std::fmt;

use serde::{Deserialize, Serialize};

use crate::file_set::FileSize;
use crate::quantity::{Bytes, counted};
use crate::value::{Checksums, DataMemory, named_values};

/// The state of a file after a case. Only cases of one contract are ranked together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Contract {
    pub content: Content,
    /// In otherwise incompressible content. Older documents lack the field.
    #[serde(default)]
    pub zero_percent: u8,
    /// Over all files.
    pub bytes: u64,
    pub files: u32,
    /// Of a set of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size: Option<FileSize>,
    #[serde(default)]
    pub visibility: Visibility,
    /// An existing file has its blocks, and perhaps its pages.
    #[serde(rename = "initial_state", alias = "start")]
    pub start: Start,
    pub source: DataSource,
    /// Documents of schema 5 lack the field.
    #[serde(default)]
    pub memory: DataMemory,
    /// Whether the filesystem makes checksums of the data as usual. Older documents lack the field.
    #[serde(default)]
    pub checksums: Checksums,
    pub durability: Durability,
    /// The bytes of a thread between moments at which all of them are durable. None: only at the end.
    pub durable_every_bytes: Option<u64>,
    /// None: each record follows the one before at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records_per_s: Option<u32>,
}

named_values! {
    Content {
        Random = "random",
        Zero = "zero",
        /// Blocks that read as zeros.
        Reserved = "reserved",
        /// A length without blocks.
        Hole = "hole",
        /// An empty file.
        Nothing = "nothing",
        Copy = "copy",
        /// Blocks shared with another file until one is written.
        SharedCopy = "shared-copy",
        /// With holes, which no name of a case asks for: a program or the kernel left bytes out.
        Sparse = "sparse",
    }

    DataSource {
        /// As large as the file.
        Memory = "file",
        /// Repeated.
        Chunk = "chunk",
        /// In the page cache.
        WarmFile = "warm-file",
        /// Not in the page cache.
        ColdFile = "cold-file",
    }

    Start {
        New = "new",
        /// Of the same size.
        Existing = "existing",
    }

    /// What other programs and a crash may find under a file's name.
    #[derive(Default)]
    Visibility {
        #[default]
        Partial = "partial",
        /// Nothing, the old content, or all of the new.
        Complete = "complete",
    }
    Durability {
        /// Only the page cache has the data.
        Cached = "cached",
        /// The device has the data, maybe in a volatile cache.
        Device = "device",
        /// A sync call has returned.
        Durable = "durable",
    }
}

impl Content {
    /// Whether bytes are moved into the file. Otherwise a throughput means little.
    pub fn has_own_bytes(self) -> bool {
        matches!(self, Self::Random | Self::Zero | Self::Copy)
    }

    /// Whether the file's blocks or pages take space.
    pub fn takes_space(self) -> bool {
        !matches!(self, Self::Hole | Self::Nothing)
    }

    pub fn is_data(self) -> bool {
        !matches!(self, Self::Reserved | Self::Hole | Self::Nothing)
    }
}

impl Contract {
    /// Whether this contract is at least as strong: the same bytes, at least as durable, from memory with
    /// at most the same promises. A copy may share its blocks, as with cp.
    pub fn satisfies(&self, wanted: &Self) -> bool {
        let is_copy = self.content == Content::SharedCopy && wanted.content == Content::Copy;
        let fixed = |contract: &Self| {
            let Self {
                zero_percent,
                bytes,
                files,
                file_size,
                start,
                source,
                checksums,
                records_per_s,
                ..
            } = *contract;
            (
                zero_percent,
                bytes,
                files,
                file_size,
                start,
                source,
                checksums,
                records_per_s,
            )
        };
        let is_as_often = wanted
            .durable_every_bytes
            .is_none_or(|wanted| self.durable_every_bytes.is_some_and(|own| own <= wanted));
        (is_copy || self.content == wanted.content)
            && fixed(self) == fixed(wanted)
            && self.memory as u8 <= wanted.memory as u8
            && self.visibility as u8 >= wanted.visibility as u8
            && self.durability as u8 >= wanted.durability as u8
            && is_as_often
    }

    pub fn zeros_in_words(&self) -> String {
        if self.zero_percent == 0 {
            String::new()
        } else {
            format!(" with {} % zeros", self.zero_percent)
        }
    }

    /// The durability in words.
    pub fn kept(&self) -> String {
        let arrivals = self.records_per_s.map_or(String::new(), |rate| {
            format!(", with {rate} arrivals a second")
        });
        let kept = match (self.durability, self.durable_every_bytes) {
            (Durability::Cached, _) => "in the page cache".to_owned(),
            (Durability::Device, _) => "handed to the device".to_owned(),
            (Durability::Durable, None) => "durable".to_owned(),
            (Durability::Durable, Some(1)) => "durable every byte".to_owned(),
            (Durability::Durable, Some(bytes)) => {
                format!("durable every {}", Bytes(bytes).in_words())
            }
        };
        kept + &arrivals
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = match (self.content, self.source) {
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
            (Content::Sparse, _) => "with holes",
        };
        let memory = self
            .memory
            .words()
            .map_or(String::new(), |words| format!(" {words}"));
        let start = self.start;
        let files = counted(self.files.into(), &format!("{start} file"));
        let files = match (self.file_size, self.visibility) {
            (Some(FileSize::Whole) | None, Visibility::Partial) => files,
            (Some(FileSize::Whole) | None, Visibility::Complete) => {
                format!("{files} never seen in part")
            }
            (Some(size), Visibility::Partial) => format!("{files} of {}", size.in_words()),
            (Some(size), Visibility::Complete) => {
                format!("{files} of {} never seen in part", size.in_words())
            }
        };
        let checksums = self
            .checksums
            .words()
            .map_or(String::new(), |words| format!(" {words}"));
        let (bytes, zeros, kept) = (
            Bytes(self.bytes).in_words(),
            self.zeros_in_words(),
            self.kept(),
        );
        write!(
            f,
            "{bytes} {content}{zeros}{memory} in {files}{checksums}, {kept}"
        )
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
        assert!(
            !plain.satisfies(&without) && !without.satisfies(&plain) && without.satisfies(&without)
        );
        assert!(
            without
                .to_string()
                .ends_with("in 1 new file without checksums, in the page cache"),
            "{without}"
        );
        let mut older = serde_json::to_value(&plain).unwrap();
        older.as_object_mut().unwrap().remove("checksums");
        assert_eq!(serde_json::from_value::<Contract>(older).unwrap(), plain);
    }
}
