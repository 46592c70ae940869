//! The axes of cases.

use crate::data::Data;
use crate::file_set::FileSize;
use crate::form::{Arrivals, Chunk, Count, Distance, Form, Size, Window};
use crate::quantity::Bytes;
use crate::similar::did_you_mean;
use crate::sync::Sync;
use crate::value::{
    Advice, AllocateCall, Cache, Checksums, Collective, DataMemory, Descriptor, Directory, Drop,
    FileLayout, Files, Huge, MapSharing, Naming, Origin, Populate, Prepare, Registered, Source,
    Store, SyncFiles, named_values,
};
use crate::value_card::{InCode, Phrase, ValueCard};

/// The bytes between the writer and the data in flight to the device. With `None` the kernel decides.
pub type WriteBehind = Option<u64>;

/// The records that arrive in a second. With `None` the next follows at once.
pub type ArrivalRate = Option<u32>;

macro_rules! form {
    ($type:ident) => {
        $type
    };
    ($type:ident $form:ty) => {
        $form
    };
}

macro_rules! card {
    ($value:expr) => {
        $value.card()
    };
    ($value:expr, $card:expr) => {
        $card($value)
    };
}

/// Declares the axes in the order of case names. `in given` is for what a writer is given and cannot choose, and
/// `in choices` for what a strategy chooses. `as` names a text's form where the field's type does not determine it, and
/// `card` belongs to axes of numbers.
macro_rules! axes {
    ($($axis:ident = $name:literal in $part:ident {
        $field:ident: $type:ident $(as $form:ty)? = $default:expr,
        summary: $summary:literal,
        $(card: $card:expr,)?
    })+) => {
        named_values! {
            /// One orthogonal property of a case.
            Axis { $(#[doc = $summary] $axis = $name,)+ }
        }

        parts! { [] [] $($part { $summary, $field: $type = $default })+ }

        impl Axis {
            /// Whether the axis belongs to the strategy. Otherwise its value is given.
            pub fn is_choice(self) -> bool {
                match self { $(Self::$axis => is_choice!($part),)+ }
            }

            /// The text of a value.
            pub(crate) fn text(self, given: &Given, choices: &Choices) -> String {
                match self { $(Self::$axis => <form!($type $($form)?)>::text(value_in!($part given choices).$field),)+ }
            }

            /// Sets a value from its text. An error names the accepted values.
            pub(crate) fn set(self, given: &mut Given, choices: &mut Choices, text: &str) -> Result<(), String> {
                let result = match self {
                    $(Self::$axis => <form!($type $($form)?)>::parse(text)
                        .map(|value| value_in!($part given choices).$field = value),)+
                };
                result.map_err(|why| {
                    // A malformed number resembles no name.
                    let values = if self.is_number() { String::new() } else { self.values() };
                    let names = values.split(',').next().unwrap_or_default().split('|');
                    format!("{self}={text}: {why}{}", did_you_mean(text, names))
                })
            }

            pub(crate) fn card(self, given: &Given, choices: &Choices) -> ValueCard {
                match self { $(Self::$axis => card!(value_in!($part given choices).$field $(, $card)?),)+ }
            }

            pub fn is_number(self) -> bool {
                match self { $(Self::$axis => <form!($type $($form)?)>::IS_NUMBER,)+ }
            }

            /// One line for `writebench list axes`.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$axis => $summary,)+ }
            }

            /// The accepted values for people.
            pub fn values(self) -> String {
                match self { $(Self::$axis => <form!($type $($form)?)>::values(),)+ }
            }

            /// The named values, and some numbers, for tests of all values.
            pub fn examples(self) -> &'static [&'static str] {
                match self { $(Self::$axis => <form!($type $($form)?)>::EXAMPLES,)+ }
            }
        }
    };
}

macro_rules! is_choice {
    (given) => {
        false
    };
    (choices) => {
        true
    };
}

macro_rules! value_in {
    (given $given:ident $choices:ident) => {
        $given
    };
    (choices $given:ident $choices:ident) => {
        $choices
    };
}

/// Sorts the rows of [`axes!`] into the two lists at the beginning, and declares a struct for each list in the end.
macro_rules! parts {
    ([$($given:tt)*] [$($choice:tt)*] given $row:tt $($rest:tt)*) => {
        parts! { [$($given)* $row] [$($choice)*] $($rest)* }
    };
    ([$($given:tt)*] [$($choice:tt)*] choices $row:tt $($rest:tt)*) => {
        parts! { [$($given)*] [$($choice)* $row] $($rest)* }
    };
    (
        [$({ $given_summary:literal, $given:ident: $given_type:ident = $given_default:expr })*]
        [$({ $summary:literal, $choice:ident: $type:ident = $default:expr })*]
    ) => {
        /// What a writer is given, whatever its strategy: the bytes, where they are, and how they arrive.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct Given { $(#[doc = $given_summary] pub $given: $given_type,)* }

        /// A strategy's value on each axis, maybe an invalid combination: see [`crate::Case`].
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct Choices { $(#[doc = $summary] pub $choice: $type,)* }

        impl Default for Given {
            fn default() -> Self {
                Self { $($given: $given_default,)* }
            }
        }

        impl Choices {
            /// The default values, with the state of the file that is a method's default.
            pub fn defaults(prepare: Prepare) -> Self {
                let defaults = Self { $($choice: $default,)* };
                Self { prepare, ..defaults }
            }
        }
    };
}

axes! {
    Size = "size" in given {
        size_bytes: u64 as Size = 1 << 30,
        summary: "bytes written over all files of the case",
        card: |_| ValueCard { code: InCode::LeftToCaller, ..ValueCard::new(Phrase::Silent) },
    }
    Chunk = "chunk" in choices {
        chunk_size_bytes: u64 as Chunk = 1 << 20,
        summary: "bytes of a record, which is one call or one element of a vector, at most the thread's range",
        card: |bytes| ValueCard {
            // Larger buffers take more memory than a program should.
            effort: u32::from(bytes > 1 << 20),
            ..ValueCard::new(Phrase::How(match bytes {
                Choices::WHOLE => "in one call".into(),
                bytes => format!("in {} chunks", Bytes(bytes).in_words()).into(),
            }))
        },
    }
    Vector = "vector" in choices {
        // Linux refuses vectors of more elements (`UIO_MAXIOV`, see writev(2)).
        vector: u32 as Count<1024> = 128,
        summary: "chunks in one vectored call",
        card: |chunks| ValueCard::new(Phrase::How(match chunks {
            1 => "with 1 chunk a call".into(),
            chunks => format!("with {chunks} chunks a call").into(),
        })),
    }
    Depth = "depth" in choices {
        // io_uring_setup(2) takes up to 32768 entries, but a greater depth is a mistake.
        depth: u32 as Count<4096> = 32,
        summary: "operations of each thread in flight",
        card: |depth| beside(format!("{depth} in flight"), 0),
    }
    Registered = "registered" in choices {
        registered: Registered = Registered::None,
        summary: "resources registered with the ring before: the memory, the file, or both",
    }
    Ranks = "ranks" in choices {
        ranks: u32 as Count<1_048_576> = 1,
        summary: "MPI ranks, each with its share of the bytes (default under mpirun or srun: all)",
        card: |ranks| match beside(format!("{ranks} ranks"), 0) {
            card if ranks == 1 => card,
            card => ValueCard {
                fio: Err("fio is not an MPI program"),
                code: InCode::Unsupported(
                    "the function belongs to one process: call it in each rank, with its part of the file"
                ),
                ..card
            },
        },
    }
    Threads = "threads" in choices {
        // More threads are a mistake, not an experiment.
        threads: u32 as Count<1024> = 1,
        summary: "writing threads of each rank, each with its own range",
        card: |threads| beside(format!("{threads} threads"), 6),
    }
    Files = "files" in choices {
        files: Files = Files::Shared,
        summary: "one file for all threads of all ranks, a file for each thread, or one for each rank",
    }
    FileSize = "file-size" in given {
        file_size: FileSize = FileSize::Each(16 << 10),
        summary: "bytes of each file in a set, log-uniform between two sizes, or one file with all bytes",
        card: |size| ValueCard {
            code: if size == FileSize::Whole { InCode::Supported } else { InCode::LeftToCaller },
            ..ValueCard::new(Phrase::Silent)
        },
    }
    Directory = "directory" in choices {
        directory: Directory = Directory::One,
        summary: "one directory for a set of files, one for each thread, or one for each 256 files",
    }
    Naming = "naming" in choices {
        naming: Naming = Naming::Direct,
        summary: "the final name at once, or after the write by rename(2), RENAME_EXCHANGE, or linkat(2) of an O_TMPFILE",
    }
    SyncFiles = "sync-files" in choices {
        sync_files: SyncFiles = SyncFiles::None,
        summary: "durability of a set: fsync(2) of each file, of all afterwards (maybe after early write-back), or one syncfs(2)",
    }
    Layout = "layout" in choices {
        layout: FileLayout = FileLayout::Segmented,
        summary: "the order of data in a shared file: a contiguous part for each thread of each rank, or blocks in turns",
    }
    Block = "block" in choices {
        block_bytes: u64 as Size = 1 << 20,
        summary: "bytes of a block with layout=strided",
        card: |bytes| beside(format!("blocks of {}", Bytes(bytes).in_words()), 0),
    }
    Collective = "collective" in choices {
        collective: Collective = Collective::No,
        summary: "calls by all ranks together (MPI_File_write_at_all), or by each rank alone",
    }
    Descriptor = "descriptor" in choices {
        descriptor: Descriptor = Descriptor::Shared,
        summary: "one open file description for all threads, or one for each",
    }
    Map = "map" in choices {
        map: MapSharing = MapSharing::Shared,
        summary: "one mapping for all threads, or one for each",
    }
    Populate = "populate" in choices {
        populate: Populate = Populate::None,
        summary: "pages of a mapping made present by madvise(2) before their use: none, by window, or all at once",
    }
    Huge = "huge" in choices {
        huge: Huge = Huge::None,
        summary: "huge pages of the file's mapping: the kernel's choice, MADV_HUGEPAGE, or MADV_COLLAPSE by window",
    }
    Store = "store" in choices {
        store: Store = Store::Plain,
        summary: "stores into a mapping: memcpy, or past the CPU's caches",
    }
    Window = "window" in choices {
        window_bytes: u64 as Window = 2 << 20,
        summary: "bytes prepared at a time by populate=window and huge=collapse",
        card: |bytes| beside(format!("windows of {}", Bytes(bytes).in_words()), 0),
    }
    Call = "call" in choices {
        call: AllocateCall = AllocateCall::PosixFallocate,
        summary: "call for the file's length and blocks",
    }
    Program = "program" in choices {
        // One for each --command of a run.
        program: u32 as Count<1024> = 1,
        summary: "number of the program among --command",
        card: |program| ValueCard {
            fio: Err("fio cannot start the program"),
            ..beside(format!("the program with number {program}"), 0)
        },
    }
    Prepare = "prepare" in choices {
        prepare: Prepare = Prepare::Create,
        summary: "initial state of the file, whose cost is phase `prepare` or `open`",
    }
    Cache = "cache" in choices {
        cache: Cache = Cache::Buffered,
        summary: "through the page cache, past it (O_DIRECT), or dropped from it (RWF_DONTCACHE)",
    }
    Checksums = "checksums" in given {
        checksums: Checksums = Checksums::Default,
        summary: "checksums of the filesystem, or neither checksums nor copy on write (FS_NOCOW_FL of btrfs)",
    }
    Writeback = "writeback" in choices {
        writeback_bytes: WriteBehind as Distance = None,
        summary: "write-behind: after so many bytes, sync_file_range(2) starts writing them back and waits for the last",
        card: |bytes: WriteBehind| match bytes {
            None => ValueCard::new(Phrase::Silent),
            Some(bytes) => ValueCard {
                fio: Err("fio's sync_file_range does not wait for the range before"),
                ..beside(format!("sync_file_range(2) every {}", Bytes(bytes).in_words()), 2)
            },
        },
    }
    Drop = "drop" in choices {
        drop: Drop = Drop::No,
        summary: "whether write-behind drops written pages from the page cache (POSIX_FADV_DONTNEED)",
    }
    Sync = "sync" in choices {
        sync: Sync = Sync::NONE,
        summary: "call for durability: once at the end (phase `sync`), after every N chunks, or in each write (phase `write`)",
    }
    Rate = "rate" in given {
        records_per_s: ArrivalRate as Arrivals = None,
        summary: "durable records that arrive in a second, with latency from the arrival, or as fast as they are written",
        card: |rate: ArrivalRate| match rate {
            None => ValueCard::new(Phrase::Silent),
            Some(rate) => ValueCard {
                fio: Err("fio counts latency from the call, not from the arrival"),
                code: InCode::LeftToCaller,
                ..beside(format!("{rate} records a second arrive"), 0)
            },
        },
    }
    Data = "data" in given {
        data: Data = Data::Random,
        summary: "incompressible bytes from a seed, the same with a percentage of zeros in each 4 KiB, or only zeros",
    }
    Source = "source" in given {
        source: Source = Source::File,
        summary: "source memory of the data: as large as the file, or one chunk repeated",
    }
    Memory = "memory" in given {
        memory: DataMemory = DataMemory::Any,
        summary: "position of that memory: anywhere (malloc(3)), at a page, or in huge pages (madvise(2))",
    }
    Advice = "advice" in choices {
        advice: Advice = Advice::None,
        summary: "advice to the kernel about the source of a copy: WILLNEED and SEQUENTIAL",
    }
    Origin = "origin" in given {
        origin: Origin = Origin::Warm,
        summary: "whether the source of a copy is in the page cache (warm) or not (cold)",
    }
}

fn beside(words: String, effort: u32) -> ValueCard {
    ValueCard {
        effort,
        ..ValueCard::new(Phrase::Beside(words.into()))
    }
}

impl Given {
    /// The size of the largest file of a set.
    pub fn longest_file_bytes(&self) -> u64 {
        match self.file_size {
            FileSize::Each(bytes) | FileSize::Between { most: bytes, .. } => {
                bytes.min(self.size_bytes)
            }
            FileSize::Whole => self.size_bytes,
        }
    }
}

impl Choices {
    /// A chunk as large as a thread's whole range.
    pub const WHOLE: u64 = Chunk::WHOLE;

    /// Whether each direct write copies the given data into aligned memory first.
    pub fn is_staged(&self, given: &Given) -> bool {
        self.cache == Cache::Direct && given.memory == DataMemory::Any
    }

    /// The bytes of a mapping that are prepared at a time. None if it is not prepared by window.
    pub fn prepared_window_bytes(&self) -> Option<u64> {
        let is_by_window = self.populate == Populate::Window || self.huge == Huge::Collapse;
        is_by_window.then_some(self.window_bytes)
    }
}

impl Axis {
    /// The value of a case whose name does not have one. Methods have default states of the file of their own.
    pub fn default_value(self) -> String {
        self.text(&Given::default(), &Choices::defaults(Prepare::Create))
    }

    /// A value as in a case's name. An error names the accepted values.
    pub fn canonical(self, value: &str) -> Result<String, String> {
        let mut given = Given::default();
        let mut choices = Choices::defaults(Prepare::Create);
        self.set(&mut given, &mut choices, value)?;
        Ok(self.text(&given, &choices))
    }
}
