use writebench_model::{Axis, Case, Method, Prepare};

use super::{CaseView, LanguageBackend, UnsupportedValue, c_family, special, templates};

templates! {
    "c/write.c": Write | Pwrite | Writev | Pwritev;
    "c/write_files.c": WriteFiles;
    "c/fwrite.c": Fwrite;
    "c/map.c": Mmap;
    "c/uring.c": Uring;
    "c/copy.c": ReadWrite | MmapWrite | Splice | Sendfile | CopyFileRange;
    "c/copy_map.c": ReadMmap | MmapMmap;
    "c/pipeline.c": Pipeline;
    "c/uring_copy.c": UringCopy;
    "c/ficlone.c": Ficlone;
}

pub(crate) static BACKEND: LanguageBackend = LanguageBackend {
    template,
    append: special!("c/append.c"),
    pages: special!("c/pages.c"),
    unsupported,
    complete: |text| c_family::with_includes(&text, HEADERS),
};

/// The headers of C, each with the names that need it.
const HEADERS: &[(&str, &[&str])] = &[
    ("errno.h", &["errno"]),
    ("limits.h", &["INT_MAX", "NAME_MAX"]),
    ("math.h", &["sqrt"]),
    ("stddef.h", &["offsetof"]),
    (
        "stdint.h",
        &[
            "SIZE_MAX",
            "UINT64_MAX",
            "int64_t",
            "uint32_t",
            "uint64_t",
            "uintptr_t",
        ],
    ),
    (
        "stdio.h",
        &[
            "FILE", "asprintf", "fprintf", "rename", "renameat", "snprintf",
        ],
    ),
    (
        "stdlib.h",
        &["calloc", "free", "getenv", "posix_memalign", "qsort"],
    ),
    ("string.h", &["memcpy", "strdup", "strerror"]),
    ("time.h", &["clock_gettime"]),
];

fn unsupported(case: &Case) -> Option<UnsupportedValue> {
    let shares_stream = case.method() == Method::Fwrite && case.choices().threads > 1;
    shares_stream.then_some((
        Axis::Threads,
        "a stream of stdio is one thread's at a time",
        "1",
    ))
}

/// These questions are asked by the templates of C and C++.
impl CaseView<'_> {
    /// The flags of open(2) but the access, each after ` | `.
    pub(crate) fn open_flags_c(&self) -> String {
        let direct = if self.is_direct() { " | O_DIRECT" } else { "" };
        format!("{direct}{}", self.sync_flags_c())
    }

    pub(crate) fn sync_flags_c(&self) -> String {
        self.sync_flag()
            .map(|flag| format!(" | {flag}"))
            .unwrap_or_default()
    }

    /// The mode of a new file, before the umask.
    pub(crate) fn new_mode_c(&self) -> &'static str {
        match (self.options.is_atomic, self.copies(), self.reopens_copy()) {
            (true, false, _) => "replaces ? old.st_mode & 0777 : 0666",
            (true, true, false) => "(replaces ? old.st_mode : status.st_mode) & 0777",
            (true, true, true) => "((replaces ? old.st_mode : status.st_mode) & 0777) | 0600",
            (false, _, false) => "status.st_mode & 0777",
            (false, _, true) => "(status.st_mode & 0777) | 0600",
        }
    }

    /// The sentence about the value that the function returns.
    pub(crate) fn reports_c(&self) -> &'static str {
        match (self.writes_set(), self.syncs_directory()) {
            (true, true) => {
                "Returns 0, -1 with the failure, or -2 with it if only the directory could not be synced."
            }
            (true, false) => "Returns 0, or -1 with the failure.",
            (false, true) => {
                "Returns 0, -1 with errno, or -2 with errno if only the directory could not be synced: EINVAL or EBADF \
                 if its filesystem never can."
            }
            (false, false) => "Returns 0, or -1 with errno.",
        }
    }

    /// The beginning of the function that writes a set.
    pub(crate) fn write_files_c(&self) -> &'static str {
        if self.writes_set() {
            "int write_files"
        } else {
            "static int write_files"
        }
    }

    pub(crate) fn flags_c(&self) -> String {
        let flags = [
            (self.is_dontcache(), "RWF_DONTCACHE"),
            (self.is_rwf_dsync(), "RWF_DSYNC"),
            (self.is_rwf_atomic(), "RWF_ATOMIC"),
        ];
        let own = flags.iter().filter(|(is_own, _)| *is_own);
        own.map(|(_, flag)| *flag).collect::<Vec<_>>().join(" | ")
    }

    /// The name of the sync call after writes without io_uring.
    pub(crate) fn sync_without_ring(&self) -> Option<&'static str> {
        if self.is_rwf_dsync() {
            Some("fdatasync")
        } else {
            self.sync_every().map(|_| self.sync_name())
        }
    }

    pub(crate) fn store_c(&self) -> &'static str {
        if self.is_nontemporal() {
            "store"
        } else {
            "memcpy"
        }
    }

    pub(crate) fn parts_have_file_c(&self) -> bool {
        self.has_own_maps()
            || self.has_own_descriptors()
            || self.sync_every().is_some() && !self.syncs_map()
    }

    pub(crate) fn ring_chunk_c(&self) -> &'static str {
        if self.chunk().is_some() {
            "CHUNK"
        } else {
            "most"
        }
    }

    pub(crate) fn memalign_c(&self, pointer: &str, alignment: &str) -> String {
        if self.is_in_huge_pages() {
            format!("huge_pages({pointer}")
        } else {
            format!("posix_memalign({pointer}, {alignment}")
        }
    }

    /// The size of the pipe, which holds a chunk, and 1 MiB at most.
    pub(crate) fn pipe_c(&self) -> u64 {
        const PIPE_MAX_BYTES: u64 = 1 << 20;
        const PAGE_BYTES: u64 = 4096;
        let chunk = self.choices().chunk_size_bytes;
        let needed = if chunk.is_multiple_of(PAGE_BYTES) {
            chunk
        } else {
            chunk.saturating_add(PAGE_BYTES)
        };
        needed.min(PIPE_MAX_BYTES)
    }
}
