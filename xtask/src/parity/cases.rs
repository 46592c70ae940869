//! The cases that are compared with other programs, with their sizes.

use writebench_model::{Axis, Bytes, Method};

/// A case's name without a size, and its size.
pub(super) type Sized = (String, Bytes);

/// A system call, or a call of the C library, for every byte.
const BYTEWISE: &[(&str, u64)] = &[("write,chunk=1", 8 << 20), ("fwrite,chunk=1", 64 << 20)];
/// The usual size is enough for these.
const WRITES: &[&str] = &[
    "pwrite,threads=2",
    "pwrite,threads=2,descriptor=per-thread",
    "pwrite,prepare=fallocate",
    "mmap,populate=window",
    "mmap,populate=all",
    "mmap,populate=window,store=nontemporal",
    "mmap,huge=collapse",
    "mmap,threads=2,populate=window",
    "write,writeback=8MiB",
    "write,writeback=8MiB,drop=yes",
    "pwrite,cache=dontcache",
];
const COPIES: &[&str] = &[
    "sendfile,chunk=whole",
    "mmap-write,chunk=whole",
    "read-write,threads=2,descriptor=per-thread",
    "mmap-write,populate=window",
    "read-mmap",
    "read-mmap,populate=window",
    "mmap-mmap",
    "mmap-mmap,populate=window",
    "mmap-mmap,populate=window,store=nontemporal",
    "pipeline",
    "uring-copy",
    "ficlone",
];
/// Past the page cache: 128 MiB at most.
const DIRECT: &[&str] = &[
    "mmap-write,cache=direct",
    "mmap-write,populate=window,cache=direct",
    "uring-copy,cache=direct",
    "pwrite,chunk=64KiB,cache=direct",
    "pwrite,cache=direct",
    "pwrite,chunk=64KiB,prepare=overwrite,cache=direct",
    "pwrite,prepare=overwrite,cache=direct",
    "uring,chunk=64KiB",
    "uring",
    "uring,chunk=64KiB,prepare=overwrite,cache=direct",
    "uring,prepare=overwrite,cache=direct",
];
/// Every record is made durable: 5 MiB at most.
const DURABLE: &[&str] = &[
    "write,chunk=4KiB,sync=fsync/1",
    "write,chunk=4KiB,sync=fdatasync/1",
    "write,chunk=4KiB,sync=o-dsync",
    "write,chunk=4KiB,sync=o-sync",
    "write,chunk=4KiB,prepare=overwrite,sync=fsync/1",
    "write,chunk=4KiB,prepare=overwrite,sync=fdatasync/1",
    "write,chunk=4KiB,prepare=overwrite,sync=o-dsync",
    "write,chunk=4KiB,prepare=overwrite,sync=o-sync",
    "uring,chunk=4KiB,depth=1,sync=fsync/1",
    "uring,chunk=4KiB,depth=8,sync=fsync/1",
];

/// The same cases with data where programs of printed code have it.
pub(super) fn with_aligned_data(cases: Vec<Sized>) -> Vec<Sized> {
    let aligned = |name: String| match name.split(',').next().and_then(Method::from_name) {
        Some(method) if method.has_axis(Axis::Memory) => format!("{name},memory=page-aligned"),
        _ => name,
    };
    cases.into_iter().map(|(name, size)| (aligned(name), size)).collect()
}

/// Every kind of case, each with the loop in C.
pub(super) fn of_c(usual: Bytes) -> Vec<Sized> {
    let at_most = |most: u64| Bytes(usual.0.min(most));
    let chunked = |methods: &[&str]| -> Vec<Sized> {
        let names = methods.iter().flat_map(|method| [format!("{method},chunk=64KiB"), (*method).to_owned()]);
        names.map(|name| (name, usual)).collect()
    };
    let named = |names: &[&str], size: Bytes| -> Vec<Sized> {
        names.iter().map(|name| ((*name).to_owned(), size)).collect()
    };
    let bytewise = BYTEWISE.iter().map(|&(name, most)| (name.to_owned(), at_most(most))).collect();
    [
        chunked(&["write", "pwrite", "fwrite", "writev", "pwritev", "mmap"]),
        bytewise,
        named(WRITES, usual),
        chunked(&["read-write", "mmap-write", "splice", "sendfile", "copy-file-range"]),
        named(COPIES, usual),
        named(DIRECT, at_most(128 << 20)),
        named(DURABLE, at_most(5 << 20)),
    ]
    .concat()
}

/// Each family, with what advice often names.
const OF_LANGUAGES: &[&str] = &[
    "write",
    "write,chunk=4KiB",
    "pwrite,chunk=16MiB,prepare=fallocate",
    "pwrite,threads=2,prepare=fallocate",
    "write,prepare=posix-fallocate,sync=fdatasync",
    "write,writeback=8MiB,sync=fdatasync",
    "pwrite,chunk=8MiB,cache=direct,prepare=fallocate,sync=fdatasync",
    "writev,chunk=64KiB,vector=16",
    "mmap",
    "mmap,threads=2,populate=window,store=nontemporal,prepare=fallocate",
    "uring,chunk=4MiB,depth=4,cache=direct,prepare=fallocate,sync=fdatasync",
    "read-write,chunk=256KiB",
    "read-write,chunk=256KiB,threads=2,descriptor=per-thread,prepare=fallocate",
    "mmap-write,populate=window,prepare=fallocate",
    "mmap-mmap",
    "sendfile,chunk=whole",
    "splice",
    "copy-file-range,chunk=whole",
    "pipeline,depth=4",
];

/// The cases that show what a language costs.
pub(super) fn of_languages(usual: Bytes) -> Vec<Sized> {
    let all = OF_LANGUAGES.iter().map(|name| ((*name).to_owned(), usual));
    let records = "write,chunk=4KiB,prepare=overwrite,sync=fdatasync/1";
    all.chain([(records.to_owned(), Bytes(usual.0.min(1 << 20)))]).collect()
}

/// The usual tools for copying, and their command lines. GNU coreutils 9.1: `cp --reflink=never` makes `read` and
/// `write` of 128 KiB after `POSIX_FADV_SEQUENTIAL`; `cp` tries `FICLONE`, then one `copy_file_range` (strace).
pub(super) const TOOLS: &[(&str, &str)] = &[
    ("cp --reflink=never", "cp --reflink=never"),
    ("cp", "cp"),
    ("dd bs=1M", "dd bs=1M if={source} of={file} status=none"),
    ("dd bs=128k", "dd bs=128k if={source} of={file} status=none"),
];

/// The copies that the tools make themselves, and those that may be the fastest.
pub(super) fn of_tools(usual: Bytes) -> Vec<Sized> {
    let names = [
        "read-write,chunk=128KiB",
        "read-write",
        "copy-file-range,chunk=whole",
        "sendfile,chunk=whole",
        "splice",
        "mmap-write,chunk=whole",
        "read-write,chunk=256KiB,threads=2,descriptor=per-thread,prepare=fallocate",
    ];
    names.map(|name| (name.to_owned(), usual)).to_vec()
}
