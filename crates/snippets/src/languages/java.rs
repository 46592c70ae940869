use writebench_model::{
    Advice, Axis, Cache, Case, Checksums, Choices, DataMemory, Drop, Holes, Huge, Method, Opening,
    Populate, Prepare, Store, Sync, SyncCall,
};

use super::{CaseView, LanguageBackend, UnsupportedValue, UsedNames, templates};

templates! {
    "java/write.java": Write | Pwrite | Writev;
    "java/map.java": Mmap;
    "java/copy.java": ReadWrite | MmapWrite | Sendfile;
    "java/copy_map.java": ReadMmap | MmapMmap;
    "java/pipeline.java": Pipeline;
    none: "the function writes one file", WriteFiles => Write;
    none: "FileChannel gathers buffers at its own position only", Pwritev => Writev;
    none: "a BufferedOutputStream is Java's own, not the C library's", Fwrite => Write;
    none: "the standard library has no io_uring", Uring => Pwrite, UringCopy => ReadWrite;
    none: "the standard library has no splice(2)", Splice => Sendfile;
    none: "the call of transferTo depends on the version of Java", CopyFileRange => Sendfile;
    none: "the standard library has no ioctl(2)", Ficlone => Sendfile;
}

pub(crate) static BACKEND: LanguageBackend = LanguageBackend {
    template,
    append: None,
    pages: None,
    unsupported,
    complete: with_imports,
};

fn unsupported(case: &Case) -> Option<UnsupportedValue> {
    unsupported_of_file(case)
        .or_else(|| unsupported_given(case))
        .or_else(|| unsupported_of_memory_and_source(case.choices()))
}

fn unsupported_given(case: &Case) -> Option<UnsupportedValue> {
    let given = case.given();
    if given.checksums == Checksums::No {
        return Some((
            Axis::Checksums,
            "the standard library has no ioctl(2)",
            "default",
        ));
    }
    if given.holes == Holes::Keep {
        return Some((
            Axis::Holes,
            "the standard library has no SEEK_DATA of lseek(2)",
            "fill",
        ));
    }
    (given.memory == DataMemory::HugePages).then_some((Axis::Memory, NO_MADVISE, "page-aligned"))
}

const NO_MADVISE: &str = "the standard library has no madvise(2)";

fn unsupported_of_file(case: &Case) -> Option<UnsupportedValue> {
    const NO_FLAGS: &str = "FileChannel has no flags of a write";
    let choices = case.choices();
    let reserves = choices.prepare.call().is_some();
    Some(match *choices {
        // Only a mapping sets the file's length.
        _ if reserves && case.method().card().prepares.contains(&Prepare::Create) => (
            Axis::Prepare,
            "FileChannel neither makes a file longer nor allocates its blocks",
            "create",
        ),
        Choices { prepare, .. } if reserves && prepare != Prepare::SetLen => (
            Axis::Prepare,
            "the standard library has no fallocate(2)",
            "set-len",
        ),
        Choices {
            cache: Cache::Dontcache,
            ..
        } => (Axis::Cache, NO_FLAGS, "buffered"),
        Choices {
            cache: Cache::Direct,
            chunk_size_bytes,
            ..
        } if chunk_size_bytes != Choices::WHOLE
            && !chunk_size_bytes.is_multiple_of(BLOCK_BYTES) =>
        {
            (
                Axis::Chunk,
                "direct I/O of Java is in blocks of the filesystem, of 4 KiB mostly",
                "4KiB",
            )
        }
        Choices {
            drop: Drop::Yes, ..
        } => (
            Axis::Drop,
            "the standard library has no posix_fadvise(2)",
            "no",
        ),
        Choices {
            writeback_bytes: Some(_),
            ..
        } => (
            Axis::Writeback,
            "the standard library has no sync_file_range(2)",
            "none",
        ),
        Choices {
            sync: Sync {
                call: SyncCall::RwfDsync,
                ..
            },
            ..
        } => (Axis::Sync, NO_FLAGS, "o-dsync"),
        _ => return None,
    })
}

fn unsupported_of_memory_and_source(choices: &Choices) -> Option<UnsupportedValue> {
    Some(match *choices {
        // Only the next two values have windows.
        Choices { window_bytes, .. } if window_bytes != Case::HUGE_PAGE_BYTES => {
            (Axis::Window, NO_MADVISE, "2MiB")
        }
        Choices {
            populate: Populate::Window | Populate::All,
            ..
        } => (Axis::Populate, NO_MADVISE, "none"),
        Choices {
            huge: Huge::Advise | Huge::Collapse,
            ..
        } => (Axis::Huge, NO_MADVISE, "none"),
        Choices {
            store: Store::Nontemporal,
            ..
        } => (
            Axis::Store,
            "a ByteBuffer has no stores that bypass the CPU's caches",
            "plain",
        ),
        Choices {
            advice: Advice::Sequential,
            ..
        } => (
            Axis::Advice,
            "the standard library has neither posix_fadvise(2) nor madvise(2)",
            "none",
        ),
        _ => return None,
    })
}

/// The usual block size of a filesystem, which Java requires for O_DIRECT.
const BLOCK_BYTES: u64 = 4096;
/// The most bytes of a call of Linux. The limit of a buffer is nearly the same.
const MOST_BYTES: u64 = (1 << 31) - 4096;

/// The classes of each package, in the order of imports.
const CLASSES: &[(&str, &str)] = &[
    (
        "java.io",
        "EOFException IOException InterruptedIOException UncheckedIOException",
    ),
    ("java.nio", "ByteBuffer MappedByteBuffer"),
    ("java.nio.channels", "FileChannel ReadableByteChannel"),
    ("java.nio.file", "FileSystemException Files OpenOption Path"),
    (
        "java.nio.file.attribute",
        "FileAttribute PosixFileAttributeView PosixFileAttributes PosixFilePermission PosixFilePermissions",
    ),
    ("java.util", "ArrayList Arrays HashSet List Set"),
    (
        "java.util.concurrent",
        "ArrayBlockingQueue BlockingQueue Callable ExecutionException ExecutorService Executors Future",
    ),
];
/// The constants of each class, in the order of static imports.
const CONSTANTS: &[(&str, &str)] = &[
    ("com.sun.nio.file.ExtendedOpenOption", "DIRECT"),
    (
        "java.nio.channels.FileChannel.MapMode",
        "READ_ONLY READ_WRITE",
    ),
    ("java.nio.file.StandardCopyOption", "ATOMIC_MOVE"),
    (
        "java.nio.file.StandardOpenOption",
        "APPEND CREATE_NEW DSYNC READ SYNC TRUNCATE_EXISTING WRITE",
    ),
    (
        "java.nio.file.attribute.PosixFilePermission",
        "OWNER_READ OWNER_WRITE",
    ),
];

fn with_imports(text: String) -> String {
    let (_, code) = text.split_once("\nIMPORTS\n").expect("a place for imports");
    let names = UsedNames::in_text(code, &["//", "/*"]);
    let classes = imports(&names, "import", CLASSES);
    let constants = imports(&names, "import static", CONSTANTS);
    text.replacen("\nIMPORTS\n", &format!("\n{classes}\n{constants}"), 1)
}

fn imports(names: &UsedNames, statement: &str, all: &[(&str, &str)]) -> String {
    let mut lines = String::new();
    for (from, importable) in all {
        for name in importable.split(' ').filter(|name| names.has(name)) {
            lines += &format!("{statement} {from}.{name};\n");
        }
    }
    lines
}

/// These questions are asked by the templates of Java.
impl CaseView<'_> {
    fn options_java(&self) -> String {
        let how = match self.choices().prepare.opening() {
            Opening::Emptied => ", TRUNCATE_EXISTING",
            Opening::Kept => "",
            Opening::New => ", CREATE_NEW",
        };
        format!("{}{how}", self.options_again_java())
    }

    /// The options that open the file once more, without O_DIRECT.
    pub(crate) fn options_again_java(&self) -> String {
        // A writable mapping needs a readable descriptor.
        let access = if self.maps_target() {
            "READ, WRITE"
        } else {
            "WRITE"
        };
        let sync = self
            .sync_flag()
            .map_or(String::new(), |flag| flag.replace("O_", ", "));
        format!("{access}{sync}")
    }

    /// The size of a chunk. None if it is the most that a buffer holds.
    pub(crate) fn chunk_java(&self) -> Option<String> {
        self.chunk()
            .filter(|_| self.chunk_bytes().is_some_and(|bytes| bytes < MOST_BYTES))
    }

    /// The size of a mapping, which has whole chunks, up to 1 GiB if they fit.
    pub(crate) fn map_java(&self) -> String {
        const MAP_BYTES: u64 = 1 << 30;
        match self.chunk_bytes().filter(|&bytes| bytes < MOST_BYTES) {
            Some(chunk) if MAP_BYTES.is_multiple_of(chunk) => "1 << 30".to_owned(),
            Some(chunk) if chunk < MAP_BYTES => "(1 << 30) / CHUNK * CHUNK".to_owned(),
            _ => "CHUNK".to_owned(),
        }
    }

    /// The granule of parts that are smaller than a chunk.
    pub(crate) fn least_granule_java(&self) -> &'static str {
        if self.is_direct() || self.maps_target() {
            "4096"
        } else {
            "size / THREADS >= 4096 ? 4096 : 1"
        }
    }
}
