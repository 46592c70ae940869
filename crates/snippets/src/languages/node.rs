//! Node.js 18 and its standard library.

use writebench_model::{Advice, Axis, Cache, Drop, Prepare, SourceMemory, SyncCall};

use super::templates;
use crate::speaker::{Cannot, Speaker};
use crate::way::Way;

templates! {
    Write = "node/write.js",
    Copy = "node/copy.js",
}

pub(crate) static SPEAKER: Speaker = Speaker { render, has, lacks: LACKS, cannot: CANNOT };

const NO_MMAP: &str = "Node.js has no mmap";

const LACKS: &[(&str, &str, &str)] = &[
    ("fwrite", "Node.js has no buffered stream that is synchronous", "write"),
    ("mmap", NO_MMAP, "pwrite"),
    ("uring", "Node.js has no io_uring for the writes of a function", "pwrite"),
    ("mmap-write", NO_MMAP, "read-write"),
    ("read-mmap", NO_MMAP, "read-write"),
    ("mmap-mmap", NO_MMAP, "read-write"),
    ("pipeline", "a synchronous function of Node.js has one thread", "read-write"),
    ("uring-copy", "Node.js has no io_uring for the calls of a function", "read-write"),
    ("splice", "Node.js has no splice", "read-write"),
    ("sendfile", "Node.js has no sendfile of its own", "read-write"),
    ("copy-file-range", "fs.copyFile decides itself which call copies", "read-write"),
    (
        "ficlone",
        "fs.copyFile(…, COPYFILE_FICLONE_FORCE) clones by another call, FICLONE, and copies the mode, too",
        "read-write",
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
        is_in: |_, axes| axes.cache == Cache::Direct,
        why: "Node.js has no buffers that are aligned for O_DIRECT",
        instead: "buffered",
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
        is_in: |_, axes| axes.memory == SourceMemory::HugePages,
        why: "Node.js has no madvise for its buffers",
        instead: "plain",
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

    /// The name under which the file is written.
    pub(crate) fn name_node(&self) -> &'static str {
        if self.atomic() { "name" } else { "path" }
    }

    /// The call of the function that fills the file.
    pub(crate) fn data_call_node(&self) -> &'static str {
        if self.copies() { "copyData(fd, original, size)" } else { "writeData(fd, data)" }
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
