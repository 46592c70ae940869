//! The cases that have a reference program.

use writebench_model::{Axes, Bytes, Prepare};

use super::case::Case;

/// A case of writebench and the C program that does the same.
#[derive(Debug)]
pub(super) struct Twin {
    pub(super) case: Case,
    /// The C program, in `parity/`.
    pub(super) program: &'static str,
    /// What it is told after the directory.
    pub(super) arguments: Vec<String>,
}

/// How large the files of the cases are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Where nothing speaks against the size that was asked for.
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

const VECTOR: u32 = 128;
const CHUNKS: [Bytes; 2] = [Bytes(64 << 10), Bytes(1 << 20)];
const RECORD: Bytes = Bytes(4 << 10);
const COPYING: [&str; 5] = ["read-write", "mmap-write", "splice", "sendfile", "copy-file-range"];
/// What the reference program of a copying method is called.
const COPIERS: [&str; 5] = ["read_write", "mmap_write", "splice", "sendfile", "copy_file_range"];
const SYNCS: [&str; 4] = ["fsync", "fdatasync", "o-dsync", "o-sync"];
/// The state of the file that both programs begin with.
const STATES: [&str; 2] = ["create", "overwrite"];

/// Every case, in the order of the table.
pub(super) fn all(sizes: Sizes) -> Vec<Twin> {
    let mut twins = Vec::new();
    for method in ["write", "pwrite", "fwrite", "writev", "pwritev", "mmap"] {
        twins.extend(CHUNKS.map(|chunk| chunked(method, sizes.usual, chunk)));
    }
    twins.push(chunked("write", sizes.bytewise_write, Bytes(1)));
    twins.push(chunked("fwrite", sizes.bytewise_fwrite, Bytes(1)));
    twins.extend(["shared", "per-thread"].map(|files| threaded(sizes.usual, files)));
    twins.extend(["fallocate", "posix-fallocate"].map(|call| allocating(sizes.allocate, call)));
    for (method, program) in COPYING.into_iter().zip(COPIERS) {
        twins.extend(CHUNKS.map(|chunk| copying(method, program, sizes.usual, chunk)));
    }
    twins.push(copying_whole("sendfile", "sendfile", sizes.usual));
    twins.push(copying_whole("mmap-write", "mmap_write", sizes.usual));
    for state in STATES {
        twins.extend(SYNCS.map(|sync| durable(sizes.durable, sync, state)));
    }
    for state in STATES {
        twins.extend(CHUNKS.map(|chunk| direct(sizes.direct, chunk, state)));
    }
    twins.extend(CHUNKS.map(|chunk| queued(sizes.queued, chunk, "create", "buffered")));
    twins.extend(CHUNKS.map(|chunk| queued(sizes.direct, chunk, "overwrite", "direct")));
    twins.extend(["1", "8"].map(|depth| linked(sizes.durable, depth)));
    twins
}

fn twin(case: Case, program: &'static str, arguments: &[&str]) -> Twin {
    Twin { case, program, arguments: arguments.iter().map(|&argument| argument.to_owned()).collect() }
}

fn chunked(method: &'static str, size: Bytes, chunk: Bytes) -> Twin {
    let (bytes, chunk_bytes, vector) = (size.0.to_string(), chunk.0.to_string(), VECTOR.to_string());
    let arguments = [&bytes[..], &chunk_bytes, &vector];
    let count = if method.ends_with("writev") { 3 } else { 2 };
    twin(Case::new(method, size).chunked(chunk), method, &arguments[..count])
}

fn threaded(size: Bytes, files: &str) -> Twin {
    let chunk_bytes = Axes::defaults(Prepare::Create).chunk_size_bytes.to_string();
    let mut case = Case::new("pwrite", size).with("threads", "2");
    if files != "shared" {
        case = case.with("files", files);
    }
    twin(case, "pwrite", &[&size.0.to_string(), &chunk_bytes, "2", files])
}

fn allocating(size: Bytes, call: &str) -> Twin {
    let mut case = Case::new("allocate", size).reserving();
    if call != Axes::defaults(Prepare::Create).call.name() {
        case = case.with("call", call);
    }
    twin(case, "allocate", &[call, &size.0.to_string()])
}

fn copying(method: &str, program: &'static str, size: Bytes, chunk: Bytes) -> Twin {
    let arguments = [size.0.to_string(), chunk.0.to_string()];
    twin(Case::new(method, size).chunked(chunk), program, &arguments.each_ref().map(String::as_str))
}

fn copying_whole(method: &str, program: &'static str, size: Bytes) -> Twin {
    let bytes = size.0.to_string();
    twin(Case::new(method, size).with("chunk", "whole"), program, &[&bytes, &bytes])
}

/// The case with its state of the file, which is not said if it is the usual one.
fn in_state(case: Case, state: &str) -> Case {
    if state == "create" { case } else { case.with("prepare", state) }
}

fn durable(size: Bytes, sync: &str, state: &str) -> Twin {
    let case = in_state(Case::new("write", size).chunked(RECORD), state);
    let on_the_way = if sync.starts_with('f') { format!("{sync}/1") } else { sync.to_owned() };
    let arguments = [size.0.to_string(), RECORD.0.to_string()];
    twin(case.with("sync", &on_the_way), "write_durable", &[&arguments[0], &arguments[1], sync, state])
}

fn direct(size: Bytes, chunk: Bytes, state: &str) -> Twin {
    let case = in_state(Case::new("pwrite", size).chunked(chunk), state).with("cache", "direct");
    twin(case, "pwrite_direct", &[&size.0.to_string(), &chunk.0.to_string(), state])
}

fn queued(size: Bytes, chunk: Bytes, state: &str, cache: &str) -> Twin {
    let depth = Axes::defaults(Prepare::Create).depth.to_string();
    let mut case = in_state(Case::new("uring", size).chunked(chunk), state);
    if cache == "direct" {
        case = case.with("cache", cache);
    }
    twin(case, "uring", &[&size.0.to_string(), &chunk.0.to_string(), &depth, cache, state, "none"])
}

fn linked(size: Bytes, depth: &str) -> Twin {
    let case = Case::new("uring", size).chunked(RECORD).with("depth", depth).with("sync", "fsync/1");
    let arguments = [size.0.to_string(), RECORD.0.to_string()];
    twin(case, "uring", &[&arguments[0], &arguments[1], depth, "buffered", "create", "fsync"])
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
