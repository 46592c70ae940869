//! Axis values with names.

use std::borrow::Cow;

use crate::value_card::InCode::{LeftToCaller, Unsupported};
use crate::value_card::Phrase::{Beside, First, How, Instead, Silent};
use crate::value_card::{InCode, InFio, ValueCard};

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
            const EXAMPLES: &[&str] = &[$($text,)+];

            fn parse(text: &str) -> Result<Self, String> {
                Self::from_name(text).ok_or_else(|| format!("expected one of {}", <Self as crate::form::Form>::values()))
            }

            fn text(value: Self) -> String {
                value.to_string()
            }

            fn values() -> String {
                Self::EXAMPLES.join("|")
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

/// Named values of an axis, each with its card.
macro_rules! axis_values {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$doc:meta])* $variant:ident = $text:literal {
            $words:expr $(, effort $effort:expr)? $(, fio $fio:expr)? $(, code $code:expr)?
        },)+
    })+) => {
        named_values! {
            $($(#[$meta])* $name { $($(#[$doc])* $variant = $text,)+ })+
        }

        $(impl $name {
            pub(crate) fn card(self) -> ValueCard {
                match self {
                    $(Self::$variant => ValueCard {
                        $(effort: $effort,)?
                        $(fio: $fio,)?
                        $(code: $code,)?
                        ..ValueCard::new($words)
                    },)+
                }
            }
        })+
    };
}

// Reasons and calls that several values share.
const NOTHING_WRITTEN: InFio = Err("nothing is written");
const NO_COPIES: InFio = Err("fio copies no files");
const NO_MPI_IO: InFio = Err("fio has no MPI-IO");
const NO_POPULATE: InFio = Err("fio 3.33 populates no pages of a mapping");
const NO_HUGE_ADVICE: InFio = Err("fio 3.33 gives no advice about huge pages of a file");
const ONE_FILE: InCode = Unsupported("the function writes one file: call it for each");
const POSIX_FALLOCATE: &str = "posix_fallocate(3)";
const ZERO_RANGE: &str = "fallocate(2) with ZERO_RANGE";
const KEEP_SIZE: &str = "fallocate(2) with KEEP_SIZE";
const FTRUNCATE: &str = "ftruncate(2)";
const FALLOCATE: &str = "fallocate(2)";

axis_values! {
    /// See [`crate::Axis::Files`].
    Files {
        /// All threads of all ranks write ranges of one file.
        Shared = "shared" { Silent },
        /// Each thread writes a file of its own.
        PerThread = "per-thread" { Beside("a file each".into()), code ONE_FILE },
        /// Each rank writes a file of its own, which its threads share.
        PerRank = "per-rank" {
            Beside("a file for each rank".into()),
            fio Err("fio is no MPI program"), code ONE_FILE
        },
    }

    /// See [`crate::Axis::Layout`].
    FileLayout {
        /// Each thread has one contiguous part of the file.
        Segmented = "segmented" { Silent },
        /// The threads have the file's blocks in turns.
        Strided = "strided" {
            Beside("blocks in turns".into()), effort 1, fio Err("fio's jobs have contiguous parts of a file"),
            code Unsupported("the function has one buffer for one file, and no blocks in turns")
        },
    }

    /// See [`crate::Axis::Collective`].
    Collective {
        /// Each rank makes its own calls.
        No = "no" { Silent, fio NO_MPI_IO },
        /// All ranks make each call together.
        Yes = "yes" { Beside("all ranks in each call".into()), effort 1, fio NO_MPI_IO },
    }

    /// See [`crate::Axis::Descriptor`].
    Descriptor {
        /// One `open` for the file.
        Shared = "shared" { Silent },
        /// Each thread opens the file for itself.
        PerThread = "per-thread" { Beside("a descriptor each".into()) },
    }

    /// See [`crate::Axis::Map`].
    MapSharing {
        /// One mapping of the whole file.
        Shared = "shared" { Silent },
        /// Each thread maps its own range.
        PerThread = "per-thread" { Beside("a mapping each".into()) },
    }

    /// See [`crate::Axis::Call`].
    AllocateCall {
        /// The C library's call: `fallocate`, or a write into every block if that is refused.
        PosixFallocate = "posix-fallocate" { Instead(POSIX_FALLOCATE), fio NOTHING_WRITTEN },
        /// The Linux system call: it reserves blocks and writes nothing.
        Fallocate = "fallocate" { Instead(FALLOCATE), fio NOTHING_WRITTEN },
        /// The same, and the range reads as zeros.
        FallocateZeroRange = "fallocate-zero-range" {
            Instead(ZERO_RANGE), fio NOTHING_WRITTEN
        },
        /// The same, and the length stays unchanged: blocks beyond the end of the file.
        FallocateKeepSize = "fallocate-keep-size" {
            Instead(KEEP_SIZE), fio NOTHING_WRITTEN
        },
        /// Only the length: a hole.
        Ftruncate = "ftruncate" { Instead(FTRUNCATE), fio NOTHING_WRITTEN },
    }

    /// See [`crate::Axis::Populate`]; `MADV_POPULATE_WRITE` of madvise(2), or `MADV_POPULATE_READ` for a mapping
    /// that is only read.
    Populate {
        /// Each page is faulted in by its first access.
        None = "none" { Silent },
        /// The pages of each window, before its first access.
        Window = "window" { Beside("pages populated by window".into()), effort 1, fio NO_POPULATE },
        /// All pages, before the first access.
        All = "all" { Beside("all pages populated".into()), effort 1, fio NO_POPULATE },
    }

    /// See [`crate::Axis::Huge`]; madvise(2).
    Huge {
        /// Left to the kernel.
        None = "none" { Silent },
        /// Allowed for the mapping: `MADV_HUGEPAGE`.
        Advise = "advise" { Beside("MADV_HUGEPAGE".into()), effort 1, fio NO_HUGE_ADVICE },
        /// Made window by window: `MADV_COLLAPSE`, Linux 6.1.
        Collapse = "collapse" { Beside("MADV_COLLAPSE by window".into()), effort 3, fio NO_HUGE_ADVICE },
    }

    /// See [`crate::Axis::Store`].
    Store {
        /// The C library's memcpy.
        Plain = "plain" { Silent },
        /// Stores that bypass the CPU's caches.
        Nontemporal = "nontemporal" {
            How("with non-temporal stores".into()), effort 3,
            fio Err("fio's stores go through the CPU's caches")
        },
    }

    /// See [`crate::Axis::Drop`]; `POSIX_FADV_DONTNEED` of posix_fadvise(2).
    Drop {
        /// Pages stay.
        No = "no" { Silent },
        /// Each window's pages are dropped when they have been written out.
        Yes = "yes" {
            Beside("dropped from the page cache".into()), effort 1,
            fio Err("fio 3.33 drops no pages on the way")
        },
    }

    /// See [`crate::Axis::Prepare`]. Work that a program would do inside the clock is phase `prepare`; old
    /// content, which would exist long before, is not timed.
    Prepare {
        /// No file exists; opening creates it.
        Create = "create" { Silent, effort 1 },
        /// A file of that size exists, written and synced; opening empties it.
        Truncate = "truncate" { How("after O_TRUNC".into()), effort 1 },
        /// A new file is given its length by `ftruncate`: sparse.
        SetLen = "set-len" { First(FTRUNCATE), effort 1 },
        /// A new file's blocks are reserved by `fallocate`.
        Fallocate = "fallocate" { First(FALLOCATE), effort 1 },
        /// A new file's blocks are reserved by `posix_fallocate`.
        PosixFallocate = "posix-fallocate" { First(POSIX_FALLOCATE), effort 1 },
        /// The same with `FALLOC_FL_KEEP_SIZE`: the blocks exist, and the file still grows as it is written.
        FallocateKeepSize = "fallocate-keep-size" { First(KEEP_SIZE), effort 1 },
        /// The same with `FALLOC_FL_ZERO_RANGE`.
        FallocateZeroRange = "fallocate-zero-range" { First(ZERO_RANGE), effort 1 },
        /// A new file is filled with zeros and synced, so that its blocks exist and have been written.
        ZeroFill = "zero-fill" { First("zeros and fsync(2)"), effort 3 },
        /// A file of that size exists, written and synced; it is overwritten in place.
        Overwrite = "overwrite" { How("in place".into()), effort 1 },
    }

    /// See [`crate::Axis::Source`].
    Source {
        /// Every byte of the file has its own byte in memory.
        File = "file" { Silent, code LeftToCaller },
        /// One chunk-sized buffer is written again and again.
        Chunk = "chunk" { How("from one buffer".into()), code LeftToCaller },
    }

    /// See [`crate::Axis::Cache`].
    Cache {
        /// Through the page cache.
        Buffered = "buffered" { Silent },
        /// Bypasses the page cache: `O_DIRECT`. It needs aligned memory, lengths and offsets, and some filesystems
        /// refuse it.
        Direct = "direct" { How("with O_DIRECT".into()), effort 3 },
        /// Through the page cache, and dropped from it after write-back: `RWF_DONTCACHE` of pwritev2(2),
        /// Linux 6.14.
        Dontcache = "dontcache" {
            How("with RWF_DONTCACHE".into()), effort 1, fio Err("fio 3.33 has no RWF_DONTCACHE")
        },
    }

    /// See [`crate::Axis::Checksums`]; ioctl_fs_flags(2).
    #[derive(Default)]
    Checksums {
        /// As the filesystem does it.
        #[default]
        Default = "default" { Silent },
        /// `FS_NOCOW_FL`, set while the file is empty: btrfs makes no checksums of its data, and overwrites it in
        /// place.
        No = "no" { How("without checksums".into()), effort 2, fio Err("fio sets no flags of a file") },
    }

    /// The memory that the data is in: see [`crate::Axis::Memory`]. Each asks for more than the one before.
    #[derive(Default)]
    DataMemory {
        /// At a multiple of 16 bytes and not at a page, in pages as the kernel decides: `malloc(3)`.
        #[default]
        Any = "any" { Silent, code LeftToCaller },
        /// At the start of a page, in pages as the kernel decides.
        PageAligned = "page-aligned" { How("from page-aligned memory".into()), effort 1, code LeftToCaller },
        /// At the start of a huge page, in huge pages by `MADV_HUGEPAGE`: direct I/O has fewer pieces to hand to the
        /// device.
        HugePages = "huge-pages" {
            How("from huge pages".into()), effort 1,
            fio Err("fio's memory is in huge pages only where a pool is reserved for them")
        },
    }

    /// See [`crate::Axis::Registered`]; io_uring_register(2).
    Registered {
        /// Neither.
        None = "none" { Silent },
        /// The memory: pinned once, instead of in every operation.
        Buffers = "buffers" { Beside("registered buffers".into()), effort 1 },
        /// The file: looked up once, instead of in every operation.
        Files = "files" { Beside("registered file".into()), effort 1 },
        /// Both.
        Both = "both" { Beside("registered buffers and file".into()), effort 1 },
    }

    /// See [`crate::Axis::Advice`]; posix_fadvise(2), and madvise(2) where the file is mapped.
    Advice {
        /// No advice.
        None = "none" { Silent, fio NO_COPIES },
        /// The whole file is needed soon, from beginning to end: `WILLNEED` and `SEQUENTIAL`.
        Sequential = "sequential" { First("fadvise(2) on the source"), effort 1, fio NO_COPIES },
    }

    /// See [`crate::Axis::Origin`].
    Origin {
        /// It was read just before.
        Warm = "warm" { Silent, fio NO_COPIES, code LeftToCaller },
        /// It was evicted just before.
        Cold = "cold" { How("of a cold file".into()), fio NO_COPIES, code LeftToCaller },
    }
}

impl DataMemory {
    /// The origin of the data in words; none if it may be anywhere.
    #[must_use]
    pub fn words(self) -> Option<Cow<'static, str>> {
        if let How(words) = self.card().words { Some(words) } else { None }
    }
}

impl Checksums {
    /// The value in words; none for the default.
    #[must_use]
    pub fn words(self) -> Option<Cow<'static, str>> {
        if let How(words) = self.card().words { Some(words) } else { None }
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
