//! The methods of writing or copying a file.

mod cards;
mod copy_cards;

use crate::axis::Axis;
use crate::sync::SyncCall;
use crate::value::{Prepare, named_values};

/// What determines the offset of a write in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cursor {
    /// The open file's position determines it. All users of a descriptor share the position.
    FilePosition,
    /// Each call names its offset.
    Offset,
    /// The address in a mapping of the file determines it.
    Mapping,
    /// The method writes no data.
    NoData,
}

/// What a copying method copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// The copy gets separate bytes, unless the filesystem shares blocks by itself.
    Bytes,
    /// Both files share their blocks until one is written.
    Blocks,
}

/// The engine of fio 3.33 that makes a method's calls.
#[derive(Debug, Clone, Copy)]
pub struct FioEngine {
    pub name: &'static str,
    /// The axis that determines how many writes are submitted together. With `None` each write is a call.
    pub queue: Option<Axis>,
    /// The engine's own options of a job, with their values.
    pub options: &'static [(&'static str, &'static str)],
    /// What the engine does otherwise than the method, in whole sentences.
    pub differences: &'static [&'static str],
}

impl FioEngine {
    /// An engine without a queue, options of its own, or differences.
    pub const fn plain(name: &'static str) -> Self {
        Self {
            name,
            queue: None,
            options: &[],
            differences: &[],
        }
    }
}

macro_rules! methods {
    ($($method:ident = $name:literal $(| $earlier:literal)*: $card:path,)+) => {
        named_values! {
            Method { $($method = $name $(| $earlier)*,)+ }
        }

        impl Method {
            pub fn card(self) -> &'static MethodCard {
                match self { $(Self::$method => &$card,)+ }
            }
        }
    };
}

methods! {
    Write = "write": cards::WRITE,
    Pwrite = "pwrite": cards::PWRITE,
    Writev = "writev": cards::WRITEV,
    Pwritev = "pwritev": cards::PWRITEV,
    Fwrite = "fwrite": cards::FWRITE,
    Mmap = "mmap": cards::MMAP,
    Uring = "io_uring" | "uring": cards::URING,
    Mpiio = "mpiio": cards::MPIIO,
    WriteFiles = "write-files": cards::WRITE_FILES,
    UringFiles = "io_uring-files" | "uring-files": cards::URING_FILES,
    ReadWrite = "read-write": copy_cards::READ_WRITE,
    MmapWrite = "mmap-write": copy_cards::MMAP_WRITE,
    ReadMmap = "read-mmap": copy_cards::READ_MMAP,
    MmapMmap = "mmap-mmap": copy_cards::MMAP_MMAP,
    Pipeline = "pipeline": copy_cards::PIPELINE,
    UringCopy = "io_uring-copy" | "uring-copy": copy_cards::URING_COPY,
    Splice = "splice": copy_cards::SPLICE,
    Sendfile = "sendfile": copy_cards::SENDFILE,
    CopyFileRange = "copy-file-range": copy_cards::COPY_FILE_RANGE,
    Ficlone = "ficlone": copy_cards::FICLONE,
    Allocate = "allocate": cards::ALLOCATE,
    Null = "null": cards::NULL,
    Program = "program": cards::PROGRAM,
    CopyProgram = "copy-program": cards::COPY_PROGRAM,
}

/// The properties of a method.
#[derive(Debug, Clone, Copy)]
pub struct MethodCard {
    /// One line for `writebench list methods`.
    pub summary: &'static str,
    /// The method's own call in a description of a case: `write(2)`.
    pub words: &'static str,
    /// The names of its system calls in the output of strace.
    pub calls: &'static str,
    /// Whether the method has a buffer of one chunk in addition to its source.
    pub has_buffer: bool,
    pub cursor: Cursor,
    /// What the method copies. None if it writes from memory, or nothing.
    pub copying: Option<Copying>,
    /// The axes in addition to [`Method::COMMON_AXES`], in groups that several methods share.
    pub axes: &'static [&'static [Axis]],
    /// The file's possible states at the start. The first is the default, without effort.
    pub prepares: &'static [Prepare],
    /// The possible sync calls at the end or by write-through.
    pub syncs: &'static [SyncCall],
    /// The possible sync calls after some of the chunks.
    pub syncs_on_the_way: &'static [SyncCall],
    /// A programmer's effort in points: a judgement, which `docs/explanation/answers.md` shows.
    pub effort: u32,
    /// The engine of fio that makes the same calls, or the reason why there is none.
    pub fio: Result<FioEngine, &'static str>,
    /// Values for tests, with which a file of a few pages needs more than one call, and has elements that do not end
    /// with the file.
    pub example: &'static [(Axis, &'static str)],
}

impl Method {
    /// The axes that all methods have.
    pub const COMMON_AXES: &'static [Axis] = &[Axis::Size, Axis::Prepare, Axis::Sync];

    pub fn has_axis(self, axis: Axis) -> bool {
        Self::COMMON_AXES.contains(&axis)
            || self.card().axes.iter().any(|group| group.contains(&axis))
    }

    /// The axes of this method, in the order of a case's name.
    pub fn own_axes(self) -> impl Iterator<Item = Axis> {
        Axis::ALL
            .iter()
            .copied()
            .filter(move |&axis| self.has_axis(axis))
    }

    /// Whether a sample moves bytes into the file.
    pub fn writes_data(self) -> bool {
        !matches!(self, Self::Allocate | Self::Null)
    }

    /// Whether the calls take `RWF_DSYNC` and `RWF_DONTCACHE`.
    pub fn has_flags(self) -> bool {
        self.card().syncs.contains(&SyncCall::RwfDsync)
    }

    /// Whether the method submits operations to io_uring.
    pub fn has_ring(self) -> bool {
        self.has_axis(Axis::Registered)
    }

    /// Whether the method calls MPI, which only processes can do that were started as ranks.
    pub fn is_of_mpi(self) -> bool {
        self.has_axis(Axis::Collective)
    }

    /// Whether each sample starts a program of the user's.
    pub fn is_program(self) -> bool {
        self.has_axis(Axis::Program)
    }

    /// Whether the method needs neither MPI nor a program of the user's.
    pub fn is_complete(self) -> bool {
        !self.is_of_mpi() && !self.is_program()
    }

    /// Whether the directory has a source file, to be copied or for a program to read.
    pub fn has_source_file(self) -> bool {
        self.copies() || self.is_program()
    }

    /// Whether a sample writes a set of files.
    pub fn writes_set(self) -> bool {
        self.has_axis(Axis::FileSize)
    }

    /// Whether a sample copies a source file.
    pub fn copies(self) -> bool {
        self.card().copying.is_some()
    }
}
