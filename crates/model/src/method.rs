//! The methods and their cards. The engine has their loops.

mod cards;
mod copy_cards;

use crate::axis::Axis;
use crate::sync::SyncCall;
use crate::value::{Prepare, named_values};

/// The way in which a method selects the position in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cursor {
    /// By the position of the open file, which all users of a descriptor share.
    FilePosition,
    /// By an offset in the call.
    Offset,
    /// By an address in a mapping.
    Mapping,
    /// The method hands over no data.
    NoData,
}

/// The result of copying a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// The copy has bytes of its own, unless the filesystem shares blocks by itself.
    Bytes,
    /// Both files share their blocks until one is written.
    Blocks,
}

/// The engine of fio 3.33 that makes a method's calls.
#[derive(Debug, Clone, Copy)]
pub struct FioEngine {
    /// The name in fio.
    pub name: &'static str,
    /// The axis that sets how many writes the engine queues and submits together; none if each
    /// write is a call.
    pub queue: Option<Axis>,
    pub options: &'static [(&'static str, &'static str)],
    /// Differences from the method, in whole sentences.
    pub differences: &'static [&'static str],
}

impl FioEngine {
    /// An engine that makes a call for each write, as the method does.
    pub const fn plain(name: &'static str) -> Self {
        Self { name, queue: None, options: &[], differences: &[] }
    }
}

/// Each method, with its name and its card.
macro_rules! methods {
    ($($method:ident = $name:literal: $card:path,)+) => {
        named_values! {
            /// The API that moves the bytes.
            Method { $($method = $name,)+ }
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
    Uring = "uring": cards::URING,
    Mpiio = "mpiio": cards::MPIIO,
    ReadWrite = "read-write": copy_cards::READ_WRITE,
    MmapWrite = "mmap-write": copy_cards::MMAP_WRITE,
    ReadMmap = "read-mmap": copy_cards::READ_MMAP,
    MmapMmap = "mmap-mmap": copy_cards::MMAP_MMAP,
    Pipeline = "pipeline": copy_cards::PIPELINE,
    UringCopy = "uring-copy": copy_cards::URING_COPY,
    Splice = "splice": copy_cards::SPLICE,
    Sendfile = "sendfile": copy_cards::SENDFILE,
    CopyFileRange = "copy-file-range": copy_cards::COPY_FILE_RANGE,
    Ficlone = "ficlone": copy_cards::FICLONE,
    Allocate = "allocate": cards::ALLOCATE,
    Null = "null": cards::NULL,
    Program = "program": cards::PROGRAM,
    CopyProgram = "copy-program": cards::COPY_PROGRAM,
}

/// A method's card, with everything that planning, help, documentation and checks need.
#[derive(Debug, Clone, Copy)]
pub struct MethodCard {
    /// One line for `writebench list methods`.
    pub summary: &'static str,
    /// The call, or the calls, as a programmer names them: `write(2)`.
    pub words: &'static str,
    /// The calls that do the work, as strace shows them.
    pub calls: &'static str,
    /// Whether the method has a buffer of one chunk, beside the source.
    pub has_buffer: bool,
    pub cursor: Cursor,
    /// The result, if the data comes from another file.
    pub copying: Option<Copying>,
    /// The axes beside [`Method::COMMON_AXES`], in groups that several methods share.
    pub axes: &'static [&'static [Axis]],
    /// The states of the file that the method can start from; the first is the default, and adds no
    /// effort.
    pub prepares: &'static [Prepare],
    /// The sync calls that reach the data at the end, and the kinds of write-through.
    pub syncs: &'static [SyncCall],
    /// The sync calls that can follow every few chunks.
    pub syncs_on_the_way: &'static [SyncCall],
    /// The effort for a programmer, in points: a judgement, which `docs/explanation/answers.md` shows.
    pub effort: u32,
    /// The engine of fio that does the same, or the reason why there is none.
    pub fio: Result<FioEngine, &'static str>,
    /// Values with which a file of a few pages shows the particularities of the method: more than one call,
    /// and elements that do not end with the file.
    pub example: &'static [(Axis, &'static str)],
}

impl Method {
    /// Axes that every method has.
    pub const COMMON_AXES: &'static [Axis] = &[Axis::Size, Axis::Prepare, Axis::Sync];

    pub fn has_axis(self, axis: Axis) -> bool {
        Self::COMMON_AXES.contains(&axis) || self.card().axes.iter().any(|group| group.contains(&axis))
    }

    /// All axes of the method, in the order of a case's name.
    pub fn own_axes(self) -> impl Iterator<Item = Axis> {
        Axis::ALL.iter().copied().filter(move |&axis| self.has_axis(axis))
    }

    /// Whether data reaches the file.
    pub fn writes_data(self) -> bool {
        !matches!(self, Self::Allocate | Self::Null)
    }

    /// Whether the method's calls take flags for one call: RWF_DSYNC, RWF_DONTCACHE.
    pub fn has_flags(self) -> bool {
        self.card().syncs.contains(&SyncCall::RwfDsync)
    }

    /// Whether the method calls MPI, which only the processes that were started as ranks can do.
    pub fn is_of_mpi(self) -> bool {
        self.has_axis(Axis::Collective)
    }

    /// Whether the method is a program of the user's, which is started for each sample.
    pub fn is_program(self) -> bool {
        self.has_axis(Axis::Program)
    }

    /// Whether the method needs the engine alone: neither MPI nor a program of the user's.
    pub fn is_complete(self) -> bool {
        !self.is_of_mpi() && !self.is_program()
    }

    /// Whether a file with the data stands beside the sample: the one that is copied, or that a program may read.
    pub fn has_source_file(self) -> bool {
        self.copies() || self.is_program()
    }

    /// Whether the data comes from another file.
    pub fn copies(self) -> bool {
        self.card().copying.is_some()
    }
}
