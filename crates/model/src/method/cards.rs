//! The cards of methods that write from memory, of `allocate` and of programs.

use super::{Copying, Cursor, FioEngine, MethodCard};
use crate::axis::Axis::{
    self, Access, Block, Cache, Call, Checksums, Chunk, Collective, Data, Depth, Descriptor,
    Directory, Drop, FileSize, Files, Huge, Layout, Map, Memory, Naming, Order, Populate, Program,
    Protect, Ranks, Rate, Registered, Source, Store, SyncFiles, Threads, Vector, Window, Writeback,
};
use crate::sync::SyncCall::{self, Fdatasync, Fsync, Msync, ODsync, OSync, RwfDsync};
use crate::value::Prepare::{
    self, Create, Fallocate, FallocateKeepSize, FallocateZeroRange, Overwrite, PosixFallocate,
    SetLen, Truncate, WriteZeroes, ZeroFill,
};

pub(super) const WRITE_BEHIND: &[Axis] = &[Writeback, Drop];

pub(super) const SYNCS_AFTERWARDS: &[SyncCall] = &[SyncCall::None, Fsync, Fdatasync];
pub(super) const SYNCS_OF_MAPS: &[SyncCall] = &[SyncCall::None, Msync, Fsync, Fdatasync];
/// Methods that write by a descriptor can have it opened for write-through.
const SYNCS: &[SyncCall] = &[SyncCall::None, Fsync, Fdatasync, ODsync, OSync];
/// Methods whose call has flags can also ask each call for durability.
const SYNCS_WITH_FLAGS: &[SyncCall] = &[SyncCall::None, Fsync, Fdatasync, ODsync, OSync, RwfDsync];

/// The axes of methods that write one file from memory.
const WRITING: &[Axis] = &[
    Chunk, Ranks, Threads, Files, Descriptor, Data, Source, Memory, Checksums,
];

/// The axes of methods that can write blocks in turns, because each call has an offset.
const STRIDING: &[Axis] = &[Layout, Block];

/// The axes of methods that can write pages at random.
const PAGES: &[Axis] = &[Access, Order];

/// The states in which a file has a length, which a mapping needs.
pub(super) const WITH_LENGTH: &[Prepare] = &[
    SetLen,
    Fallocate,
    PosixFallocate,
    FallocateZeroRange,
    WriteZeroes,
    ZeroFill,
    Overwrite,
];

/// All states but [`Prepare::FallocateAhead`], which needs one writer at the end of its file.
const AT_ONCE: &[Prepare] = &[
    Create,
    Truncate,
    SetLen,
    Fallocate,
    PosixFallocate,
    FallocateKeepSize,
    FallocateZeroRange,
    WriteZeroes,
    ZeroFill,
    Overwrite,
];

/// The base of all cards. Each card replaces the texts, and what differs for its method.
pub(super) const WRITES: MethodCard = MethodCard {
    summary: "",
    words: "",
    calls: "",
    has_buffer: false,
    cursor: Cursor::Offset,
    copying: None,
    axes: &[],
    prepares: AT_ONCE,
    syncs: SYNCS_WITH_FLAGS,
    syncs_on_the_way: &[Fsync, Fdatasync],
    effort: 0,
    fio: Err(""),
    example: &[(Chunk, "4KiB")],
};

pub(super) const WRITE: MethodCard = MethodCard {
    summary: "write(2) at the file's own position, one call per chunk",
    words: "write(2)",
    calls: "write",
    cursor: Cursor::FilePosition,
    axes: &[WRITING, WRITE_BEHIND, &[Cache, Rate]],
    prepares: Prepare::ALL,
    syncs: SYNCS,
    fio: Ok(FioEngine::plain("sync")),
    ..WRITES
};

pub(super) const PWRITE: MethodCard = MethodCard {
    summary: "pwrite(2) at an offset, one call per chunk (pwritev2(2) with flags), threads can share a descriptor",
    words: "pwrite(2)",
    calls: "pwrite64",
    axes: &[
        WRITING,
        STRIDING,
        WRITE_BEHIND,
        PAGES,
        &[Protect, Cache, Rate],
    ],
    prepares: Prepare::ALL,
    fio: Ok(FioEngine::plain("psync")),
    ..WRITES
};

pub(super) const WRITEV: MethodCard = MethodCard {
    summary: "writev(2) at the file's own position, a vector of chunks per call",
    words: "writev(2)",
    calls: "writev",
    cursor: Cursor::FilePosition,
    axes: &[WRITING, WRITE_BEHIND, &[Vector, Cache, Rate]],
    prepares: Prepare::ALL,
    effort: 2,
    // fio merges adjacent operations of its queue into one call.
    fio: Ok(FioEngine {
        queue: Some(Vector),
        differences: &["fio sets the position of the file before each call, with lseek"],
        ..FioEngine::plain("vsync")
    }),
    example: &[(Chunk, "4KiB"), (Vector, "3")],
    ..WRITES
};

pub(super) const PWRITEV: MethodCard = MethodCard {
    summary: "pwritev(2) at an offset, a vector of chunks per call, threads can share a descriptor",
    words: "pwritev(2)",
    calls: "pwritev",
    axes: &[WRITING, WRITE_BEHIND, &[Vector, Cache, Rate]],
    prepares: Prepare::ALL,
    effort: 2,
    fio: Ok(FioEngine::plain("pvsync")),
    example: &[(Chunk, "4KiB"), (Vector, "3")],
    ..WRITES
};

pub(super) const FWRITE: MethodCard = MethodCard {
    summary: "fwrite(3) of the C library, with its default buffer, flushed in phase write",
    words: "fwrite(3)",
    calls: "fdopen, fwrite, fflush, fclose",
    cursor: Cursor::FilePosition,
    axes: &[WRITING],
    syncs: SYNCS_AFTERWARDS,
    syncs_on_the_way: &[],
    fio: Err("fio has no engine with the C library's buffer"),
    ..WRITES
};

pub(super) const MMAP: MethodCard = MethodCard {
    summary: "memory copies into a MAP_SHARED mapping, one per chunk",
    words: "memory copies into mmap(2)",
    calls: "mmap, madvise, memcpy, msync, munmap",
    cursor: Cursor::Mapping,
    axes: &[WRITING, PAGES, &[Map, Populate, Huge, Store, Window, Rate]],
    prepares: WITH_LENGTH,
    syncs: SYNCS_OF_MAPS,
    syncs_on_the_way: &[Msync, Fsync, Fdatasync],
    // The file needs its length beforehand, and errors arrive as SIGBUS.
    effort: 4,
    fio: Ok(FioEngine::plain("mmap")),
    ..WRITES
};

pub(super) const URING: MethodCard = MethodCard {
    summary: "io_uring writes at an offset, one per chunk, several in flight, a linked sync with sync=CALL/1",
    words: "io_uring(7) writes",
    calls: "io_uring_setup, io_uring_register, io_uring_enter",
    axes: &[WRITING, PAGES, &[Protect, Depth, Registered, Cache]],
    prepares: Prepare::ALL,
    // A ring and completions are more code, and some kernels forbid io_uring.
    effort: 8,
    fio: Ok(FioEngine {
        name: "io_uring",
        queue: Some(Depth),
        options: &[("nonvectored", "1")],
        differences: &["fio submits and waits in two calls, where writebench does both in one"],
    }),
    ..WRITES
};

pub(super) const MPIIO: MethodCard = MethodCard {
    summary: "MPI-IO: MPI_File_write_at, one call per chunk, by each rank or by all together",
    words: "MPI-IO",
    calls: "pwrite64",
    axes: &[
        &[Chunk, Ranks, Files, Data, Source, Memory, Collective],
        STRIDING,
    ],
    syncs: &[SyncCall::None, Fsync],
    syncs_on_the_way: &[],
    effort: 3,
    fio: Err("fio has no MPI-IO"),
    ..WRITES
};

pub(super) const WRITE_FILES: MethodCard = MethodCard {
    summary: "a set of files: open(2), write(2) and close(2) of each, by its name in an open directory",
    words: "open(2), write(2), close(2)",
    calls: "openat, write, close",
    axes: &[&[
        Chunk, Ranks, Threads, FileSize, Directory, Naming, SyncFiles, Data, Source, Memory,
    ]],
    prepares: &[Create, Truncate, Overwrite],
    syncs: &[SyncCall::None],
    syncs_on_the_way: &[],
    fio: Err("fio's engines for many files write no data, or keep all files open"),
    example: &[(FileSize, "8KiB"), (Chunk, "4KiB")],
    ..WRITES
};

pub(super) const URING_FILES: MethodCard = MethodCard {
    summary: "a set of files by io_uring: linked open, write and close of each, several files in flight",
    words: "linked io_uring(7) open, write, close",
    calls: "io_uring_setup, io_uring_register, io_uring_enter",
    axes: &[&[
        Chunk, Ranks, Threads, FileSize, Directory, Naming, SyncFiles, Data, Source, Memory, Depth,
        Registered,
    ]],
    effort: 9,
    example: &[(FileSize, "4KiB"), (Chunk, "4KiB"), (Depth, "3")],
    ..WRITE_FILES
};

pub(super) const ALLOCATE: MethodCard = MethodCard {
    summary: "creates a file of that size with posix_fallocate, fallocate or ftruncate, without data",
    words: "posix_fallocate(3)",
    calls: "fallocate or ftruncate",
    cursor: Cursor::NoData,
    axes: &[&[Call]],
    prepares: &[Create, Truncate],
    syncs: SYNCS_AFTERWARDS,
    syncs_on_the_way: &[],
    fio: Err("nothing is written"),
    example: &[],
    ..WRITES
};

pub(super) const NULL: MethodCard = MethodCard {
    summary: "no call, which leaves the file empty and shows the cost of writebench itself",
    words: "no call",
    calls: "none",
    axes: &[&[Chunk, Threads, Source]],
    prepares: &[Create],
    syncs: &[SyncCall::None],
    syncs_on_the_way: &[],
    fio: Ok(FioEngine {
        differences: &["fio opens no file"],
        ..FioEngine::plain("null")
    }),
    ..WRITES
};

pub(super) const PROGRAM: MethodCard = MethodCard {
    summary: "your program for a file: `run --command 'PROGRAM {file}'`",
    words: "your program",
    calls: "the program's own",
    axes: &[&[Program]],
    // The old file is there before the program starts.
    prepares: &[Create, Overwrite],
    // With fsync the program promises durability. writebench itself makes no call.
    syncs: &[SyncCall::None, Fsync],
    syncs_on_the_way: &[],
    fio: Err("fio cannot start the program"),
    example: &[],
    ..WRITES
};

pub(super) const COPY_PROGRAM: MethodCard = MethodCard {
    summary: "your program for a copy: `run --copies --command 'cp {source} {file}'`",
    copying: Some(Copying::Bytes),
    ..PROGRAM
};
