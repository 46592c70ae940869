//! The axes of the space of cases, and the values that each may take.

use crate::quantity::Bytes;
use crate::sync::Sync;
use crate::value::{
    Advice, Alignment, AllocateCall, Cache, Data, Descriptor, Files, MapSharing, Origin, Prepare, Registered,
    Source, named_values,
};

/// A value that an axis does not have, and what would fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{axis}={value}: {why}")]
pub struct InvalidValue {
    /// The axis.
    pub axis: Axis,
    /// The text that was given.
    pub value: String,
    /// What would fit.
    pub why: String,
}

named_values! {
    /// One orthogonal property of a case. The order here is the order in a case's name.
    Axis {
        /// Bytes that the case writes, over all its files.
        Size = "size",
        /// Bytes handed over in one call, or in one element of a vector.
        Chunk = "chunk",
        /// Chunks handed over in one vectored call.
        Vector = "vector",
        /// Operations under way at the same time.
        Depth = "depth",
        /// What the kernel is told of before.
        Registered = "registered",
        /// Threads that write.
        Threads = "threads",
        /// One file for all threads, or a file for each.
        Files = "files",
        /// One descriptor for all threads, or one for each.
        Descriptor = "descriptor",
        /// One mapping for all threads, or one for each.
        Map = "map",
        /// The call that gives a file its length and blocks.
        Call = "call",
        /// The state that the file is put in first.
        Prepare = "prepare",
        /// Through the page cache, or past it.
        Cache = "cache",
        /// The call that makes the data durable, and when.
        Sync = "sync",
        /// What is written.
        Data = "data",
        /// How much memory the data is read from.
        Source = "source",
        /// Where in a page that memory begins.
        Alignment = "alignment",
        /// What the kernel is told of how the file that is copied will be read.
        Advice = "advice",
        /// Whether the file that is copied is in the page cache.
        Origin = "origin",
    }
}

/// The text of [`Axes::WHOLE`].
const WHOLE: &str = "whole";

/// A value on each axis. [`crate::Case`] holds only combinations that make sense.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Axes {
    /// [`Axis::Size`].
    pub size_bytes: u64,
    /// [`Axis::Chunk`]; [`Axes::WHOLE`] for a thread's whole range in one call.
    pub chunk_size_bytes: u64,
    /// [`Axis::Vector`].
    pub vector: u32,
    /// [`Axis::Depth`].
    pub depth: u32,
    /// [`Axis::Registered`].
    pub registered: Registered,
    /// [`Axis::Threads`].
    pub threads: u32,
    /// [`Axis::Files`].
    pub files: Files,
    /// [`Axis::Descriptor`].
    pub descriptor: Descriptor,
    /// [`Axis::Map`].
    pub map: MapSharing,
    /// [`Axis::Call`].
    pub call: AllocateCall,
    /// [`Axis::Prepare`].
    pub prepare: Prepare,
    /// [`Axis::Cache`].
    pub cache: Cache,
    /// [`Axis::Sync`].
    pub sync: Sync,
    /// [`Axis::Data`].
    pub data: Data,
    /// [`Axis::Source`].
    pub source: Source,
    /// [`Axis::Alignment`].
    pub alignment: Alignment,
    /// [`Axis::Advice`].
    pub advice: Advice,
    /// [`Axis::Origin`].
    pub origin: Origin,
}

impl Axes {
    /// The defaults of every axis, with the method's own first state of the file.
    #[must_use]
    pub fn defaults(prepare: Prepare) -> Self {
        Self {
            size_bytes: 1 << 30,
            chunk_size_bytes: 1 << 20,
            vector: 128,
            depth: 32,
            registered: Registered::None,
            threads: 1,
            files: Files::Shared,
            descriptor: Descriptor::Shared,
            map: MapSharing::Shared,
            call: AllocateCall::PosixFallocate,
            prepare,
            cache: Cache::Buffered,
            sync: Sync::NONE,
            data: Data::Random,
            source: Source::File,
            alignment: Alignment::Page,
            advice: Advice::None,
            origin: Origin::Warm,
        }
    }

    /// The text of the value on `axis`.
    #[must_use]
    pub fn get(&self, axis: Axis) -> String {
        match axis {
            Axis::Size => Bytes(self.size_bytes).to_string(),
            Axis::Chunk if self.chunk_size_bytes == Self::WHOLE => WHOLE.to_owned(),
            Axis::Chunk => Bytes(self.chunk_size_bytes).to_string(),
            Axis::Vector => self.vector.to_string(),
            Axis::Depth => self.depth.to_string(),
            Axis::Registered => self.registered.to_string(),
            Axis::Threads => self.threads.to_string(),
            Axis::Files => self.files.to_string(),
            Axis::Descriptor => self.descriptor.to_string(),
            Axis::Map => self.map.to_string(),
            Axis::Call => self.call.to_string(),
            Axis::Prepare => self.prepare.to_string(),
            Axis::Cache => self.cache.to_string(),
            Axis::Sync => self.sync.to_string(),
            Axis::Data => self.data.to_string(),
            Axis::Source => self.source.to_string(),
            Axis::Alignment => self.alignment.to_string(),
            Axis::Advice => self.advice.to_string(),
            Axis::Origin => self.origin.to_string(),
        }
    }

    /// Sets the value on `axis` from its text.
    ///
    /// # Errors
    /// The axis has no such value.
    pub fn set(&mut self, axis: Axis, value: &str) -> Result<(), InvalidValue> {
        let invalid = |why: String| InvalidValue { axis, value: value.to_owned(), why };
        let bytes = || value.parse::<Bytes>().map(|bytes| bytes.0).map_err(|error| invalid(error.to_string()));
        let count = |most: u32| match value.parse::<u32>() {
            Ok(count) if (1..=most).contains(&count) => Ok(count),
            _ => Err(invalid(format!("expected a number from 1 to {most}"))),
        };
        let unknown = || invalid(format!("expected one of {}", axis.values()));
        match axis {
            Axis::Size => self.size_bytes = bytes()?,
            Axis::Chunk if value == WHOLE => self.chunk_size_bytes = Self::WHOLE,
            Axis::Chunk => {
                self.chunk_size_bytes = bytes()?;
                if self.chunk_size_bytes == 0 {
                    return Err(invalid("expected at least one byte".to_owned()));
                }
            }
            Axis::Vector => self.vector = count(Self::MAX_VECTOR)?,
            Axis::Depth => self.depth = count(Self::MAX_DEPTH)?,
            Axis::Registered => self.registered = Registered::from_name(value).ok_or_else(unknown)?,
            Axis::Threads => self.threads = count(Self::MAX_THREADS)?,
            Axis::Files => self.files = Files::from_name(value).ok_or_else(unknown)?,
            Axis::Descriptor => self.descriptor = Descriptor::from_name(value).ok_or_else(unknown)?,
            Axis::Map => self.map = MapSharing::from_name(value).ok_or_else(unknown)?,
            Axis::Call => self.call = AllocateCall::from_name(value).ok_or_else(unknown)?,
            Axis::Prepare => self.prepare = Prepare::from_name(value).ok_or_else(unknown)?,
            Axis::Cache => self.cache = Cache::from_name(value).ok_or_else(unknown)?,
            Axis::Sync => self.sync = Sync::parse(value).map_err(invalid)?,
            Axis::Data => self.data = Data::from_name(value).ok_or_else(unknown)?,
            Axis::Source => self.source = Source::from_name(value).ok_or_else(unknown)?,
            Axis::Alignment => self.alignment = Alignment::from_name(value).ok_or_else(unknown)?,
            Axis::Advice => self.advice = Advice::from_name(value).ok_or_else(unknown)?,
            Axis::Origin => self.origin = Origin::from_name(value).ok_or_else(unknown)?,
        }
        Ok(())
    }

    /// The chunk size that means a thread's whole range.
    pub const WHOLE: u64 = u64::MAX;
    /// More operations under way than this are a slip; io_uring_setup(2) takes up to 32768 entries.
    pub const MAX_DEPTH: u32 = 4096;
    /// Linux refuses vectors of more elements (`UIO_MAXIOV`, see writev(2)).
    pub const MAX_VECTOR: u32 = 1024;
    /// More threads than this are a slip, not an experiment.
    pub const MAX_THREADS: u32 = 1024;
}

impl Axis {
    /// Whether its values are numbers, and not names.
    #[must_use]
    pub fn is_number(self) -> bool {
        matches!(self, Self::Size | Self::Chunk | Self::Vector | Self::Depth | Self::Threads)
    }

    /// One line for `writebench list axes`.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Size => "bytes that the case writes, over all its files",
            Self::Chunk => {
                "bytes handed over in one call, or in one element of a vector: a record; cut to the thread's range"
            }
            Self::Vector => "chunks handed over in one vectored call",
            Self::Depth => "operations under way at the same time, for each thread",
            Self::Registered => "what the kernel is told of before: the memory, the file, or both",
            Self::Threads => "threads that write, each its own range",
            Self::Files => "one file for all threads, or a file for each",
            Self::Descriptor => "one open file description for all threads, or one for each",
            Self::Map => "one mapping for all threads, or one for each",
            Self::Call => "the call that gives the file its length and blocks",
            Self::Prepare => {
                "the state that the file is put in first; what it costs is phase `prepare` or `open`"
            }
            Self::Cache => "through the page cache, past it (O_DIRECT), or dropped from it (RWF_DONTCACHE)",
            Self::Sync => {
                "the call that makes the data durable: once at the end (phase `sync`), after every N chunks, or \
                 in each write (phase `write`)"
            }
            Self::Data => "what is written: incompressible bytes made from a seed, or zeros",
            Self::Source => "memory the data is read from: as large as the file, or one chunk used again",
            Self::Alignment => "where that memory begins: at a page, or one byte behind it",
            Self::Advice => "what the kernel is told of the file that is copied: WILLNEED and SEQUENTIAL",
            Self::Origin => "whether the file that is copied is in the page cache (warm) or not (cold)",
        }
    }

    /// The values that fit, for help and errors.
    #[must_use]
    pub fn values(self) -> String {
        fn join<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> String {
            all.iter().map(|&value| name(value)).collect::<Vec<_>>().join("|")
        }
        match self {
            Self::Size => "a size such as 4096, 4k, 1MiB, 1GB".to_owned(),
            Self::Chunk => "a size such as 4096, 4k, 1MiB, 1GB, or whole".to_owned(),
            Self::Depth => format!("1 to {}", Axes::MAX_DEPTH),
            Self::Registered => join(Registered::ALL, Registered::name),
            Self::Vector => format!("1 to {}", Axes::MAX_VECTOR),
            Self::Threads => format!("1 to {}", Axes::MAX_THREADS),
            Self::Files => join(Files::ALL, Files::name),
            Self::Descriptor => join(Descriptor::ALL, Descriptor::name),
            Self::Map => join(MapSharing::ALL, MapSharing::name),
            Self::Call => join(AllocateCall::ALL, AllocateCall::name),
            Self::Prepare => join(Prepare::ALL, Prepare::name),
            Self::Cache => join(Cache::ALL, Cache::name),
            Self::Sync => Sync::values(),
            Self::Data => join(Data::ALL, Data::name),
            Self::Source => join(Source::ALL, Source::name),
            Self::Alignment => join(Alignment::ALL, Alignment::name),
            Self::Advice => join(Advice::ALL, Advice::name),
            Self::Origin => join(Origin::ALL, Origin::name),
        }
    }
}
