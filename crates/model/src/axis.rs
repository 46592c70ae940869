//! The axes of the space of cases, and the values that each may take.

use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;

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

/// A closed set of values with one text each, for an axis, the command line and the database alike.
macro_rules! named_values {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// Every value, in the order in which help shows them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The value's text.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value with that text.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use named_values;

named_values! {
    /// One orthogonal property of a case. The order here is the order in a case's name.
    Axis {
        /// Bytes that the case writes, over all its files.
        Size = "size",
        /// Bytes handed over in one call, or in one element of a vector.
        Chunk = "chunk",
        /// Chunks handed over in one vectored call.
        Vector = "vector",
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
        /// The call that makes the data durable at the end.
        Sync = "sync",
        /// What is written.
        Data = "data",
        /// How much memory the data is read from.
        Source = "source",
    }
}

named_values! {
    /// See [`Axis::Files`].
    Files {
        /// All threads write ranges of one file.
        Shared = "shared",
        /// Each thread writes a file of its own.
        PerThread = "per-thread",
    }
}

named_values! {
    /// See [`Axis::Descriptor`].
    Descriptor {
        /// One `open` for the file.
        Shared = "shared",
        /// Each thread opens the file for itself.
        PerThread = "per-thread",
    }
}

named_values! {
    /// See [`Axis::Map`].
    MapSharing {
        /// One mapping of the whole file.
        Shared = "shared",
        /// Each thread maps its own range.
        PerThread = "per-thread",
    }
}

named_values! {
    /// See [`Axis::Call`].
    AllocateCall {
        /// The C library's call: `fallocate`, or a write into every block where that is refused.
        PosixFallocate = "posix-fallocate",
        /// The Linux system call: blocks are reserved, nothing is written.
        Fallocate = "fallocate",
        /// Only the length: a hole.
        Ftruncate = "ftruncate",
    }
}

named_values! {
    /// See [`Axis::Prepare`]. What a program would do inside the clock is phase `prepare`; what
    /// must have happened long before (the old content) is not timed.
    Prepare {
        /// No file exists; opening creates it.
        Create = "create",
        /// A file of that size exists, written and synced; opening empties it.
        Truncate = "truncate",
        /// A new file is given its length by `ftruncate`: sparse.
        SetLen = "set-len",
        /// A new file's blocks are reserved by `fallocate`.
        Fallocate = "fallocate",
        /// A new file's blocks are reserved by `posix_fallocate`.
        PosixFallocate = "posix-fallocate",
        /// A file of that size exists, written and synced; it is written over in place.
        Overwrite = "overwrite",
    }
}

impl Prepare {
    /// Whether a file with old content must exist before the clock starts.
    #[must_use]
    pub fn needs_old_content(self) -> bool {
        matches!(self, Self::Truncate | Self::Overwrite)
    }

    /// Whether the file has its final length when writing begins.
    #[must_use]
    pub fn gives_length(self) -> bool {
        !matches!(self, Self::Create | Self::Truncate)
    }

    /// The allocating call of this state, if it has one.
    #[must_use]
    pub fn call(self) -> Option<AllocateCall> {
        match self {
            Self::SetLen => Some(AllocateCall::Ftruncate),
            Self::Fallocate => Some(AllocateCall::Fallocate),
            Self::PosixFallocate => Some(AllocateCall::PosixFallocate),
            Self::Create | Self::Truncate | Self::Overwrite => None,
        }
    }
}

named_values! {
    /// See [`Axis::Sync`].
    Sync {
        /// No call: the data is in the page cache when the case is done.
        None = "none",
        /// `fsync(2)`.
        Fsync = "fsync",
        /// `fdatasync(2)`.
        Fdatasync = "fdatasync",
        /// `msync(2)` with `MS_SYNC`, for mappings.
        Msync = "msync",
    }
}

named_values! {
    /// See [`Axis::Data`].
    Data {
        /// Incompressible, different in every block, reproducible from a seed.
        Random = "random",
        /// All bytes zero.
        Zero = "zero",
    }
}

named_values! {
    /// See [`Axis::Source`].
    Source {
        /// Every byte of the file has its own byte in memory.
        File = "file",
        /// One chunk-sized buffer is written again and again.
        Chunk = "chunk",
    }
}

/// A value on each axis. [`crate::Case`] holds only combinations that make sense.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Axes {
    /// [`Axis::Size`].
    pub size_bytes: u64,
    /// [`Axis::Chunk`].
    pub chunk_size_bytes: u64,
    /// [`Axis::Vector`].
    pub vector: u32,
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
    /// [`Axis::Sync`].
    pub sync: Sync,
    /// [`Axis::Data`].
    pub data: Data,
    /// [`Axis::Source`].
    pub source: Source,
}

impl Axes {
    /// The defaults of every axis, with the method's own first state of the file.
    #[must_use]
    pub fn defaults(prepare: Prepare) -> Self {
        Self {
            size_bytes: 1 << 30,
            chunk_size_bytes: 1 << 20,
            vector: 128,
            threads: 1,
            files: Files::Shared,
            descriptor: Descriptor::Shared,
            map: MapSharing::Shared,
            call: AllocateCall::PosixFallocate,
            prepare,
            sync: Sync::None,
            data: Data::Random,
            source: Source::File,
        }
    }

    /// The text of the value on `axis`.
    #[must_use]
    pub fn get(&self, axis: Axis) -> String {
        match axis {
            Axis::Size => Bytes(self.size_bytes).to_string(),
            Axis::Chunk => Bytes(self.chunk_size_bytes).to_string(),
            Axis::Vector => self.vector.to_string(),
            Axis::Threads => self.threads.to_string(),
            Axis::Files => self.files.to_string(),
            Axis::Descriptor => self.descriptor.to_string(),
            Axis::Map => self.map.to_string(),
            Axis::Call => self.call.to_string(),
            Axis::Prepare => self.prepare.to_string(),
            Axis::Sync => self.sync.to_string(),
            Axis::Data => self.data.to_string(),
            Axis::Source => self.source.to_string(),
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
            Axis::Chunk => {
                self.chunk_size_bytes = bytes()?;
                if self.chunk_size_bytes == 0 {
                    return Err(invalid("expected at least one byte".to_owned()));
                }
            }
            Axis::Vector => self.vector = count(Self::MAX_VECTOR)?,
            Axis::Threads => self.threads = count(Self::MAX_THREADS)?,
            Axis::Files => self.files = Files::from_name(value).ok_or_else(unknown)?,
            Axis::Descriptor => self.descriptor = Descriptor::from_name(value).ok_or_else(unknown)?,
            Axis::Map => self.map = MapSharing::from_name(value).ok_or_else(unknown)?,
            Axis::Call => self.call = AllocateCall::from_name(value).ok_or_else(unknown)?,
            Axis::Prepare => self.prepare = Prepare::from_name(value).ok_or_else(unknown)?,
            Axis::Sync => self.sync = Sync::from_name(value).ok_or_else(unknown)?,
            Axis::Data => self.data = Data::from_name(value).ok_or_else(unknown)?,
            Axis::Source => self.source = Source::from_name(value).ok_or_else(unknown)?,
        }
        Ok(())
    }

    /// Linux refuses vectors of more elements (`UIO_MAXIOV`, see writev(2)).
    pub const MAX_VECTOR: u32 = 1024;
    /// More threads than this are a slip, not an experiment.
    pub const MAX_THREADS: u32 = 1024;
}

impl Axis {
    /// Whether its values are numbers, and not names.
    #[must_use]
    pub fn is_number(self) -> bool {
        matches!(self, Self::Size | Self::Chunk | Self::Vector | Self::Threads)
    }

    /// One line for `writebench list axes`.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Size => "bytes that the case writes, over all its files",
            Self::Chunk => {
                "bytes handed over in one call, or in one element of a vector; cut to the thread's range"
            }
            Self::Vector => "chunks handed over in one vectored call",
            Self::Threads => "threads that write, each its own range",
            Self::Files => "one file for all threads, or a file for each",
            Self::Descriptor => "one open file description for all threads, or one for each",
            Self::Map => "one mapping for all threads, or one for each",
            Self::Call => "the call that gives the file its length and blocks",
            Self::Prepare => {
                "the state that the file is put in first; what it costs is phase `prepare` or `open`"
            }
            Self::Sync => "the call that makes the data durable at the end; what it costs is phase `sync`",
            Self::Data => "what is written: incompressible bytes made from a seed, or zeros",
            Self::Source => "memory the data is read from: as large as the file, or one chunk used again",
        }
    }

    /// The values that fit, for help and errors.
    #[must_use]
    pub fn values(self) -> String {
        fn join<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> String {
            all.iter().map(|&value| name(value)).collect::<Vec<_>>().join("|")
        }
        match self {
            Self::Size | Self::Chunk => "a size such as 4096, 4k, 1MiB, 1GB".to_owned(),
            Self::Vector => format!("1 to {}", Axes::MAX_VECTOR),
            Self::Threads => format!("1 to {}", Axes::MAX_THREADS),
            Self::Files => join(Files::ALL, Files::name),
            Self::Descriptor => join(Descriptor::ALL, Descriptor::name),
            Self::Map => join(MapSharing::ALL, MapSharing::name),
            Self::Call => join(AllocateCall::ALL, AllocateCall::name),
            Self::Prepare => join(Prepare::ALL, Prepare::name),
            Self::Sync => join(Sync::ALL, Sync::name),
            Self::Data => join(Data::ALL, Data::name),
            Self::Source => join(Source::ALL, Source::name),
        }
    }
}
