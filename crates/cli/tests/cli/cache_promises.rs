//! The calls of cases past the page cache. Afterwards a mapping shows which pages are in it.

use crate::promises::{CREATE, LOOK, Promise};

pub(crate) const PAST_CACHE: &[Promise] = &[
    // Past the page cache.
    (
        "pwrite,size=4MiB,chunk=2MiB,cache=direct,memory=huge-pages",
        &[
            ("open O_WRONLY|O_CREAT|O_EXCL|O_DIRECT", 1),
            ("pwrite64 2097152 0", 1),
            ("pwrite64 2097152 2097152", 1),
            ("close", 2),
            (LOOK, 1),
            ("mmap 4194304 0", 1),
            ("munmap 4194304", 1),
        ],
    ),
    (
        "pwrite,size=1MiB,chunk=512KiB,prepare=overwrite,cache=direct",
        &[
            (CREATE, 1),
            ("write 1048576", 1),
            ("fsync", 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("open O_WRONLY|O_DIRECT", 1),
            ("pwrite64 524288 0", 1),
            ("pwrite64 524288 524288", 1),
            ("close", 3),
            (LOOK, 1),
            ("mmap 1048576 0", 1),
            ("munmap 1048576", 1),
        ],
    ),
    // Unaligned chunks are gathered for O_DIRECT, so the vector has one element. Aligned ones are not.
    (
        "pwritev,size=64KiB,chunk=4KiB,vector=8,cache=direct",
        &[
            ("open O_WRONLY|O_CREAT|O_EXCL|O_DIRECT", 1),
            ("pwritev 1 0 32768", 1),
            ("pwritev 1 32768 32768", 1),
            ("close", 2),
            (LOOK, 1),
            ("mmap 65536 0", 1),
            ("munmap 65536", 1),
        ],
    ),
    (
        "pwritev,size=64KiB,chunk=4KiB,vector=8,cache=direct,memory=page-aligned",
        &[
            ("open O_WRONLY|O_CREAT|O_EXCL|O_DIRECT", 1),
            ("pwritev 8 0 32768", 1),
            ("pwritev 8 32768 32768", 1),
            ("close", 2),
            (LOOK, 1),
            ("mmap 65536 0", 1),
            ("munmap 65536", 1),
        ],
    ),
    (
        "pwritev,size=16KiB,chunk=4KiB,vector=4,cache=dontcache",
        &[
            (CREATE, 1),
            ("pwritev2 4 0 RWF_DONTCACHE 16384", 1),
            ("close", 2),
            (LOOK, 1),
            ("fdatasync", 1),
            ("mmap 16384 0", 1),
            ("munmap 16384", 1),
        ],
    ),
    // Zeros leave the page cache before the data.
    (
        "pwrite,size=64KiB,chunk=32KiB,prepare=zero-fill,cache=dontcache,sync=fdatasync",
        &[
            (CREATE, 1),
            ("pwrite64 65536 0", 1),
            ("fsync", 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("pwritev2 1 0 RWF_DONTCACHE 32768", 1),
            ("pwritev2 1 32768 RWF_DONTCACHE 32768", 1),
            ("close", 2),
            (LOOK, 1),
            ("fdatasync", 2),
            ("mmap 65536 0", 1),
            ("munmap 65536", 1),
            ("fsync directory", 1),
        ],
    ),
];
