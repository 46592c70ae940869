//! Axis values with names.

use std::borrow::Cow;

use crate::value_card::InCode::{LeftToCaller, Unsupported};
use crate::value_card::Phrase::{Beside, First, How, Instead, Last, Silent};
use crate::value_card::{InCode, InFio, ValueCard};

/// Declares closed sets of values, whose names axes, command line and database share. Earlier versions had the names after
/// a `|`, which are read and never written.
macro_rules! named_values {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$doc:meta])* $variant:ident = $text:literal $(| $earlier:literal)*,)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text $(, alias = $earlier)*)] $variant,)+ }

        impl $name {
            /// All values, in the order of the help text.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text $(| $earlier)* => Some(Self::$variant),)+ _ => None }
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

/// Declares the values of axes: each one's name, words, effort, and support by fio and printed code.
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

            /// The manner of writing, if the value has one.
            pub fn words(self) -> Option<Cow<'static, str>> {
                if let How(words) = self.card().words { Some(words) } else { None }
            }
        })+
    };
}

const NOTHING_WRITTEN: InFio = Err("nothing is written");
const NO_COPIES: InFio = Err("fio copies no files");
const NO_MPI_IO: InFio = Err("fio has no MPI-IO");
const NO_POPULATE: InFio = Err("fio 3.33 does not populate pages of a mapping");
const NO_HUGE_ADVICE: InFio = Err("fio 3.33 gives no advice about huge pages of a file");
const ONE_FILE: InCode = Unsupported("the function writes one file: call it for each");
const POSIX_FALLOCATE: &str = "posix_fallocate(3)";
const ZERO_RANGE: &str = "fallocate(2) with ZERO_RANGE";
const KEEP_SIZE: &str = "fallocate(2) with KEEP_SIZE";
const FTRUNCATE: &str = "ftruncate(2)";
const FALLOCATE: &str = "fallocate(2)";

axis_values! {
    Files {
        Shared = "shared" { Silent },
        PerThread = "per-thread" { Beside("a file each".into()), code ONE_FILE },
        PerRank = "per-rank" {
            Beside("a file for each rank".into()),
            fio Err("fio is not an MPI program"), code ONE_FILE
        },
    }

    Directory {
        One = "one" { Silent },
        PerThread = "per-thread" { Beside("a directory each".into()), code LeftToCaller },
        /// Each directory gets [`Directory::FAN_OUT_FILES`] files.
        FanOut = "fan-out" { Beside("256 files per directory".into()), effort 1, code LeftToCaller },
    }

    /// The moment at which a file gets its name.
    Naming {
        Direct = "direct" { Silent },
        /// The file has a temporary name, and rename(2) gives it the final one.
        Rename = "rename" { How("under a temporary name, rename(2)".into()), effort 1 },
        /// The file has a temporary name, and exchanges it with the old file, which is removed then.
        Exchange = "exchange" { How("under a temporary name, RENAME_EXCHANGE, unlink(2)".into()), effort 2 },
        /// The same, but a second thread removes the old file, because large files take long to remove.
        ExchangeBackground = "exchange-background" {
            How("under a temporary name, RENAME_EXCHANGE, unlink(2) by a second thread".into()), effort 5
        },
        /// The file has no name until linkat(2). To replace an existing file, rename(2) follows.
        Tmpfile = "tmpfile" { How("in an O_TMPFILE, linkat(2)".into()), effort 2 },
    }

    /// The syncs that make a set of files durable.
    SyncFiles {
        None = "none" { Silent },
        /// Each file is synced before its close.
        Each = "each" { Beside("fsync(2) of each file".into()), effort 1 },
        /// All files are synced after the last one is written.
        Batch = "batch" { Last("fsync(2) of all files"), effort 2 },
        /// The same, but sync_file_range(2) starts write-back of each file before its close.
        Writeback = "writeback" { Beside("sync_file_range(2), then fsync(2) of all files".into()), effort 3 },
        Syncfs = "syncfs" { Last("one syncfs(2)"), effort 1 },
    }

    FileLayout {
        Segmented = "segmented" { Silent },
        Strided = "strided" {
            Beside("blocks in turns".into()), effort 1, fio Err("fio's jobs have contiguous parts of a file"),
            code Unsupported("the function writes one buffer to one contiguous file")
        },
    }

    Collective {
        No = "no" { Silent, fio NO_MPI_IO },
        Yes = "yes" { Beside("all ranks in each call".into()), effort 1, fio NO_MPI_IO },
    }

    Descriptor {
        Shared = "shared" { Silent },
        PerThread = "per-thread" { Beside("a descriptor each".into()) },
    }

    MapSharing {
        Shared = "shared" { Silent },
        PerThread = "per-thread" { Beside("a mapping each".into()) },
    }

    AllocateCall {
        /// The C library's call, which is `fallocate`, or where that is refused, a write into every block.
        PosixFallocate = "posix-fallocate" { Instead(POSIX_FALLOCATE), fio NOTHING_WRITTEN },
        Fallocate = "fallocate" { Instead(FALLOCATE), fio NOTHING_WRITTEN },
        FallocateZeroRange = "fallocate-zero-range" {
            Instead(ZERO_RANGE), fio NOTHING_WRITTEN
        },
        /// The call reserves blocks beyond the end of the file.
        FallocateKeepSize = "fallocate-keep-size" {
            Instead(KEEP_SIZE), fio NOTHING_WRITTEN
        },
        Ftruncate = "ftruncate" { Instead(FTRUNCATE), fio NOTHING_WRITTEN },
    }

    /// The pages that `MADV_POPULATE_WRITE` makes present, or `MADV_POPULATE_READ` for a source.
    Populate {
        None = "none" { Silent },
        Window = "window" { Beside("pages populated by window".into()), effort 1, fio NO_POPULATE },
        All = "all" { Beside("all pages populated".into()), effort 1, fio NO_POPULATE },
    }

    Huge {
        None = "none" { Silent },
        Advise = "advise" { Beside("MADV_HUGEPAGE".into()), effort 1, fio NO_HUGE_ADVICE },
        /// Linux has this advice since 6.1.
        Collapse = "collapse" { Beside("MADV_COLLAPSE by window".into()), effort 3, fio NO_HUGE_ADVICE },
    }

    Store {
        Plain = "plain" { Silent },
        Nontemporal = "nontemporal" {
            How("with non-temporal stores".into()), effort 3,
            fio Err("fio's stores go through the CPU's caches")
        },
    }

    Drop {
        No = "no" { Silent },
        Yes = "yes" {
            Beside("dropped from the page cache".into()), effort 1,
            fio Err("fio 3.33 drops no pages before the end")
        },
    }

    /// The file's state. Work that a program would time is phase `prepare`, and old content is not timed.
    Prepare {
        Create = "create" { Silent, effort 1 },
        Truncate = "truncate" { How("after O_TRUNC".into()), effort 1 },
        SetLen = "set-len" { First(FTRUNCATE), effort 1 },
        Fallocate = "fallocate" { First(FALLOCATE), effort 1 },
        PosixFallocate = "posix-fallocate" { First(POSIX_FALLOCATE), effort 1 },
        /// The file grows as it is written.
        FallocateKeepSize = "fallocate-keep-size" { First(KEEP_SIZE), effort 1 },
        FallocateZeroRange = "fallocate-zero-range" { First(ZERO_RANGE), effort 1 },
        /// Blocks are reserved up to [`Prepare::AHEAD_BYTES`] ahead of the writes, and the file is cut to its length at
        /// the end. So the length need not be known at first. It is part of phase `write`.
        FallocateAhead = "fallocate-ahead" {
            Beside("fallocate(2) 64 MiB ahead".into()), effort 2,
            fio Err("fio 3.33 reserves the whole file at once")
        },
        /// Zeros are written and synced, so no extent is unwritten.
        ZeroFill = "zero-fill" { First("zeros and fsync(2)"), effort 3 },
        Overwrite = "overwrite" { How("in place".into()), effort 1 },
    }

    Source {
        File = "file" { Silent, code LeftToCaller },
        Chunk = "chunk" { How("from one buffer".into()), code LeftToCaller },
    }

    Cache {
        Buffered = "buffered" { Silent },
        /// Direct I/O needs aligned memory, lengths and offsets. Some filesystems refuse it.
        Direct = "direct" { How("with O_DIRECT".into()), effort 3 },
        /// The flag `RWF_DONTCACHE` of pwritev2(2) needs Linux 6.14.
        Dontcache = "dontcache" {
            How("with RWF_DONTCACHE".into()), effort 1, fio Err("fio 3.33 has no RWF_DONTCACHE")
        },
    }

    #[derive(Default)]
    Checksums {
        #[default]
        Default = "default" { Silent },
        /// `FS_NOCOW_FL` of ioctl_fs_flags(2) is set while the file is empty. btrfs then overwrites in place.
        No = "no" { How("without checksums".into()), effort 2, fio Err("fio sets no flags of a file") },
    }

    /// The promises about the memory of the data. Each value includes the promises of the one before.
    #[derive(Default)]
    DataMemory {
        /// The data begins at a multiple of 16 bytes but not at a page, as `malloc(3)` gives it.
        #[default]
        Any = "any" { Silent, code LeftToCaller },
        PageAligned = "page-aligned" { How("from page-aligned memory".into()), effort 1, code LeftToCaller },
        /// `MADV_HUGEPAGE` makes huge pages, so direct I/O has fewer pieces to hand to the device.
        HugePages = "huge-pages" {
            How("from huge pages".into()), effort 1,
            fio Err("fio has huge pages only from a reserved pool")
        },
    }

    /// The resources that a ring knows before its operations.
    Registered {
        None = "none" { Silent },
        /// The memory is pinned once, instead of in every operation.
        Buffers = "buffers" { Beside("registered buffers".into()), effort 1 },
        /// The file is looked up once, instead of in every operation.
        Files = "files" { Beside("registered file".into()), effort 1 },
        Both = "both" { Beside("registered buffers and file".into()), effort 1 },
    }

    /// The advice about a copy's source by posix_fadvise(2), or by madvise(2) for a mapped file.
    Advice {
        None = "none" { Silent, fio NO_COPIES },
        Sequential = "sequential" { First("fadvise(2) on the source"), effort 1, fio NO_COPIES },
    }

    Origin {
        Warm = "warm" { Silent, fio NO_COPIES, code LeftToCaller },
        Cold = "cold" { How("of a cold file".into()), fio NO_COPIES, code LeftToCaller },
    }
}

impl Directory {
    /// The most files in each directory of `directory=fan-out`.
    pub const FAN_OUT_FILES: usize = 256;
}

impl SyncFiles {
    /// Whether files become durable only after all are written.
    pub fn is_afterwards(self) -> bool {
        matches!(self, Self::Batch | Self::Writeback | Self::Syncfs)
    }
}

impl AllocateCall {
    pub fn gives_blocks(self) -> bool {
        self != Self::Ftruncate
    }
}

/// What open(2) does with the file of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// There is no such file, and the call creates it.
    New,
    /// The call cuts an existing file to length 0.
    Emptied,
    /// The call leaves an existing file as it is.
    Kept,
}

impl Prepare {
    /// The distance to which [`Prepare::FallocateAhead`] reserves blocks.
    pub const AHEAD_BYTES: u64 = 64 << 20;

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
            | Self::FallocateAhead
            | Self::ZeroFill => Opening::New,
        }
    }

    pub fn needs_old_content(self) -> bool {
        self.opening() != Opening::New
    }

    /// Whether the file has its final length before the first write.
    pub fn gives_length(self) -> bool {
        match self {
            Self::SetLen
            | Self::Fallocate
            | Self::PosixFallocate
            | Self::FallocateZeroRange
            | Self::ZeroFill
            | Self::Overwrite => true,
            Self::Create | Self::Truncate | Self::FallocateKeepSize | Self::FallocateAhead => false,
        }
    }

    /// Whether there is work between open(2) and the first write, in phase `prepare`.
    pub fn has_step(self) -> bool {
        self == Self::ZeroFill || self.call().is_some()
    }

    /// The call that gives the file its length or blocks before the first write.
    pub fn call(self) -> Option<AllocateCall> {
        match self {
            Self::SetLen => Some(AllocateCall::Ftruncate),
            Self::Fallocate => Some(AllocateCall::Fallocate),
            Self::PosixFallocate => Some(AllocateCall::PosixFallocate),
            Self::FallocateKeepSize => Some(AllocateCall::FallocateKeepSize),
            Self::FallocateZeroRange => Some(AllocateCall::FallocateZeroRange),
            Self::Create
            | Self::Truncate
            | Self::FallocateAhead
            | Self::ZeroFill
            | Self::Overwrite => None,
        }
    }
}
