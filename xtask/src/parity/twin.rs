//! The cases that have a reference program.

use writebench_model::{Axes, Bytes, Prepare};

use super::case::Case;
use super::rival::{Other, Rival};

/// The least and the most bytes of a case's file, so that all cases take about the same time; and a small
/// size that reaches every branch: several chunks for each thread and an odd rest.
type Limits = (u64, u64, u64);

const USUAL: Limits = (0, u64::MAX, (5 << 20) + 1);
/// A system call for every byte.
const BYTEWISE_WRITE: Limits = (0, 8 << 20, 4097);
/// A call of the C library for every byte.
const BYTEWISE_FWRITE: Limits = (0, 64 << 20, (5 << 20) + 1);
/// A case without writes.
const ALLOCATE: Limits = (1 << 30, 1 << 30, (5 << 20) + 1);
/// Direct writes, which need whole blocks.
const DIRECT: Limits = (0, 128 << 20, (5 << 20) + 4096);
/// A queue of operations.
const QUEUED: Limits = (0, 128 << 20, (5 << 20) + 1);
/// Every record is made durable.
const DURABLE: Limits = (0, 5 << 20, (128 << 10) + 1);

/// Every case, in the order of the table, with that size within its limits; without a size, with small files.
pub(super) fn all(usual: Option<Bytes>) -> Vec<Rival> {
    let Axes { chunk_size_bytes, depth, window_bytes, .. } = Axes::defaults(Prepare::Create);
    // A case's name has neither the default chunk nor the default `prepare`.
    let chunks = [(",chunk=64KiB", 64 << 10), ("", chunk_size_bytes)];
    let states = [("", "create"), (",prepare=overwrite", "overwrite")];
    let mut twins = Vec::new();
    // `SIZE` stands for the size, and `CHUNK`, if present, for each of the two chunks.
    let mut add = |(least, most, small): Limits, case: &str, program: &str| {
        let size = usual.map_or(Bytes(small), |usual| Bytes(usual.0.clamp(least, most)));
        for (chunk, bytes) in chunks.iter().take(if case.contains("CHUNK") { 2 } else { 1 }) {
            let case = Case::new(&case.replace("CHUNK", chunk), size);
            let program = program.replace("SIZE", &size.0.to_string()).replace("CHUNK", &bytes.to_string());
            twins.push(Rival::new(case, Other::Program(program)));
        }
    };
    for method in ["write", "pwrite", "fwrite", "writev", "pwritev", "mmap"] {
        let vector = if method.ends_with("writev") { "128" } else { "" };
        add(USUAL, &format!("{method}CHUNK"), &format!("{method} SIZE CHUNK {vector}"));
    }
    add(BYTEWISE_WRITE, "write,chunk=1", "write SIZE 1");
    add(BYTEWISE_FWRITE, "fwrite,chunk=1", "fwrite SIZE 1");
    for (files, name) in [("", "shared"), (",files=per-thread", "per-thread")] {
        let program = format!("pwrite SIZE {chunk_size_bytes} 2 {name}");
        add(USUAL, &format!("pwrite,threads=2{files}"), &program);
    }
    add(ALLOCATE, "allocate,call=fallocate", "allocate fallocate SIZE");
    add(ALLOCATE, "allocate", "allocate posix-fallocate SIZE");
    for method in ["read-write", "mmap-write", "splice", "sendfile", "copy-file-range"] {
        let program = method.replace('-', "_");
        add(USUAL, &format!("{method}CHUNK"), &format!("{program} SIZE CHUNK"));
    }
    add(USUAL, "sendfile,chunk=whole", "sendfile SIZE SIZE");
    add(USUAL, "mmap-write,chunk=whole", "mmap_write SIZE SIZE");
    let copies = [
        ("read-write,threads=2,descriptor=per-thread", "read_write SIZE CHUNK 2"),
        ("mmap-write,populate=window", "mmap_write SIZE CHUNK buffered window WINDOW"),
        ("read-mmap", "read_mmap SIZE CHUNK none small WINDOW"),
        ("read-mmap,populate=window", "read_mmap SIZE CHUNK window small WINDOW"),
        ("mmap-mmap", "mmap_mmap SIZE CHUNK none small plain WINDOW"),
        ("mmap-mmap,populate=window", "mmap_mmap SIZE CHUNK window small plain WINDOW"),
        ("mmap-mmap,populate=window,store=nontemporal", "mmap_mmap SIZE CHUNK window small nontemporal WINDOW"),
        ("pipeline", "pipeline SIZE CHUNK DEPTH"),
        ("uring-copy", "uring_copy SIZE CHUNK DEPTH buffered"),
        ("ficlone", "ficlone SIZE"),
    ];
    let writes = [
        ("mmap,populate=window", "mmap_window SIZE CHUNK 1 window small plain WINDOW"),
        ("mmap,populate=all", "mmap_window SIZE CHUNK 1 all small plain WINDOW"),
        ("mmap,populate=window,store=nontemporal", "mmap_window SIZE CHUNK 1 window small nontemporal WINDOW"),
        ("mmap,huge=collapse", "mmap_window SIZE CHUNK 1 none collapse plain WINDOW"),
        ("mmap,threads=2,populate=window", "mmap_window SIZE CHUNK 2 window small plain WINDOW"),
        ("write,writeback=8MiB", "write_behind SIZE CHUNK 8388608 keep"),
        ("write,writeback=8MiB,drop=yes", "write_behind SIZE CHUNK 8388608 drop"),
        ("pwrite,cache=dontcache", "pwrite_dontcache SIZE CHUNK"),
    ];
    let direct = [
        ("mmap-write,cache=direct", "mmap_write SIZE CHUNK direct"),
        ("mmap-write,populate=window,cache=direct", "mmap_write SIZE CHUNK direct window WINDOW"),
        ("uring-copy,cache=direct", "uring_copy SIZE CHUNK DEPTH direct"),
    ];
    let numbers = [("CHUNK", chunk_size_bytes), ("WINDOW", window_bytes), ("DEPTH", depth.into())];
    let usual_sized = copies.into_iter().chain(writes).map(|twin| (USUAL, twin));
    for (limits, (case, program)) in usual_sized.chain(direct.map(|twin| (DIRECT, twin))) {
        let program = numbers
            .iter()
            .fold(program.to_owned(), |program, (name, number)| program.replace(name, &number.to_string()));
        add(limits, case, &program);
    }
    for (prepare, state) in states {
        for sync in ["fsync/1", "fdatasync/1", "o-dsync", "o-sync"] {
            let program = format!("write_durable SIZE 4096 {} {state}", sync.trim_end_matches("/1"));
            add(DURABLE, &format!("write,chunk=4KiB{prepare},sync={sync}"), &program);
        }
    }
    for (prepare, state) in states {
        let program = format!("pwrite_direct SIZE CHUNK {state}");
        add(DIRECT, &format!("pwriteCHUNK{prepare},cache=direct"), &program);
    }
    add(QUEUED, "uringCHUNK", &format!("uring SIZE CHUNK {depth} buffered create none"));
    let program = format!("uring SIZE CHUNK {depth} direct overwrite none");
    add(DIRECT, "uringCHUNK,prepare=overwrite,cache=direct", &program);
    for depth in [1, 8] {
        let program = format!("uring SIZE 4096 {depth} buffered create fsync");
        add(DURABLE, &format!("uring,chunk=4KiB,depth={depth},sync=fsync/1"), &program);
    }
    twins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(usual: Bytes) -> Vec<String> {
        all(Some(usual)).iter().map(|twin| twin.case.to_string()).collect()
    }

    #[test]
    fn every_kind_of_case_is_there_by_the_name_that_writebench_has_for_it() {
        let names = names(Bytes(256 << 20));
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
            "mmap,size=256MiB,populate=window,store=nontemporal",
            "uring-copy,size=128MiB,cache=direct",
        ] {
            assert!(names.contains(&name.to_owned()), "{name}");
        }
    }

    #[test]
    fn no_case_comes_twice() {
        let mut names = names(Bytes(1 << 30));
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn direct_writes_are_in_whole_blocks() {
        for twin in all(None).iter().filter(|twin| twin.case.is_direct()) {
            assert_eq!(twin.case.size_bytes % 4096, 0, "{}", twin.case);
        }
    }
}
