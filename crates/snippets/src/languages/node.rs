//! Node.js 18 and its standard library; `@writebench/direct-io` where the case is direct I/O.

use writebench_model::{Advice, Axis, Cache, DataMemory, Drop, Method, Prepare, SyncCall};

use super::templates;
use crate::speaker::{Cannot, Speaker};
use crate::way::Way;

templates! {
    Write = "node/write.js",
    Copy = "node/copy.js",
}

pub(crate) static SPEAKER: Speaker = Speaker { render, has, lacks: LACKS, cannot: CANNOT };

const NO_MMAP: &str = "Node.js has no mmap";

const LACKS: &[(Method, &str, Method)] = &[
    (Method::Fwrite, "Node.js has no buffered stream that is synchronous", Method::Write),
    (Method::Mmap, NO_MMAP, Method::Pwrite),
    (Method::Uring, "Node.js has no io_uring for the writes of a function", Method::Pwrite),
    (Method::MmapWrite, NO_MMAP, Method::ReadWrite),
    (Method::ReadMmap, NO_MMAP, Method::ReadWrite),
    (Method::MmapMmap, NO_MMAP, Method::ReadWrite),
    (Method::Pipeline, "a synchronous function of Node.js has one thread", Method::ReadWrite),
    (Method::UringCopy, "Node.js has no io_uring for the calls of a function", Method::ReadWrite),
    (Method::Splice, "Node.js has no splice", Method::ReadWrite),
    (Method::Sendfile, "Node.js has no sendfile of its own", Method::ReadWrite),
    (Method::CopyFileRange, "fs.copyFile decides itself which call copies", Method::ReadWrite),
    (
        Method::Ficlone,
        "fs.copyFile(…, COPYFILE_FICLONE_FORCE) clones by another call, FICLONE, and copies the mode, too",
        Method::ReadWrite,
    ),
];

const CANNOT: &[Cannot] = &[
    Cannot {
        axis: Axis::Threads,
        is_in: |_, axes| axes.threads > 1,
        why: "a synchronous function of Node.js has one thread",
        instead: "1",
    },
    Cannot {
        axis: Axis::Drop,
        is_in: |_, axes| axes.drop == Drop::Yes,
        why: "it is part of write-behind, and Node.js has no sync_file_range",
        instead: "no",
    },
    Cannot {
        axis: Axis::Writeback,
        is_in: |_, axes| axes.writeback_bytes.is_some(),
        why: "Node.js has no sync_file_range",
        instead: "none",
    },
    Cannot {
        axis: Axis::Cache,
        is_in: |_, axes| axes.cache == Cache::Dontcache,
        why: "Node.js has no pwritev2",
        instead: "buffered",
    },
    Cannot {
        axis: Axis::Sync,
        is_in: |_, axes| axes.sync.call == SyncCall::RwfDsync,
        why: "Node.js has no pwritev2",
        instead: "o-dsync",
    },
    Cannot {
        axis: Axis::Prepare,
        is_in: |_, axes| {
            matches!(
                axes.prepare,
                Prepare::Fallocate
                    | Prepare::PosixFallocate
                    | Prepare::FallocateKeepSize
                    | Prepare::FallocateZeroRange
            )
        },
        why: "Node.js has no fallocate",
        instead: "create",
    },
    Cannot {
        axis: Axis::Chunk,
        is_in: |case, axes| case.method().has_axis(Axis::Vector) && axes.chunk_size_bytes == u64::MAX,
        why: "Node.js writes a vector of one by write(2)",
        instead: "1MiB",
    },
    Cannot {
        axis: Axis::Chunk,
        is_in: |case, axes| {
            let bytes = axes.chunk_size_bytes.saturating_mul(axes.vector.into());
            case.method().has_axis(Axis::Vector) && axes.cache == Cache::Direct && bytes > MOST_BYTES
        },
        why: "a vector's chunks are copied to an aligned buffer, which in Node.js has less than 2 GiB",
        instead: "1MiB",
    },
    Cannot {
        axis: Axis::Vector,
        is_in: |_, axes| axes.vector < 2,
        why: "Node.js writes a vector of one by write(2)",
        instead: "2",
    },
    Cannot {
        axis: Axis::Advice,
        is_in: |_, axes| axes.advice == Advice::Sequential,
        why: "Node.js has no posix_fadvise",
        instead: "none",
    },
    Cannot {
        axis: Axis::Memory,
        is_in: |_, axes| axes.memory == DataMemory::HugePages,
        why: "Node.js has no madvise for its buffers",
        instead: "page-aligned",
    },
];

/// Linux writes and reads no more bytes in one call, and Node.js takes no number of 2 GiB.
const MOST_BYTES: u64 = 0x7fff_f000;

impl Way<'_> {
    /// The constants of open(2) that are used.
    pub(crate) fn constants_node(&self) -> String {
        let access = self.access_node();
        let mut names: Vec<_> = access.split(" | ").collect();
        if self.creates_name() && self.is_durable() {
            names.extend(["O_RDONLY", "O_DIRECTORY"]);
        }
        names.join(", ")
    }

    /// The flags with which the file is opened.
    pub(crate) fn access_node(&self) -> String {
        let flags = [
            (true, "O_WRONLY"),
            (self.creates_name(), "O_CREAT"),
            (self.creates_name(), "O_EXCL"),
            (self.truncates(), "O_TRUNC"),
            (self.opens_dsync(), "O_DSYNC"),
            (self.opens_sync(), "O_SYNC"),
        ];
        let flags: Vec<_> = flags.iter().filter(|(is_there, _)| *is_there).map(|(_, flag)| *flag).collect();
        flags.join(" | ")
    }

    /// The types of errors.
    pub(crate) fn throws_node(&self) -> &'static str {
        if self.streams() {
            "Throws the errors of node:fs, and those of the producer."
        } else {
            "Throws the errors of node:fs."
        }
    }

    /// The name under which the file is written.
    pub(crate) fn name_node(&self) -> &'static str {
        if self.atomic() { "name" } else { "path" }
    }

    /// The call of the function that fills the file.
    pub(crate) fn data_call_node(&self) -> &'static str {
        match (self.copies(), self.streams()) {
            (true, _) => "copyData(fd, original, size)",
            (false, true) if self.expects() => "writeData(fd, next, expected)",
            (false, true) => "writeData(fd, next)",
            (false, false) => "writeData(fd, data)",
        }
    }

    /// The bytes of the file.
    pub(crate) fn size_node(&self) -> &'static str {
        if self.streams() { "expected" } else { "size" }
    }

    /// The end of the zeros that a file is filled with.
    pub(crate) fn zeros_end_node(&self) -> &'static str {
        if self.is_direct() { "end" } else { "size" }
    }

    /// The end of the data that the case's calls write.
    pub(crate) fn end_node(&self) -> &'static str {
        if self.is_direct() { "whole" } else { "size" }
    }

    /// The end of a chunk's bytes that the case's calls write.
    pub(crate) fn chunk_end_node(&self) -> &'static str {
        if self.is_direct() { "whole" } else { "length" }
    }

    /// The bytes of a buffer that the data of a call fits into.
    pub(crate) fn buffer_node(&self) -> &'static str {
        if self.is_vectored() { "VECTOR * CHUNK" } else { "CHUNK" }
    }

    /// Whether the function of a producer must know how many bytes there were.
    pub(crate) fn counts_node(&self) -> bool {
        self.is_positional() || self.expects() || self.is_direct()
    }

    /// The bytes of a chunk.
    pub(crate) fn chunk_node(&self) -> String {
        match self.chunk_bytes() {
            Some(bytes) if bytes > MOST_BYTES && self.is_vectored() => bytes.to_string(),
            Some(bytes) if bytes <= MOST_BYTES => self.chunk().unwrap_or_default(),
            _ => format!("{MOST_BYTES:#x}"),
        }
    }

    /// Whether the chunk is cut to what one call takes.
    pub(crate) fn chunk_is_most_node(&self) -> bool {
        !self.is_vectored() && self.chunk_bytes().is_none_or(|bytes| bytes > MOST_BYTES)
    }
}
