//! Axis values with names.

/// Closed sets of values with one text each, which axes, command line and database share.
macro_rules! named_values {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// Every value, in the order of the help text.
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

        impl crate::form::Form for $name {
            type Value = Self;
            const IS_NUMBER: bool = false;

            fn parse(text: &str) -> Result<Self, String> {
                Self::from_name(text).ok_or_else(|| format!("expected one of {}", <Self as crate::form::Form>::values()))
            }

            fn text(value: Self) -> String {
                value.to_string()
            }

            fn values() -> String {
                Self::ALL.iter().map(|value| value.name()).collect::<Vec<_>>().join("|")
            }

            fn examples() -> Vec<String> {
                Self::ALL.iter().map(|value| value.name().to_owned()).collect()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    )+};
}
pub(crate) use named_values;

named_values! {
    /// See [`crate::Axis::Files`].
    Files {
        /// All threads of all ranks write ranges of one file.
        Shared = "shared",
        /// Each thread writes a file of its own.
        PerThread = "per-thread",
        /// Each rank writes a file of its own, which its threads share.
        PerRank = "per-rank",
    }

    /// See [`crate::Axis::Layout`].
    FileLayout {
        /// Each thread has one contiguous part of the file.
        Segmented = "segmented",
        /// The threads have the file's blocks in turns.
        Strided = "strided",
    }

    /// See [`crate::Axis::Collective`].
    Collective {
        /// Each rank makes its own calls.
        No = "no",
        /// All ranks make each call together.
        Yes = "yes",
    }

    /// See [`crate::Axis::Descriptor`].
    Descriptor {
        /// One `open` for the file.
        Shared = "shared",
        /// Each thread opens the file for itself.
        PerThread = "per-thread",
    }

    /// See [`crate::Axis::Map`].
    MapSharing {
        /// One mapping of the whole file.
        Shared = "shared",
        /// Each thread maps its own range.
        PerThread = "per-thread",
    }

    /// See [`crate::Axis::Call`].
    AllocateCall {
        /// The C library's call: `fallocate`, or a write into every block if that is refused.
        PosixFallocate = "posix-fallocate",
        /// The Linux system call: it reserves blocks and writes nothing.
        Fallocate = "fallocate",
        /// The same, and the range reads as zeros.
        FallocateZeroRange = "fallocate-zero-range",
        /// The same, and the length stays unchanged: blocks beyond the end of the file.
        FallocateKeepSize = "fallocate-keep-size",
        /// Only the length: a hole.
        Ftruncate = "ftruncate",
    }

    /// See [`crate::Axis::Populate`]; `MADV_POPULATE_WRITE` of madvise(2), or `MADV_POPULATE_READ` for a mapping
    /// that is only read.
    Populate {
        /// Each page is faulted in by its first access.
        None = "none",
        /// The pages of each window, before its first access.
        Window = "window",
        /// All pages, before the first access.
        All = "all",
    }

    /// See [`crate::Axis::Huge`]; madvise(2).
    Huge {
        /// Left to the kernel.
        None = "none",
        /// Allowed for the mapping: `MADV_HUGEPAGE`.
        Advise = "advise",
        /// Made window by window: `MADV_COLLAPSE`, Linux 6.1.
        Collapse = "collapse",
    }

    /// See [`crate::Axis::Store`].
    Store {
        /// The C library's memcpy.
        Plain = "plain",
        /// Stores that bypass the CPU's caches.
        Nontemporal = "nontemporal",
    }

    /// See [`crate::Axis::Drop`]; `POSIX_FADV_DONTNEED` of posix_fadvise(2).
    Drop {
        /// Pages stay.
        No = "no",
        /// Each window's pages are dropped when they have been written out.
        Yes = "yes",
    }

    /// See [`crate::Axis::Prepare`]. Work that a program would do inside the clock is phase `prepare`; old
    /// content, which would exist long before, is not timed.
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
        /// The same with `FALLOC_FL_KEEP_SIZE`: the blocks exist, and the file still grows as it is written.
        FallocateKeepSize = "fallocate-keep-size",
        /// The same with `FALLOC_FL_ZERO_RANGE`.
        FallocateZeroRange = "fallocate-zero-range",
        /// A new file is filled with zeros and synced, so that its blocks exist and have been written.
        ZeroFill = "zero-fill",
        /// A file of that size exists, written and synced; it is overwritten in place.
        Overwrite = "overwrite",
    }

    /// See [`crate::Axis::Data`].
    Data {
        /// Incompressible, different in every block, reproducible from a seed.
        Random = "random",
        /// All bytes zero.
        Zero = "zero",
    }

    /// See [`crate::Axis::Source`].
    Source {
        /// Every byte of the file has its own byte in memory.
        File = "file",
        /// One chunk-sized buffer is written again and again.
        Chunk = "chunk",
    }

    /// See [`crate::Axis::Cache`].
    Cache {
        /// Through the page cache.
        Buffered = "buffered",
        /// Bypasses the page cache: `O_DIRECT`.
        Direct = "direct",
        /// Through the page cache, and dropped from it after write-back: `RWF_DONTCACHE` of pwritev2(2),
        /// Linux 6.14.
        Dontcache = "dontcache",
    }

    /// The memory that the data is in: see [`crate::Axis::Memory`]. Each asks for more than the one before.
    DataMemory {
        /// At a multiple of 16 bytes and not at a page, in pages as the kernel decides: `malloc(3)`.
        Any = "any",
        /// At the start of a page, in pages as the kernel decides.
        PageAligned = "page-aligned",
        /// At the start of a huge page, in huge pages by `MADV_HUGEPAGE`: direct I/O has fewer pieces to hand to the
        /// device.
        HugePages = "huge-pages",
    }

    /// See [`crate::Axis::Registered`]; io_uring_register(2).
    Registered {
        /// Neither.
        None = "none",
        /// The memory: pinned once, instead of in every operation.
        Buffers = "buffers",
        /// The file: looked up once, instead of in every operation.
        Files = "files",
        /// Both.
        Both = "both",
    }

    /// See [`crate::Axis::Advice`]; posix_fadvise(2), and madvise(2) where the file is mapped.
    Advice {
        /// No advice.
        None = "none",
        /// The whole file is needed soon, from beginning to end: `WILLNEED` and `SEQUENTIAL`.
        Sequential = "sequential",
    }

    /// See [`crate::Axis::Origin`].
    Origin {
        /// It was read just before.
        Warm = "warm",
        /// It was evicted just before.
        Cold = "cold",
    }
}

impl DataMemory {
    /// The origin of the data in words; none if it may be anywhere.
    #[must_use]
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::Any => None,
            Self::PageAligned => Some("from page-aligned memory"),
            Self::HugePages => Some("from huge pages"),
        }
    }
}

impl AllocateCall {
    /// Whether the call reserves blocks rather than only setting a length.
    #[must_use]
    pub fn gives_blocks(self) -> bool {
        self != Self::Ftruncate
    }
}

/// How the file is opened first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// `O_CREAT|O_EXCL`: no file has the name.
    New,
    /// `O_TRUNC`.
    Emptied,
    /// As it is.
    Kept,
}

impl Prepare {
    /// How the file is opened first.
    #[must_use]
    pub fn opening(self) -> Opening {
        match self {
            Self::Truncate => Opening::Emptied,
            Self::Overwrite => Opening::Kept,
            Self::Create
            | Self::SetLen
            | Self::Fallocate
            | Self::PosixFallocate
            | Self::FallocateKeepSize
            | Self::FallocateZeroRange
            | Self::ZeroFill => Opening::New,
        }
    }

    /// Whether a file with old content must exist before the clock starts.
    #[must_use]
    pub fn needs_old_content(self) -> bool {
        self.opening() != Opening::New
    }

    /// Whether the file has its final length when writing begins.
    #[must_use]
    pub fn gives_length(self) -> bool {
        !matches!(self, Self::Create | Self::Truncate | Self::FallocateKeepSize)
    }

    /// Whether the open file is changed before it is written.
    #[must_use]
    pub fn has_step(self) -> bool {
        self == Self::ZeroFill || self.call().is_some()
    }

    /// The allocating call of this state, if it has one.
    #[must_use]
    pub fn call(self) -> Option<AllocateCall> {
        match self {
            Self::SetLen => Some(AllocateCall::Ftruncate),
            Self::Fallocate => Some(AllocateCall::Fallocate),
            Self::PosixFallocate => Some(AllocateCall::PosixFallocate),
            Self::FallocateKeepSize => Some(AllocateCall::FallocateKeepSize),
            Self::FallocateZeroRange => Some(AllocateCall::FallocateZeroRange),
            Self::Create | Self::Truncate | Self::ZeroFill | Self::Overwrite => None,
        }
    }
}
