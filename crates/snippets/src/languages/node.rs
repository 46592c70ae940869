use writebench_model::{
    Advice, Axis, Cache, Case, Checksums, Choices, DataMemory, Drop, Holes, Method, Prepare, Sync,
    SyncCall,
};

use super::{CaseView, LanguageBackend, UnsupportedValue, templates};

templates! {
    "node/write.js": Write | Pwrite | Writev | Pwritev;
    "node/copy.js": ReadWrite;
    none: "Node.js has no buffered stream that is synchronous", Fwrite => Write;
    none: "the function writes one file", WriteFiles => Write;
    none: "Node.js has no mmap",
        Mmap => Pwrite, MmapWrite => ReadWrite, ReadMmap => ReadWrite, MmapMmap => ReadWrite;
    none: "Node.js has no io_uring for the writes of a function", Uring => Pwrite;
    none: "Node.js has no io_uring for the calls of a function", UringCopy => ReadWrite;
    none: "a synchronous function of Node.js has one thread", Pipeline => ReadWrite;
    none: "Node.js has no splice", Splice => ReadWrite;
    none: "Node.js has no sendfile", Sendfile => ReadWrite;
    none: "fs.copyFile decides itself which call copies", CopyFileRange => ReadWrite;
    none: "fs.copyFile(…, COPYFILE_FICLONE_FORCE) clones by another call, FICLONE, and also copies the mode",
        Ficlone => ReadWrite;
}

pub(crate) static BACKEND: LanguageBackend = LanguageBackend {
    template,
    append: None,
    pages: None,
    unsupported,
    complete: |text| text,
};

fn unsupported(case: &Case) -> Option<UnsupportedValue> {
    unsupported_of_file(case.choices())
        .or_else(|| unsupported_vector(case))
        .or_else(|| unsupported_of_memory_and_source(case))
}

fn unsupported_of_file(choices: &Choices) -> Option<UnsupportedValue> {
    const NO_FLAGS: &str = "Node.js has no pwritev2";
    Some(match *choices {
        Choices { threads: 2.., .. } => (
            Axis::Threads,
            "a synchronous function of Node.js has one thread",
            "1",
        ),
        Choices {
            drop: Drop::Yes, ..
        } => (
            Axis::Drop,
            "it is part of write-behind, and Node.js has no sync_file_range",
            "no",
        ),
        Choices {
            writeback_bytes: Some(_),
            ..
        } => (Axis::Writeback, "Node.js has no sync_file_range", "none"),
        Choices {
            cache: Cache::Dontcache,
            ..
        } => (Axis::Cache, NO_FLAGS, "buffered"),
        Choices {
            sync: Sync {
                call: SyncCall::RwfDsync,
                ..
            },
            ..
        } => (Axis::Sync, NO_FLAGS, "o-dsync"),
        Choices { prepare, .. } if prepare.call().is_some() && prepare != Prepare::SetLen => {
            (Axis::Prepare, "Node.js has no fallocate", "create")
        }
        _ => return None,
    })
}

fn unsupported_vector(case: &Case) -> Option<UnsupportedValue> {
    const ONE_BY_WRITE: &str = "Node.js writes a vector of one by write(2)";
    let is_vectored = case.method().has_axis(Axis::Vector);
    Some(match *case.choices() {
        Choices {
            chunk_size_bytes: Choices::WHOLE,
            ..
        } if is_vectored => (Axis::Chunk, ONE_BY_WRITE, "1MiB"),
        Choices {
            cache: Cache::Direct,
            chunk_size_bytes,
            vector,
            ..
        } if is_vectored && chunk_size_bytes.saturating_mul(vector.into()) > MOST_BYTES => {
            let why = "a vector's chunks are copied to an aligned buffer, which in Node.js has less than 2 GiB";
            (Axis::Chunk, why, "1MiB")
        }
        Choices { vector: ..2, .. } => (Axis::Vector, ONE_BY_WRITE, "2"),
        _ => return None,
    })
}

fn unsupported_of_memory_and_source(case: &Case) -> Option<UnsupportedValue> {
    if case.choices().advice == Advice::Sequential {
        return Some((Axis::Advice, "Node.js has no posix_fadvise", "none"));
    }
    if case.given().checksums == Checksums::No {
        return Some((Axis::Checksums, "Node.js has no ioctl", "default"));
    }
    if case.given().holes == Holes::Keep {
        return Some((Axis::Holes, "Node.js has no lseek", "fill"));
    }
    let why = "Node.js has no madvise for its buffers";
    (case.given().memory == DataMemory::HugePages).then_some((Axis::Memory, why, "page-aligned"))
}

/// The most bytes of a call of Linux. Node.js also takes less than 2 GiB.
const MOST_BYTES: u64 = 0x7fff_f000;

/// These questions are asked by the templates of Node.js.
impl CaseView<'_> {
    pub(crate) fn constants_node(&self) -> String {
        let access = self.access_node();
        let mut names: Vec<_> = access.split(" | ").collect();
        if self.creates_name() && self.is_durable() {
            names.extend(["O_RDONLY", "O_DIRECTORY"]);
        }
        names.join(", ")
    }

    pub(crate) fn access_node(&self) -> String {
        [self.access_flags(), self.sync_flag().into_iter().collect()]
            .concat()
            .join(" | ")
    }

    /// The name of the exported function.
    pub(crate) fn function_node(&self) -> &'static str {
        match (self.copies(), self.options.is_stream) {
            (true, _) => "copyFile",
            (false, true) => "writeStream",
            (false, false) => "writeFile",
        }
    }

    /// The mode of a new copy, before the umask.
    pub(crate) fn new_mode_node(&self, source: &str) -> String {
        if self.reopens_copy() {
            format!("({source} & 0o777) | 0o600")
        } else {
            format!("{source} & 0o777")
        }
    }

    pub(crate) fn throws_node(&self) -> &'static str {
        if self.options.is_stream {
            "Throws the errors of node:fs, and those of the producer."
        } else {
            "Throws the errors of node:fs."
        }
    }

    pub(crate) fn chunk_node(&self) -> String {
        match self.chunk_bytes() {
            Some(bytes) if bytes > MOST_BYTES && self.is_vectored() => bytes.to_string(),
            Some(bytes) if bytes <= MOST_BYTES => self.chunk().unwrap_or_default(),
            _ => format!("{MOST_BYTES:#x}"),
        }
    }

    /// Whether the constant of the chunk is the limit of a call, because a chunk of the case is larger.
    pub(crate) fn chunk_is_most_node(&self) -> bool {
        !self.is_vectored() && self.chunk_bytes().is_none_or(|bytes| bytes > MOST_BYTES)
    }
}
