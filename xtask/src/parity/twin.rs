//! The cases that have a reference program.

use writebench_model::{Axes, Bytes, Prepare};

use super::case::Case;

/// A case of writebench and the C program that does the same.
#[derive(Debug, Clone)]
pub(super) struct Twin {
    pub(super) case: Case,
    /// The C program, in `parity/`.
    pub(super) program: String,
    /// What it is told after the directory.
    pub(super) arguments: Vec<String>,
}

/// How large the files of the cases are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// What was asked for.
    usual: Bytes,
    /// A system call for every byte.
    bytewise_write: Bytes,
    /// A call of the C library for every byte.
    bytewise_fwrite: Bytes,
    /// Nothing is written.
    allocate: Bytes,
    /// Written past the page cache, and so in whole blocks.
    direct: Bytes,
    /// Many operations under way.
    queued: Bytes,
    /// Every record is made durable.
    durable: Bytes,
}

impl Sizes {
    /// Sizes that take about as long as each other.
    pub(super) fn of(usual: Bytes) -> Self {
        let at_most = |bytes: u64| Bytes(usual.0.min(bytes));
        Self {
            usual,
            bytewise_write: at_most(8 << 20),
            bytewise_fwrite: at_most(64 << 20),
            allocate: Bytes(1 << 30),
            direct: at_most(128 << 20),
            queued: at_most(128 << 20),
            durable: at_most(5 << 20),
        }
    }

    /// Just enough to reach every branch: several chunks for each thread and an odd rest.
    pub(super) fn small() -> Self {
        let size = Bytes((5 << 20) + 1);
        Self {
            usual: size,
            bytewise_write: Bytes(4097),
            bytewise_fwrite: size,
            allocate: size,
            direct: Bytes((5 << 20) + 4096),
            queued: size,
            durable: Bytes((128 << 10) + 1),
        }
    }
}

/// Every case, in the order of the table.
pub(super) fn all(sizes: Sizes) -> Vec<Twin> {
    let Axes { chunk_size_bytes, depth, .. } = Axes::defaults(Prepare::Create);
    // A case's name says neither the usual chunk nor the usual state of the file.
    let chunks = [(",chunk=64KiB", 64 << 10), ("", chunk_size_bytes)];
    let states = [("", "create"), (",prepare=overwrite", "overwrite")];
    let mut twins = Vec::new();
    let mut add = |size: Bytes, case: &str, program: &str| twins.push(Twin::new(size, case, program));
    for method in ["write", "pwrite", "fwrite", "writev", "pwritev", "mmap"] {
        let vector = if method.ends_with("writev") { "128" } else { "" };
        for (chunk, bytes) in chunks {
            add(sizes.usual, &format!("{method}{chunk}"), &format!("{method} SIZE {bytes} {vector}"));
        }
    }
    add(sizes.bytewise_write, "write,chunk=1", "write SIZE 1");
    add(sizes.bytewise_fwrite, "fwrite,chunk=1", "fwrite SIZE 1");
    for (files, name) in [("", "shared"), (",files=per-thread", "per-thread")] {
        let program = format!("pwrite SIZE {chunk_size_bytes} 2 {name}");
        add(sizes.usual, &format!("pwrite,threads=2{files}"), &program);
    }
    add(sizes.allocate, "allocate,call=fallocate", "allocate fallocate SIZE");
    add(sizes.allocate, "allocate", "allocate posix-fallocate SIZE");
    for method in ["read-write", "mmap-write", "splice", "sendfile", "copy-file-range"] {
        for (chunk, bytes) in chunks {
            let program = format!("{} SIZE {bytes}", method.replace('-', "_"));
            add(sizes.usual, &format!("{method}{chunk}"), &program);
        }
    }
    add(sizes.usual, "sendfile,chunk=whole", "sendfile SIZE SIZE");
    add(sizes.usual, "mmap-write,chunk=whole", "mmap_write SIZE SIZE");
    for (prepare, state) in states {
        for sync in ["fsync/1", "fdatasync/1", "o-dsync", "o-sync"] {
            let program = format!("write_durable SIZE 4096 {} {state}", sync.trim_end_matches("/1"));
            add(sizes.durable, &format!("write,chunk=4KiB{prepare},sync={sync}"), &program);
        }
    }
    for (prepare, state) in states {
        for (chunk, bytes) in chunks {
            let program = format!("pwrite_direct SIZE {bytes} {state}");
            add(sizes.direct, &format!("pwrite{chunk}{prepare},cache=direct"), &program);
        }
    }
    for (chunk, bytes) in chunks {
        let program = format!("uring SIZE {bytes} {depth} buffered create none");
        add(sizes.queued, &format!("uring{chunk}"), &program);
    }
    for (chunk, bytes) in chunks {
        let program = format!("uring SIZE {bytes} {depth} direct overwrite none");
        add(sizes.direct, &format!("uring{chunk},prepare=overwrite,cache=direct"), &program);
    }
    for depth in [1, 8] {
        let program = format!("uring SIZE 4096 {depth} buffered create fsync");
        add(sizes.durable, &format!("uring,chunk=4KiB,depth={depth},sync=fsync/1"), &program);
    }
    twins
}

impl Twin {
    /// `SIZE` in the program's words is the size.
    fn new(size: Bytes, case: &str, program: &str) -> Self {
        let mut words = program.split_whitespace().map(|word| word.replace("SIZE", &size.0.to_string()));
        let program = words.next().unwrap_or_default();
        Self { case: Case::new(case, size), program, arguments: words.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sizes: Sizes) -> Vec<String> {
        all(sizes).iter().map(|twin| twin.case.to_string()).collect()
    }

    #[test]
    fn every_kind_of_case_is_there_by_the_name_that_writebench_has_for_it() {
        let names = names(Sizes::of(Bytes(256 << 20)));
        assert_eq!(names[0], "write,size=256MiB,chunk=64KiB");
        for name in [
            "write,size=256MiB",
            "write,size=8MiB,chunk=1",
            "pwrite,size=256MiB,threads=2,files=per-thread",
            "allocate,call=fallocate",
            "read-write,size=256MiB,chunk=64KiB",
            "sendfile,size=256MiB,chunk=whole",
            "write,size=5MiB,chunk=4KiB,sync=fsync/1",
            "write,size=5MiB,chunk=4KiB,prepare=overwrite,sync=o-dsync",
            "pwrite,size=128MiB,chunk=64KiB,cache=direct",
            "uring,size=128MiB,prepare=overwrite,cache=direct",
            "uring,size=5MiB,chunk=4KiB,depth=8,sync=fsync/1",
        ] {
            assert!(names.contains(&name.to_owned()), "{name}");
        }
    }

    #[test]
    fn no_case_comes_twice() {
        let mut names = names(Sizes::of(Bytes(1 << 30)));
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn what_goes_past_the_page_cache_is_written_in_whole_blocks() {
        for twin in all(Sizes::small()).iter().filter(|twin| twin.case.is_direct()) {
            assert_eq!(twin.case.size_bytes % 4096, 0, "{}", twin.case);
        }
    }
}
