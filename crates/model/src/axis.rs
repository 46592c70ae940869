//! The axes of cases, with one declaration each.

use crate::form::{Chunk, Count, Distance, Form, Size, Window};
use crate::phrase::Phrase;
use crate::quantity::Bytes;
use crate::similar::did_you_mean;
use crate::sync::Sync;
use crate::value::{
    Advice, AllocateCall, Cache, Collective, Data, DataMemory, Descriptor, Drop, FileLayout, Files, Huge,
    MapSharing, Origin, Populate, Prepare, Registered, Source, Store, named_values,
};

/// The distance behind the writer at which data is on its way to the device; none if the kernel decides.
pub type WriteBehind = Option<u64>;

/// Whether a job for fio can have a value, or the reason why it cannot.
type InFio = Result<(), &'static str>;

/// `crates/report/src/formats/fio` exports the value, or explains why it conflicts with others.
const SUPPORTED: InFio = Ok(());

/// How the printed code of a case has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InCode {
    /// The templates have it, except in languages that do not support it.
    Supported,
    /// It belongs to the caller's data or machine: the code is the same.
    LeftToCaller,
    /// No language supports it, for this reason.
    Unsupported(&'static str),
}

use InCode::{LeftToCaller, Supported, Unsupported};

macro_rules! form {
    ($type:ident) => {
        $type
    };
    ($type:ident $form:ty) => {
        $form
    };
}

/// Each axis, in the order of a case's name, has: its field, with the text's form if the type does
/// not determine it, and its default; one line for `writebench list axes`; a value's words in a
/// sentence; the effort of a non-default value for a programmer; whether fio 3.33 can do the same;
/// and how the printed code has it.
macro_rules! axes {
    ($($axis:ident = $name:literal {
        $field:ident: $type:ident $(as $form:ty)? = $default:expr,
        summary: $summary:literal,
        words: $words:expr,
        effort: $effort:expr,
        fio: $fio:expr,
        code: $code:expr,
    })+) => {
        named_values! {
            /// One orthogonal property of a case. The order here is the order in a case's name.
            Axis { $(#[doc = $summary] $axis = $name,)+ }
        }

        /// A value on each axis. [`crate::Case`] allows only valid combinations.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub struct Axes { $(#[doc = $summary] pub $field: $type,)+ }

        impl Axes {
            /// The defaults of every axis, with the method's default `prepare`.
            #[must_use]
            pub fn defaults(prepare: Prepare) -> Self {
                let defaults = Self { $($field: $default,)+ };
                Self { prepare, ..defaults }
            }

            /// The text of the value on `axis`.
            #[must_use]
            pub fn get(&self, axis: Axis) -> String {
                match axis { $(Axis::$axis => <form!($type $($form)?)>::text(self.$field),)+ }
            }

            /// Sets the value on `axis` from its text.
            ///
            /// # Errors
            /// The axis has no such value; the message names the accepted ones.
            pub fn set(&mut self, axis: Axis, value: &str) -> Result<(), String> {
                let result = match axis {
                    $(Axis::$axis => <form!($type $($form)?)>::parse(value).map(|value| self.$field = value),)+
                };
                result.map_err(|why| {
                    // A malformed number resembles no name.
                    let values = if axis.is_number() { String::new() } else { axis.values() };
                    let names = values.split(',').next().unwrap_or_default().split('|');
                    format!("{axis}={value}: {why}{}", did_you_mean(value, names))
                })
            }

            /// The words of the value on `axis`, where it is not the default.
            pub(crate) fn phrase(&self, axis: Axis) -> Phrase {
                match axis {
                    $(Axis::$axis => {
                        let words: fn($type) -> Phrase = $words;
                        words(self.$field)
                    })+
                }
            }

            /// The effort of the value on `axis`, if it is not the default.
            pub(crate) fn effort(&self, axis: Axis) -> u32 {
                match axis {
                    $(Axis::$axis => {
                        let effort: fn($type) -> u32 = $effort;
                        effort(self.$field)
                    })+
                }
            }

            /// Whether a job for fio can have the value on `axis`.
            ///
            /// # Errors
            /// The reason why fio cannot.
            pub fn in_fio(&self, axis: Axis) -> InFio {
                match axis {
                    $(Axis::$axis => {
                        let in_fio: fn($type) -> InFio = $fio;
                        in_fio(self.$field)
                    })+
                }
            }

            /// How the printed code has the value on `axis`.
            #[must_use]
            pub fn in_code(&self, axis: Axis) -> InCode {
                match axis {
                    $(Axis::$axis => {
                        let in_code: fn($type) -> InCode = $code;
                        in_code(self.$field)
                    })+
                }
            }
        }

        impl Axis {
            /// Whether the values of the axis are numbers rather than names.
            #[must_use]
            pub fn is_number(self) -> bool {
                match self { $(Self::$axis => <form!($type $($form)?)>::IS_NUMBER,)+ }
            }

            /// One line for `writebench list axes`.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Self::$axis => $summary,)+ }
            }

            /// The accepted values, for help and errors.
            #[must_use]
            pub fn values(self) -> String {
                match self { $(Self::$axis => <form!($type $($form)?)>::values(),)+ }
            }

            /// The named values, and some of those that are numbers, for tests of all values.
            #[must_use]
            pub fn examples(self) -> Vec<String> {
                match self { $(Self::$axis => <form!($type $($form)?)>::examples(),)+ }
            }
        }
    };
}

axes! {
    Size = "size" {
        size_bytes: u64 as Size = 1 << 30,
        summary: "bytes that the case writes, over all its files",
        words: |_| Phrase::Silent,
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| LeftToCaller,
    }
    Chunk = "chunk" {
        chunk_size_bytes: u64 as Chunk = 1 << 20,
        summary: "bytes handed over in one call, or in one element of a vector: a record; cut to the thread's range",
        words: Phrase::for_chunk,
        // Larger buffers take more memory than a program should.
        effort: |bytes| u32::from(bytes > 1 << 20),
        fio: |_| SUPPORTED,
        code: |_| Supported,
    }
    Vector = "vector" {
        // Linux refuses vectors of more elements (`UIO_MAXIOV`, see writev(2)).
        vector: u32 as Count<1024> = 128,
        summary: "chunks handed over in one vectored call",
        words: |chunks| Phrase::How(format!("with {chunks} chunks a call")),
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| Supported,
    }
    Depth = "depth" {
        // A greater depth is a mistake; io_uring_setup(2) takes up to 32768 entries.
        depth: u32 as Count<4096> = 32,
        summary: "operations under way at the same time, for each thread",
        words: |depth| Phrase::Beside(format!("{depth} under way")),
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| Supported,
    }
    Registered = "registered" {
        registered: Registered = Registered::None,
        summary: "what the kernel is told of before: the memory, the file, or both",
        words: |registered| {
            Phrase::Beside(match registered {
                Registered::None => return Phrase::Silent,
                Registered::Buffers => "registered buffers".to_owned(),
                Registered::Files => "registered file".to_owned(),
                Registered::Both => "registered buffers and file".to_owned(),
            })
        },
        effort: |_| 1, fio: |_| SUPPORTED, code: |_| Supported,
    }
    Ranks = "ranks" {
        ranks: u32 as Count<1_048_576> = 1,
        summary: "MPI ranks that write at the same time, each its share of the bytes; under mpirun or srun all of them",
        words: |ranks| Phrase::Beside(format!("{ranks} ranks")),
        effort: |_| 0, fio: |ranks| if ranks == 1 { SUPPORTED } else { Err("fio is no MPI program") },
        code: |ranks| if ranks == 1 { Supported } else { Unsupported("the function is that of one process: call it in each rank, with its part of the file") },
    }
    Threads = "threads" {
        // More threads are a mistake, not an experiment.
        threads: u32 as Count<1024> = 1,
        summary: "threads of each rank that write, each its own range",
        words: |threads| Phrase::Beside(format!("{threads} threads")),
        effort: |_| 6, fio: |_| SUPPORTED, code: |_| Supported,
    }
    Files = "files" {
        files: Files = Files::Shared,
        summary: "one file for all threads of all ranks, a file for each thread, or one for each rank",
        words: |files| match files {
            Files::Shared => Phrase::Silent,
            Files::PerThread => Phrase::Beside("a file each".to_owned()),
            Files::PerRank => Phrase::Beside("a file for each rank".to_owned()),
        },
        effort: |_| 0, fio: |files| match files {
            Files::Shared | Files::PerThread => SUPPORTED,
            Files::PerRank => Err("fio is no MPI program"),
        },
        code: |files| match files {
            Files::Shared => Supported,
            Files::PerThread | Files::PerRank => Unsupported("the function writes one file: call it for each"),
        },
    }
    Layout = "layout" {
        layout: FileLayout = FileLayout::Segmented,
        summary: "the order of data in a shared file: one contiguous part for each thread of each rank, or blocks in turns",
        words: |layout| match layout {
            FileLayout::Segmented => Phrase::Silent,
            FileLayout::Strided => Phrase::Beside("blocks in turns".to_owned()),
        },
        effort: |_| 1, fio: |layout| match layout {
            FileLayout::Segmented => SUPPORTED,
            FileLayout::Strided => Err("fio's jobs have contiguous parts of a file"),
        },
        code: |layout| match layout {
            FileLayout::Segmented => Supported,
            FileLayout::Strided => Unsupported("the function has one buffer for one file, and no blocks in turns"),
        },
    }
    Block = "block" {
        block_bytes: u64 as Size = 1 << 20,
        summary: "bytes of a block with layout=strided",
        words: |bytes| Phrase::Beside(format!("blocks of {}", Bytes(bytes).in_words())),
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| Supported,
    }
    Collective = "collective" {
        collective: Collective = Collective::No,
        summary: "each call by all ranks together (MPI_File_write_at_all), or by each rank for itself",
        words: |collective| match collective {
            Collective::No => Phrase::Silent,
            Collective::Yes => Phrase::Beside("all ranks in each call".to_owned()),
        },
        effort: |_| 1, fio: |_| Err("fio has no MPI-IO"), code: |_| Supported,
    }
    Descriptor = "descriptor" {
        descriptor: Descriptor = Descriptor::Shared,
        summary: "one open file description for all threads, or one for each",
        words: |descriptor| match descriptor {
            Descriptor::Shared => Phrase::Silent,
            Descriptor::PerThread => Phrase::Beside("a descriptor each".to_owned()),
        },
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| Supported,
    }
    Map = "map" {
        map: MapSharing = MapSharing::Shared,
        summary: "one mapping for all threads, or one for each",
        words: |map| match map {
            MapSharing::Shared => Phrase::Silent,
            MapSharing::PerThread => Phrase::Beside("a mapping each".to_owned()),
        },
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| Supported,
    }
    Populate = "populate" {
        populate: Populate = Populate::None,
        summary: "pages of a mapping made present by madvise(2) before they are used: none, by window, or all at once",
        words: |populate| Phrase::Beside(match populate {
            Populate::None => return Phrase::Silent,
            Populate::Window => "pages populated by window".to_owned(),
            Populate::All => "all pages populated".to_owned(),
        }),
        effort: |_| 1, fio: |populate| match populate {
            Populate::None => SUPPORTED,
            Populate::Window | Populate::All => Err("fio 3.33 populates no pages of a mapping"),
        },
        code: |_| Supported,
    }
    Huge = "huge" {
        huge: Huge = Huge::None,
        summary: "huge pages for the file's mapping: as the kernel decides, MADV_HUGEPAGE, or MADV_COLLAPSE by window",
        words: |huge| Phrase::Beside(match huge {
            Huge::None => return Phrase::Silent,
            Huge::Advise => "MADV_HUGEPAGE".to_owned(),
            Huge::Collapse => "MADV_COLLAPSE by window".to_owned(),
        }),
        effort: |huge| if huge == Huge::Collapse { 3 } else { 1 },
        fio: |huge| match huge {
            Huge::None => SUPPORTED,
            Huge::Advise | Huge::Collapse => Err("fio 3.33 gives no advice about huge pages of a file"),
        },
        code: |_| Supported,
    }
    Store = "store" {
        store: Store = Store::Plain,
        summary: "stores into a mapping: memcpy, or stores that bypass the CPU's caches",
        words: |store| match store {
            Store::Plain => Phrase::Silent,
            Store::Nontemporal => Phrase::How("with non-temporal stores".to_owned()),
        },
        effort: |_| 3, fio: |store| match store {
            Store::Plain => SUPPORTED,
            Store::Nontemporal => Err("fio's stores go through the CPU's caches"),
        },
        code: |_| Supported,
    }
    Window = "window" {
        window_bytes: u64 as Window = 2 << 20,
        summary: "bytes of a mapping that populate=window and huge=collapse prepare at a time",
        words: |bytes| Phrase::Beside(format!("windows of {}", Bytes(bytes).in_words())),
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| Supported,
    }
    Call = "call" {
        call: AllocateCall = AllocateCall::PosixFallocate,
        summary: "the call that gives the file its length and blocks",
        words: Phrase::for_allocation,
        effort: |_| 0, fio: |_| Err("nothing is written"), code: |_| Supported,
    }
    Program = "program" {
        // One for each --command of a run.
        program: u32 as Count<1024> = 1,
        summary: "which of the run's own programs (--command) writes the file",
        words: |program| Phrase::Beside(format!("the program with number {program}")),
        effort: |_| 0, fio: |_| Err("it is a program of its own"), code: |_| Supported,
    }
    Prepare = "prepare" {
        prepare: Prepare = Prepare::Create,
        summary: "the state that the file is put in first; what it costs is phase `prepare` or `open`",
        words: Phrase::for_prepare,
        effort: |prepare| if prepare == Prepare::ZeroFill { 3 } else { 1 },
        fio: |_| SUPPORTED,
        code: |_| Supported,
    }
    Cache = "cache" {
        cache: Cache = Cache::Buffered,
        summary: "through the page cache, past it (O_DIRECT), or dropped from it (RWF_DONTCACHE)",
        words: |cache| match cache {
            Cache::Buffered => Phrase::Silent,
            Cache::Direct => Phrase::How("with O_DIRECT".to_owned()),
            Cache::Dontcache => Phrase::How("with RWF_DONTCACHE".to_owned()),
        },
        effort: |cache| match cache {
            Cache::Buffered => 0,
            Cache::Dontcache => 1,
            // Direct I/O needs aligned memory, lengths and offsets, and some filesystems refuse it.
            Cache::Direct => 3,
        },
        fio: |cache| match cache {
            Cache::Buffered | Cache::Direct => SUPPORTED,
            Cache::Dontcache => Err("fio 3.33 has no RWF_DONTCACHE"),
        },
        code: |_| Supported,
    }
    Writeback = "writeback" {
        writeback_bytes: WriteBehind as Distance = None,
        summary: "write-behind: every so many bytes, sync_file_range(2) starts writing them and waits for those before",
        words: |bytes| match bytes {
            None => Phrase::Silent,
            Some(bytes) => Phrase::Beside(format!("sync_file_range(2) every {}", Bytes(bytes).in_words())),
        },
        effort: |_| 2, fio: |bytes| match bytes {
            None => SUPPORTED,
            Some(_) => Err("fio's sync_file_range does not wait for the range before"),
        },
        code: |_| Supported,
    }
    Drop = "drop" {
        drop: Drop = Drop::No,
        summary: "whether write-behind drops from the page cache what has been written out (POSIX_FADV_DONTNEED)",
        words: |drop| match drop {
            Drop::No => Phrase::Silent,
            Drop::Yes => Phrase::Beside("dropped from the page cache".to_owned()),
        },
        effort: |_| 1, fio: |drop| match drop {
            Drop::No => SUPPORTED,
            Drop::Yes => Err("fio 3.33 drops no pages on the way"),
        },
        code: |_| Supported,
    }
    Sync = "sync" {
        sync: Sync = Sync::NONE,
        summary: "the call that makes the data durable: once at the end (phase `sync`), after every N chunks, or \
                  in each write (phase `write`)",
        words: Phrase::for_sync,
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| Supported,
    }
    Data = "data" {
        data: Data = Data::Random,
        summary: "what is written: incompressible bytes made from a seed, or zeros",
        words: |data| match data {
            Data::Random => Phrase::Silent,
            Data::Zero => Phrase::How("of zeros".to_owned()),
        },
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| LeftToCaller,
    }
    Source = "source" {
        source: Source = Source::File,
        summary: "memory the data is read from: as large as the file, or one chunk used again",
        words: |source| match source {
            Source::File => Phrase::Silent,
            Source::Chunk => Phrase::How("from one buffer".to_owned()),
        },
        effort: |_| 0, fio: |_| SUPPORTED, code: |_| LeftToCaller,
    }
    Memory = "memory" {
        memory: DataMemory = DataMemory::Any,
        summary: "where that memory is: anywhere, as malloc(3) gives it, at a page, or in huge pages by madvise(2)",
        words: |memory| memory.words().map_or(Phrase::Silent, |words| Phrase::How(words.to_owned())),
        effort: |_| 1,
        fio: |memory| match memory {
            DataMemory::Any | DataMemory::PageAligned => SUPPORTED,
            DataMemory::HugePages => Err("fio's memory is in huge pages only where a pool is reserved for them"),
        },
        code: |memory| match memory {
            DataMemory::Any | DataMemory::PageAligned => LeftToCaller,
            DataMemory::HugePages => Supported,
        },
    }
    Advice = "advice" {
        advice: Advice = Advice::None,
        summary: "what the kernel is told of the file that is copied: WILLNEED and SEQUENTIAL",
        words: |advice| match advice {
            Advice::None => Phrase::Silent,
            Advice::Sequential => Phrase::First("fadvise(2) on the source"),
        },
        effort: |_| 1, fio: |_| Err("fio copies no files"), code: |_| Supported,
    }
    Origin = "origin" {
        origin: Origin = Origin::Warm,
        summary: "whether the file that is copied is in the page cache (warm) or not (cold)",
        words: |origin| match origin {
            Origin::Warm => Phrase::Silent,
            Origin::Cold => Phrase::How("of a cold file".to_owned()),
        },
        effort: |_| 0, fio: |_| Err("fio copies no files"), code: |_| LeftToCaller,
    }
}

impl Axes {
    /// The chunk size that stands for a thread's whole range.
    pub const WHOLE: u64 = Chunk::WHOLE;

    /// Whether data is copied into aligned memory before each direct write.
    #[must_use]
    pub fn is_staged(&self) -> bool {
        self.cache == Cache::Direct && self.memory == DataMemory::Any
    }

    /// The bytes of a mapping that are prepared at a time; none if it is not prepared by window.
    #[must_use]
    pub fn prepared_window_bytes(&self) -> Option<u64> {
        let is_by_window = self.populate == Populate::Window || self.huge == Huge::Collapse;
        is_by_window.then_some(self.window_bytes)
    }
}
