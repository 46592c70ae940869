//! The cards of methods that copy a file.

use super::cards::{SYNCS_AFTERWARDS, SYNCS_OF_MAPS, WITH_LENGTH, WRITE_BEHIND, WRITES};
use super::{Copying, Cursor, MethodCard};
use crate::axis::Axis::{
    self, Advice, Cache, Checksums, Chunk, Depth, Descriptor, Holes, Huge, Map, Origin, Populate,
    Registered, Store, Threads, Window,
};
use crate::value::Prepare::{Create, Overwrite, SetLen, Truncate};

/// The axes of all methods that copy bytes.
const COPYING: &[Axis] = &[Chunk, Threads, Descriptor, Checksums, Advice, Origin];

/// The base of the cards in this file.
const COPY: MethodCard = MethodCard {
    cursor: Cursor::FilePosition,
    copying: Some(Copying::Bytes),
    axes: &[COPYING, WRITE_BEHIND],
    syncs: SYNCS_AFTERWARDS,
    syncs_on_the_way: &[],
    fio: Err("fio copies no files"),
    ..WRITES
};

pub(super) const READ_WRITE: MethodCard = MethodCard {
    summary: "copies a file: read(2) into a buffer of a chunk, write(2) from it",
    words: "read(2) and write(2)",
    calls: "read, write",
    has_buffer: true,
    axes: &[COPYING, WRITE_BEHIND, &[Cache, Holes]],
    ..COPY
};

pub(super) const MMAP_WRITE: MethodCard = MethodCard {
    summary: "copies a file: mmap(2) of all of it, write(2) from the mapping, a chunk per call",
    words: "mmap(2) of the source, write(2)",
    calls: "mmap, madvise, write",
    axes: &[COPYING, WRITE_BEHIND, &[Cache, Populate, Window]],
    effort: 4,
    ..COPY
};

pub(super) const READ_MMAP: MethodCard = MethodCard {
    summary: "copies a file: mmap(2) of the copy, read(2) into the mapping, a chunk per call",
    words: "read(2) into mmap(2) of the copy",
    calls: "mmap, madvise, read, msync, munmap",
    cursor: Cursor::Mapping,
    axes: &[COPYING, &[Map, Populate, Huge, Window]],
    prepares: WITH_LENGTH,
    syncs: SYNCS_OF_MAPS,
    effort: 4,
    ..COPY
};

pub(super) const MMAP_MMAP: MethodCard = MethodCard {
    summary: "copies a file: mmap(2) of both files, memory copies from one into the other, one per chunk",
    words: "memory copies from mmap(2) to mmap(2)",
    calls: "mmap, madvise, memcpy, msync, munmap",
    cursor: Cursor::Mapping,
    axes: &[COPYING, &[Map, Populate, Huge, Store, Window]],
    prepares: WITH_LENGTH,
    syncs: SYNCS_OF_MAPS,
    effort: 5,
    ..COPY
};

pub(super) const PIPELINE: MethodCard = MethodCard {
    summary: "copies a file: read(2) in one thread, write(2) in another, with `depth` buffers of a chunk",
    words: "read(2) in one thread, write(2) in another",
    calls: "clone, read, write",
    has_buffer: true,
    axes: &[COPYING, WRITE_BEHIND, &[Depth, Cache]],
    effort: 8,
    example: &[(Chunk, "4KiB"), (Depth, "3")],
    ..COPY
};

pub(super) const URING_COPY: MethodCard = MethodCard {
    summary: "copies a file: io_uring reads and writes, linked, several chunks in flight (O_DIRECT on both sides with cache=direct)",
    words: "io_uring(7) reads and writes",
    calls: "io_uring_setup, io_uring_register, io_uring_enter",
    has_buffer: true,
    cursor: Cursor::Offset,
    axes: &[&[
        Chunk, Threads, Descriptor, Origin, Depth, Registered, Cache, Checksums,
    ]],
    effort: 9,
    example: &[(Chunk, "4KiB"), (Depth, "3")],
    ..COPY
};

pub(super) const SPLICE: MethodCard = MethodCard {
    summary: "copies a file: splice(2) through a pipe that holds a chunk, at most 1 MiB",
    words: "splice(2) through a pipe",
    calls: "pipe2, fcntl, splice",
    axes: &[COPYING, WRITE_BEHIND, &[Holes]],
    effort: 4,
    example: &[(Chunk, "3000")],
    ..COPY
};

pub(super) const SENDFILE: MethodCard = MethodCard {
    summary: "copies a file: sendfile(2), a chunk per call",
    words: "sendfile(2)",
    calls: "sendfile",
    axes: &[COPYING, WRITE_BEHIND, &[Holes]],
    effort: 2,
    example: &[(Chunk, "3000")],
    ..COPY
};

pub(super) const COPY_FILE_RANGE: MethodCard = MethodCard {
    summary: "copies a file: copy_file_range(2), a chunk per call, btrfs and xfs may share the blocks",
    words: "copy_file_range(2)",
    calls: "copy_file_range",
    axes: &[COPYING, WRITE_BEHIND, &[Holes]],
    effort: 2,
    example: &[(Chunk, "3000")],
    ..COPY
};

pub(super) const FICLONE: MethodCard = MethodCard {
    summary: "copies a file by sharing its blocks until one is written: ioctl(FICLONERANGE), once",
    words: "ioctl(FICLONERANGE)",
    calls: "ioctl",
    cursor: Cursor::Offset,
    copying: Some(Copying::Blocks),
    axes: &[&[Origin]],
    prepares: &[Create, Truncate, SetLen, Overwrite],
    effort: 1,
    example: &[],
    ..COPY
};
