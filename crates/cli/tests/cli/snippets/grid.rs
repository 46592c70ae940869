use anyhow::{Context, Result};
use writebench_model::Case;
use writebench_snippets::{EmitOptions, Language, code};

use crate::cache_promises::PAST_CACHE;
use crate::copy_promises::{CLONES, COPIES};
use crate::promises::{PROMISES, Promise};
use crate::set_promises;

/// Promises of one file, written by one process.
pub(super) fn promises() -> Vec<(Case, &'static Promise)> {
    let all = PROMISES
        .iter()
        .chain(set_promises::SETS)
        .chain(PAST_CACHE)
        .chain(COPIES)
        .chain(CLONES);
    let known = all.filter_map(|promise| Some((Case::parse(promise.0).ok()?, promise)));
    let has_code =
        |case: &Case| code(case, Language::C, EmitOptions::default()).is_ok() || streams(case);
    known.filter(|(case, _)| has_code(case)).collect()
}

/// Further cases for content: threads, windows, write-behind and unaligned ends.
pub(super) const CONTENT: &[&str] = &[
    "write",
    "write,chunk=whole",
    "write,chunk=64KiB,writeback=256KiB,drop=yes",
    "write,chunk=64KiB,prepare=overwrite,sync=fdatasync",
    "write,chunk=64KiB,prepare=truncate",
    "write,chunk=4KiB,sync=o-dsync",
    "write,chunk=64KiB,cache=direct,prepare=fallocate,sync=fsync",
    "write,chunk=4KiB,prepare=zero-fill,sync=fdatasync/1",
    "write,chunk=4KiB,prepare=write-zeroes,sync=fdatasync/1",
    "write,chunk=64KiB,cache=direct,prepare=zero-fill,sync=fdatasync/3",
    "pwrite,chunk=64KiB,threads=3",
    "pwrite,chunk=whole,threads=4,prepare=posix-fallocate",
    "pwrite,chunk=64KiB,threads=2,descriptor=per-thread,cache=direct,prepare=fallocate",
    "pwrite,chunk=64KiB,cache=dontcache",
    "pwrite,chunk=64KiB,checksums=no,prepare=fallocate",
    "pwrite,chunk=64KiB,prepare=fallocate-ahead,cache=direct,sync=fdatasync",
    "write,chunk=64KiB,prepare=fallocate-ahead,sync=fdatasync/3",
    "pwrite,threads=2,layout=strided,cache=dontcache,sync=rwf-dsync",
    "io_uring,chunk=64KiB,depth=3,cache=direct,prepare=fallocate-ahead",
    "read-write,chunk=64KiB,cache=direct,checksums=no",
    "pwrite,chunk=64KiB,threads=3,cache=direct,prepare=zero-fill",
    "write,chunk=64KiB,threads=2,descriptor=per-thread",
    "writev,chunk=1000,vector=7",
    "pwritev,chunk=4KiB,vector=16,cache=direct",
    "pwrite,chunk=64KiB,cache=direct,prepare=zero-fill,memory=huge-pages",
    "write,chunk=64KiB,memory=huge-pages",
    "fwrite,chunk=1000",
    "mmap,chunk=64KiB",
    "mmap,chunk=64KiB,prepare=overwrite",
    "mmap,chunk=64KiB,prepare=fallocate,threads=2,populate=window,window=256KiB,sync=msync",
    "mmap,chunk=64KiB,threads=2,map=per-thread,huge=advise",
    "mmap,chunk=64KiB,store=nontemporal,populate=all",
    "mmap,chunk=4KiB,sync=msync/3",
    "mmap,chunk=1000,threads=2,sync=msync/3",
    "mmap-write,chunk=1000,threads=2,descriptor=per-thread",
    "io_uring,chunk=16KiB,depth=4",
    "io_uring,chunk=16KiB,depth=4,cache=direct,registered=both,prepare=fallocate",
    "io_uring,chunk=whole,depth=2,cache=direct",
    "io_uring,chunk=16KiB,depth=4,sync=fsync/8",
    "io_uring,chunk=16KiB,depth=4,threads=2,sync=fdatasync/1",
    "read-write,chunk=64KiB",
    "read-write,chunk=64KiB,prepare=overwrite",
    "read-write,chunk=64KiB,threads=2,descriptor=per-thread,prepare=fallocate",
    "read-write,chunk=64KiB,cache=direct,sync=fsync",
    "mmap-write,chunk=64KiB,populate=window,window=256KiB",
    "mmap-write,chunk=64KiB,threads=2,descriptor=per-thread,cache=direct",
    "read-mmap,chunk=64KiB,threads=2,sync=msync",
    "read-mmap,chunk=64KiB,threads=2,descriptor=per-thread,map=per-thread,prepare=fallocate",
    "mmap-mmap,chunk=64KiB,populate=window,window=256KiB,store=nontemporal",
    "pipeline,chunk=64KiB,depth=3",
    "pipeline,chunk=64KiB,depth=3,writeback=256KiB",
    "io_uring-copy,chunk=16KiB,depth=4",
    "io_uring-copy,chunk=16KiB,depth=4,cache=direct,registered=both",
    "splice,chunk=5KiB",
    "sendfile,chunk=64KiB,prepare=set-len",
    "copy-file-range,chunk=whole,sync=fdatasync",
    "copy-file-range,chunk=64KiB,threads=2,descriptor=per-thread",
];

/// Sets of files.
pub(super) const SETS: &[&str] = &[
    "write-files,file-size=whole,chunk=64KiB,naming=rename,prepare=overwrite",
    "write-files,file-size=whole,naming=rename,sync-files=each",
    "write-files,file-size=whole,chunk=whole,prepare=truncate,sync-files=each",
    "write-files,file-size=whole,naming=exchange,prepare=overwrite",
    "write-files,file-size=whole,naming=tmpfile,prepare=overwrite,sync-files=each",
    "write-files,file-size=whole,naming=tmpfile,sync-files=batch",
    "write-files,file-size=whole,naming=rename,prepare=overwrite,sync-files=syncfs",
    "write-files,file-size=8KiB",
    "write-files,file-size=1KiB..64KiB",
    "write-files,file-size=7..100000,chunk=whole,threads=2,naming=rename,sync-files=each",
    "write-files,file-size=1MiB,chunk=64KiB,threads=3,sync-files=writeback",
    "write-files,file-size=5000,chunk=4KiB,prepare=truncate,sync-files=each",
    "write-files,file-size=8KiB,chunk=whole,naming=rename,sync-files=each",
    "write-files,file-size=8KiB,threads=2,naming=rename,sync-files=batch,prepare=overwrite",
    "write-files,file-size=8KiB,naming=tmpfile,sync-files=each,directory=fan-out",
    "write-files,file-size=8KiB,threads=4,naming=tmpfile,sync-files=syncfs",
    "write-files,file-size=8KiB,naming=exchange,sync-files=writeback,prepare=overwrite",
    "write-files,file-size=8KiB,naming=exchange,sync-files=each,prepare=overwrite",
];

/// Logs of records.
pub(super) const LOGS: &[&str] = &[
    "write,chunk=64KiB,sync=fsync/1",
    "write,chunk=64KiB,prepare=set-len,sync=o-sync",
    "write,chunk=1000000,prepare=fallocate-zero-range,checksums=no,sync=fdatasync/3",
    "write,chunk=64KiB,prepare=fallocate-ahead,sync=fsync/16",
    "pwrite,chunk=64KiB,sync=fdatasync/16",
    "pwrite,chunk=64KiB,sync=rwf-dsync",
    "pwrite,chunk=64KiB,prepare=fallocate,sync=o-dsync",
    "pwrite,chunk=64KiB,prepare=posix-fallocate,checksums=no,sync=rwf-dsync",
    "pwrite,chunk=64KiB,prepare=fallocate-keep-size,sync=fdatasync/1",
    "pwrite,chunk=64KiB,prepare=zero-fill,memory=huge-pages,rate=5000,sync=fdatasync/1",
    "pwrite,chunk=64KiB,prepare=fallocate-ahead,sync=rwf-dsync",
];

/// The languages with logs.
pub(super) const LOG_LANGUAGES: [Language; 3] = [Language::C, Language::Rust, Language::Go];

/// Whether the case is one of records for a log in the language.
pub(super) fn appends(case: &Case, language: Language) -> bool {
    code(
        case,
        language,
        EmitOptions {
            is_append: true,
            ..EmitOptions::default()
        },
    )
    .is_ok()
}

/// Each combination of options.
pub(super) fn frames() -> impl Iterator<Item = EmitOptions> {
    let plain = (0..8).map(|bits| EmitOptions {
        is_program: bits & 1 > 0,
        is_atomic: bits & 2 > 0,
        is_stream: bits & 4 > 0,
        is_append: false,
    });
    let append = EmitOptions {
        is_append: true,
        ..EmitOptions::default()
    };
    plain.chain([
        append,
        EmitOptions {
            is_program: true,
            ..append
        },
    ])
}

/// Whether the case can write a producer's data.
pub(super) fn streams(case: &Case) -> bool {
    let frame = EmitOptions {
        is_stream: true,
        ..EmitOptions::default()
    };
    code(case, Language::C, frame).is_ok()
}

pub(super) fn case(name: &str) -> Result<Case> {
    Case::parse(name).context(name.to_owned())
}

pub(super) fn in_all_languages<T: Copy>(
    items: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = (Language, T)> {
    items
        .into_iter()
        .flat_map(|item| Language::ALL.iter().map(move |&language| (language, item)))
}
