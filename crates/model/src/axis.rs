//! The axes of cases.

use crate::data::Data;
use crate::file_set::FileSize;
use crate::form::{Arrivals, Chunk, Count, Described, Distance, Form, Size, ValueEntry, Window};
use crate::quantity::Bytes;
use crate::similar::did_you_mean;
use crate::sync::Sync;
use crate::value::{
    Access, Advice, AllocateCall, Cache, Checksums, Collective, DataMemory, Descriptor, Directory,
    Drop, FileLayout, Files, Holes, Huge, MapSharing, Naming, Origin, PageOrder, Populate, Prepare,
    Protect, Registered, Source, Store, SyncFiles, named_values,
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
/// `card` belongs to axes of numbers. `about` is the section of the reference, which the values' paragraphs follow.
macro_rules! axes {
    ($($axis:ident = $name:literal in $part:ident {
        $field:ident: $type:ident $(as $form:ty)? = $default:expr,
        summary: $summary:literal,
        about: $about:literal,
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

            /// What a user should know before choosing a value: the section of the reference, in Markdown.
            pub fn about(self) -> &'static str {
                match self { $(Self::$axis => $about,)+ }
            }

            /// The named values, each with its paragraph. An axis of numbers only has none.
            pub fn entries(self) -> Vec<ValueEntry> {
                match self { $(Self::$axis => <form!($type $($form)?)>::entries(),)+ }
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
        about:
            "The bytes of a sample over all threads, ranks and files together: with `threads=4`, each thread \
             writes a quarter of them. This differs from fio, whose `size=` is for each job. A run that you give \
             a `--budget` but no size chooses one itself, and `--size` replaces it in all cases of a run. With \
             `cache=direct` it must be a multiple of 512 bytes.",
        card: |_| ValueCard { code: InCode::LeftToCaller, ..ValueCard::new(Phrase::Silent) },
    }
    Chunk = "chunk" in choices {
        chunk_size_bytes: u64 as Chunk = 1 << 20,
        summary: "bytes of a record, which is one call or one element of a vector, at most the thread's range",
        about:
            "The bytes that one call hands over: `bs=` of fio and dd. In a vectored call they are one element, in \
             a mapping one memory copy, and in a copy what is read and then written. If each record is synced, a \
             chunk is a record. Larger chunks make fewer calls. For example, plain write with 64 KiB had 0.65 of \
             its speed with 1 MiB on ext4 ([Findings](../explanation/findings.md#new-files-in-the-page-cache)). \
             They also take more memory, and leave the CPU's caches. With `cache=direct` a chunk must be a \
             multiple of the device's logical block, 512 bytes at least.",
        card: |bytes| ValueCard {
            // Larger buffers take more memory than a program should.
            effort: u32::from(bytes > 1 << 20),
            ..ValueCard::new(Phrase::How(match bytes {
                Choices::WHOLE => "in one call".into(),
                bytes => format!("in {} chunks", Bytes(bytes).in_words()).into(),
            }))
        },
    }
    Access = "access" in given {
        access: Access = Access::Sequential,
        summary: "places of the chunks in the file: one after the other, or pages at random, uniform or zipf",
        about:
            "Where the chunks go. By default each follows the one before. With the other values a chunk is a page \
             of a file that exists (`prepare=overwrite`), and a sample writes as many pages as the file has, at \
             random. A database writes its file like this. `sync=CALL/N` then makes N pages durable together, \
             which is a commit. All strategies of a round write the same pages in the same commits. It needs one \
             thread, and a size of whole pages.",
    }
    Order = "order" in choices {
        order: PageOrder = PageOrder::Arrival,
        summary: "order of the pages in a commit: as they come, or sorted by their place in the file",
        about:
            "The order in which the pages of a commit are written, with `access=uniform` or `zipf`. A program \
             can sort the pages of a commit, because it must wait for all of them anyway.",
    }
    Protect = "protect" in choices {
        protect: Protect = Protect::None,
        summary: "what keeps a power loss from tearing a page: nothing, RWF_ATOMIC, or a double write",
        about:
            "A power loss in the middle of a write can leave a page with a new part and an old one. Such a *torn \
             page* has neither its old content nor its new one. This axis chooses what prevents that. Each value \
             but `none` is another workload, never ranked with unprotected pages.",
    }
    Vector = "vector" in choices {
        // Linux refuses vectors of more elements (`UIO_MAXIOV`, see writev(2)).
        vector: u32 as Count<1024> = 128,
        summary: "chunks in one vectored call",
        about:
            "The elements of one writev(2), pwritev(2) or pwritev2(2), up to 1,024. A call hands over `vector` \
             times `chunk` bytes. It pays if your data is in many small pieces: on ext4, 128 pieces of 64 KiB in \
             one call were nearly as fast as large chunks \
             ([Findings](../explanation/findings.md#new-files-in-the-page-cache)). With `cache=direct` and \
             `memory=any`, all chunks of a call are copied into one aligned element. A sync after every N chunks \
             needs an N that `vector` divides.",
        card: |chunks| ValueCard::new(Phrase::How(match chunks {
            1 => "with 1 chunk a call".into(),
            chunks => format!("with {chunks} chunks a call").into(),
        })),
    }
    Depth = "depth" in choices {
        // io_uring_setup(2) takes up to 32768 entries, but a greater depth is a mistake.
        depth: u32 as Count<4096> = 32,
        summary: "operations of each thread in flight",
        about:
            "How much is on its way at the same time, for each thread: writes of `io_uring`, files of `io_uring-files`, \
             chunks of `io_uring-copy`, and buffers of `pipeline`. It is `iodepth` of fio. With `cache=direct` the \
             device works on several chunks while your thread prepares more. Buffered writes mostly end while \
             they are submitted, because they only copy into the page cache. Then depth saves calls, and no \
             waiting. The ring gets two entries for each, because a linked sync may follow.",
        card: |depth| beside(format!("{depth} in flight"), 0),
    }
    Registered = "registered" in choices {
        registered: Registered = Registered::None,
        summary: "resources registered with the ring before: the memory, the file, or both",
        about:
            "What io_uring_register(2) makes known to the ring in phase open, so that single operations need not \
             look it up.",
    }
    Ranks = "ranks" in choices {
        ranks: u32 as Count<1_048_576> = 1,
        summary: "MPI ranks, each with its share of the bytes (default under mpirun or srun: all)",
        about:
            "The processes of an MPI job that write together. You need a build with the feature `mpi`, and start \
             it with mpirun or srun. By default all ranks take part. \
             Each gets its share of `size`, and the clock runs from the first open to the last close.",
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
        about:
            "The writing threads of each rank (`numjobs=` with `thread` in fio). Each writes its own contiguous \
             range, unless `layout=strided`. Methods at the file's position need `files=per-thread` or \
             `descriptor=per-thread` with them. Threads that write one file queue on its lock, so they gain most \
             with a file each, with a mapping, or where each waits for the disk \
             ([Findings](../explanation/findings.md#threads)).",
        card: |threads| beside(format!("{threads} threads"), 6),
    }
    Files = "files" in choices {
        files: Files = Files::Shared,
        summary: "one file for all threads of all ranks, a file for each thread, or one for each rank",
        about:
            "Whether writers share a file. `size` is divided among the files, and the ranking treats them as one \
             job: the total ends with the last close.",
    }
    FileSize = "file-size" in given {
        file_size: FileSize = FileSize::Each(16 << 10),
        summary: "bytes of each file in a set, log-uniform between two sizes, or one file with all bytes",
        about:
            "The sizes of the files in a set, for `write-files` and `io_uring-files`. The number of files follows \
             from `size`: 32 MiB in files of 16 KiB are 2,048. The last file gets what is left. At most 4,194,304 \
             files are possible.",
        card: |size| ValueCard {
            code: if size == FileSize::Whole { InCode::Supported } else { InCode::LeftToCaller },
            ..ValueCard::new(Phrase::Silent)
        },
    }
    Directory = "directory" in choices {
        directory: Directory = Directory::One,
        summary: "one directory for a set of files, one for each thread, or one for each 256 files",
        about:
            "Where the files of a set are created. It matters because each new name takes the lock of its \
             directory.",
    }
    Naming = "naming" in choices {
        naming: Naming = Naming::Direct,
        summary: "the final name at once, or after the write by rename(2), RENAME_EXCHANGE, or linkat(2) of an O_TMPFILE",
        about:
            "When the file gets its final name, and by which call. Everything but `direct` makes the change \
             atomic: a reader finds the old file or the whole new one. Only a sync before it protects this \
             against a power loss. [Replace a file](../how-to/replace-a-file.md) shows the use.",
    }
    SyncFiles = "sync-files" in choices {
        sync_files: SyncFiles = SyncFiles::None,
        summary: "durability of a set: fsync(2) of each file, of all afterwards (maybe after early write-back), or one syncfs(2)",
        about:
            "Which calls make a set of files durable, and when. Each value but `none` also syncs the directories \
             at the end, because a name is durable only with its directory. [Write many \
             files](../how-to/many-files.md) compares them.",
    }
    Layout = "layout" in choices {
        layout: FileLayout = FileLayout::Segmented,
        summary: "the order of data in a shared file: a contiguous part for each thread of each rank, or blocks in turns",
        about:
            "The order of data in a shared file.",
    }
    Block = "block" in choices {
        block_bytes: u64 as Size = 1 << 20,
        summary: "bytes of a block with layout=strided",
        about:
            "The contiguous bytes that a thread writes before it skips those of the others, with \
             `layout=strided`. It must be a multiple of `chunk`. It is IOR's blockSize, and the number of IOR's segments follows from `size`.",
        card: |bytes| beside(format!("blocks of {}", Bytes(bytes).in_words()), 0),
    }
    Collective = "collective" in choices {
        collective: Collective = Collective::No,
        summary: "calls by all ranks together (MPI_File_write_at_all), or by each rank alone",
        about:
            "Whether the ranks call MPI-IO together. Only `mpiio` has it.",
    }
    Descriptor = "descriptor" in choices {
        descriptor: Descriptor = Descriptor::Shared,
        summary: "one open file description for all threads, or one for each",
        about:
            "Whether threads share one open file. It concerns a common file only: with `files=per-thread`, each \
             thread has its own anyway.",
    }
    Map = "map" in choices {
        map: MapSharing = MapSharing::Shared,
        summary: "one mapping for all threads, or one for each",
        about:
            "Whether threads share one mapping.",
    }
    Populate = "populate" in choices {
        populate: Populate = Populate::None,
        summary: "pages of a mapping made present by madvise(2) before their use: none, by window, or all at once",
        about:
            "A mapping's pages come into being by page faults, one for each page of 4 KiB, unless madvise(2) \
             makes them present first. This axis chooses the advice for the written file, or for a mapped source \
             of a copy.",
    }
    Huge = "huge" in choices {
        huge: Huge = Huge::None,
        summary: "huge pages of the file's mapping: the kernel's choice, MADV_HUGEPAGE, or MADV_COLLAPSE by window",
        about:
            "The size of the pages in the mapping of the written file. Pages of 2 MiB need one page fault instead \
             of 512.",
    }
    Store = "store" in choices {
        store: Store = Store::Plain,
        summary: "stores into a mapping: memcpy, or past the CPU's caches",
        about:
            "The instructions that copy data into a mapping.",
    }
    Window = "window" in choices {
        window_bytes: u64 as Window = 2 << 20,
        summary: "bytes prepared at a time by populate=window and huge=collapse",
        about:
            "How many bytes `populate=window` and `huge=collapse` prepare at a time, in multiples of 4 KiB, and \
             of 2 MiB for `huge=collapse`. Small windows stay in the CPU's caches until they are filled, and \
             large ones need fewer calls. It must be a multiple of `chunk`.",
        card: |bytes| beside(format!("windows of {}", Bytes(bytes).in_words()), 0),
    }
    Call = "call" in choices {
        call: AllocateCall = AllocateCall::PosixFallocate,
        summary: "call for the file's length and blocks",
        about:
            "What method `allocate` calls. It shows the cost of a reservation alone: no data is written.",
    }
    Program = "program" in choices {
        // One for each --command of a run.
        program: u32 as Count<1024> = 1,
        summary: "number of the program among --command",
        about:
            "Which of the run's programs a case starts, in the order of their `--command`. You seldom type it, \
             because each `--command` adds its own case.",
        card: |program| ValueCard {
            fio: Err("fio cannot start the program"),
            ..beside(format!("the program with number {program}"), 0)
        },
    }
    Prepare = "prepare" in choices {
        prepare: Prepare = Prepare::Create,
        summary: "initial state of the file, whose cost is phase `prepare` or `open`",
        about:
            "The state of the file before its first write, and the call that makes it. The call is timed, in \
             phase prepare or open, so a reservation wins only if it pays for itself. Cases that start from an \
             old file (`truncate`, `overwrite`) are another workload than those with a new one.",
    }
    Cache = "cache" in choices {
        cache: Cache = Cache::Buffered,
        summary: "through the page cache, past it (O_DIRECT), or dropped from it (RWF_DONTCACHE)",
        about:
            "Whether data goes through the page cache on its way to the device, and whether it stays there.",
    }
    Checksums = "checksums" in given {
        checksums: Checksums = Checksums::Default,
        summary: "checksums of the filesystem, or neither checksums nor copy on write (FS_NOCOW_FL of btrfs)",
        about:
            "Whether the filesystem keeps checksums of the data. Only btrfs lets a file choose.",
    }
    Writeback = "writeback" in choices {
        writeback_bytes: WriteBehind as Distance = None,
        summary: "write-behind: after so many bytes, sync_file_range(2) starts writing them back and waits for the last",
        about:
            "After this many bytes, sync_file_range(2) starts writing them to the device, and waits for those of \
             the window before (`SYNC_FILE_RANGE_WRITE`, then with `WAIT_BEFORE` and `WAIT_AFTER`). So the device \
             works while you write, at most two windows are dirty, and the final sync has little left. It makes \
             nothing durable by itself, because metadata and the device's cache are left out. It needs \
             `cache=buffered`, contiguous parts, and no sync before the end. With 2 MiB it gained 1.15 times \
             plain write for durable files on btrfs, and 1.29 on ext4 together with `fallocate` \
             ([Findings](../explanation/findings.md#durable-files)).",
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
        about:
            "What happens to the pages behind `writeback`.",
    }
    Sync = "sync" in choices {
        sync: Sync = Sync::NONE,
        summary: "call for durability: once at the end (phase `sync`), after every N chunks, or in each write (phase `write`)",
        about:
            "The call that makes data durable, and when it is made. A word alone is one call at the end: \
             `sync=fsync` is fio's `end_fsync=1`. With a number it comes after every N chunks of a thread: \
             `sync=fsync/1` is fio's `fsync=1`. The three write-through values need no call of their own, because \
             each write is durable when it returns. A durable new file also needs a durable name, so its \
             directory is opened and synced in phase sync. \
             [Filesystems](../explanation/filesystems.md#where-a-sync-makes-data-durable) lists where which call \
             is trusted.",
    }
    Rate = "rate" in given {
        records_per_s: ArrivalRate as Arrivals = None,
        summary: "durable records that arrive in a second, with latency from the arrival, or as fast as they are written",
        about:
            "How many durable records arrive in a second, at equal distances. A record's latency begins at its \
             arrival, so a stall delays all records behind it ([goals](goals.md#records-that-arrive-at-a-rate)). \
             It needs a sync of each record or group, and one thread. In fio, `rate=` is in bytes, and \
             `rate_iops=` counts latency from the call.",
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
        about:
            "The content of the file. It matters where a layer compresses, deduplicates or leaves out zeros: ZFS, \
             btrfs with `compress`, some SSDs and virtual disks.",
    }
    Source = "source" in given {
        source: Source = Source::File,
        summary: "source memory of the data: as large as the file, or one chunk repeated",
        about:
            "Where the written data comes from, before any copy.",
    }
    Memory = "memory" in given {
        memory: DataMemory = DataMemory::Any,
        summary: "position of that memory: anywhere (malloc(3)), at a page, or in huge pages (madvise(2))",
        about:
            "Where the source data lies in memory. It matters to `cache=direct` only. `--data-from` of `advise` \
             sets it for a search.",
    }
    Advice = "advice" in choices {
        advice: Advice = Advice::None,
        summary: "advice to the kernel about the source of a copy: WILLNEED and SEQUENTIAL",
        about:
            "What the kernel is told about the source of a copy, in phase open.",
    }
    Origin = "origin" in given {
        origin: Origin = Origin::Warm,
        summary: "whether the source of a copy is in the page cache (warm) or not (cold)",
        about:
            "Whether the source of a copy is in the page cache when the clock starts.",
    }
    Holes = "holes" in given {
        holes: Holes = Holes::Fill,
        summary: "whether a copy fills the holes of its source, or keeps them",
        about:
            "What a copy makes of the holes in its source: the parts of a sparse file that have no blocks and read \
             as zeros. A copy that keeps them does less, and its file takes less space. So it is another workload, \
             never ranked with one that fills them. A source that writebench makes has no holes: name your own with \
             `--from`.",
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
