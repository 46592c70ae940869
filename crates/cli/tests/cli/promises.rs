pub(crate) const CREATE: &str = "open O_WRONLY|O_CREAT|O_EXCL";
// After the clock: checks for pages left by direct I/O, and for shared blocks.
pub(crate) const LOOK: &str = "open O_RDONLY";
pub(crate) const CREATE_TO_MAP: &str = "open O_RDWR|O_CREAT|O_EXCL";

const WAITS: [&str; 3] = [
    "sync_file_range 0 1048576 SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER",
    "sync_file_range 1048576 1048576 SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER",
    "sync_file_range 2097152 1048576 SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER",
];

const WAITS_OF_80_KIB: [&str; 2] = [
    "sync_file_range 0 81920 SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER",
    "sync_file_range 81920 81920 SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER",
];

/// A case, and every call on its files with its count.
pub(crate) type Promise = (&'static str, &'static [(&'static str, usize)]);

pub(crate) const PROMISES: &[Promise] = &[
    (
        "write,size=1MiB,chunk=64KiB",
        &[(CREATE, 1), ("write 65536", 16), ("close", 1)],
    ),
    (
        "write,size=1000,chunk=300",
        &[
            (CREATE, 1),
            ("write 300", 3),
            ("write 100", 1),
            ("close", 1),
        ],
    ),
    (
        "write,size=100,chunk=1",
        &[(CREATE, 1), ("write 1", 100), ("close", 1)],
    ),
    ("write,size=0", &[(CREATE, 1), ("close", 1)]),
    (
        "write,size=1MiB,sync=fsync",
        &[
            (CREATE, 1),
            ("write 1048576", 1),
            ("fsync", 1),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "write,size=1MiB,sync=fdatasync",
        &[
            (CREATE, 1),
            ("write 1048576", 1),
            ("fdatasync", 1),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "write,size=1MiB,prepare=set-len",
        &[
            (CREATE, 1),
            ("ftruncate 1048576", 1),
            ("write 1048576", 1),
            ("close", 1),
        ],
    ),
    (
        "write,size=1MiB,prepare=fallocate",
        &[
            (CREATE, 1),
            ("fallocate 0 0 1048576", 1),
            ("write 1048576", 1),
            ("close", 1),
        ],
    ),
    (
        "write,size=1MiB,prepare=posix-fallocate",
        &[
            (CREATE, 1),
            ("fallocate 0 0 1048576", 1),
            ("write 1048576", 1),
            ("close", 1),
        ],
    ),
    // The first four calls and a close make the old content before the clock, out of the page cache.
    (
        "write,size=1MiB,chunk=512KiB,prepare=truncate",
        &[
            (CREATE, 1),
            ("write 1048576", 1),
            ("fsync", 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("open O_WRONLY|O_TRUNC", 1),
            ("write 524288", 2),
            ("close", 2),
        ],
    ),
    (
        "write,size=1MiB,chunk=512KiB,prepare=overwrite",
        &[
            (CREATE, 1),
            ("write 1048576", 1),
            ("fsync", 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("open O_WRONLY", 1),
            ("write 524288", 2),
            ("close", 2),
        ],
    ),
    (
        "write,size=1MiB,chunk=64KiB,threads=2,descriptor=per-thread",
        &[
            (CREATE, 1),
            ("open O_WRONLY", 1),
            ("lseek 524288 SEEK_SET", 1),
            ("write 65536", 16),
            ("close", 2),
        ],
    ),
    (
        "write,size=1MiB,chunk=64KiB,threads=2,files=per-thread,sync=fsync",
        &[
            (CREATE, 2),
            ("write 65536", 16),
            ("fsync", 2),
            ("close", 2),
            ("fsync directory", 2),
        ],
    ),
    (
        "pwrite,size=1MiB,chunk=256KiB",
        &[
            (CREATE, 1),
            ("pwrite64 262144 0", 1),
            ("pwrite64 262144 262144", 1),
            ("pwrite64 262144 524288", 1),
            ("pwrite64 262144 786432", 1),
            ("close", 1),
        ],
    ),
    (
        "pwrite,size=64KiB,chunk=16KiB,threads=2",
        &[
            (CREATE, 1),
            ("pwrite64 16384 0", 1),
            ("pwrite64 16384 16384", 1),
            ("pwrite64 16384 32768", 1),
            ("pwrite64 16384 49152", 1),
            ("close", 1),
        ],
    ),
    (
        "pwrite,size=1MiB,chunk=1GiB,threads=4",
        &[
            (CREATE, 1),
            ("pwrite64 262144 0", 1),
            ("pwrite64 262144 262144", 1),
            ("pwrite64 262144 524288", 1),
            ("pwrite64 262144 786432", 1),
            ("close", 1),
        ],
    ),
    // Each thread's range, in its own file and allocation.
    (
        "pwrite,size=1MiB,chunk=1GiB,threads=2,files=per-thread,prepare=fallocate",
        &[
            (CREATE, 2),
            ("fallocate 0 0 524288", 2),
            ("pwrite64 524288 0", 2),
            ("close", 2),
        ],
    ),
    ("null,size=8KiB,chunk=4KiB", &[(CREATE, 1), ("close", 1)]),
    (
        "writev,size=1MiB,chunk=4KiB",
        &[(CREATE, 1), ("writev 128 524288", 2), ("close", 1)],
    ),
    (
        "writev,size=100,chunk=7,vector=4",
        &[
            (CREATE, 1),
            ("writev 4 28", 3),
            ("writev 3 16", 1),
            ("close", 1),
        ],
    ),
    (
        "pwritev,size=1MiB,chunk=4KiB,vector=64",
        &[
            (CREATE, 1),
            ("pwritev 64 0 262144", 1),
            ("pwritev 64 262144 262144", 1),
            ("pwritev 64 524288 262144", 1),
            ("pwritev 64 786432 262144", 1),
            ("close", 1),
        ],
    ),
    // The C library buffers small pieces by block. Of large ones it buffers a block and passes the rest on: two calls
    // each.
    (
        "fwrite,size=64KiB,chunk=1KiB",
        &[(CREATE, 1), ("write 4096", 16), ("close", 1)],
    ),
    (
        "fwrite,size=1MiB,chunk=64KiB",
        &[
            (CREATE, 1),
            ("write 65536", 1),
            ("write 4096", 15),
            ("write 61440", 15),
            ("close", 1),
        ],
    ),
    (
        "mmap,size=1MiB,sync=msync",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 1048576", 1),
            ("mmap 1048576 0", 1),
            ("msync 1048576", 1),
            ("munmap 1048576", 1),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "mmap,size=1MiB,threads=2",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 1048576", 1),
            ("mmap 1048576 0", 1),
            ("munmap 1048576", 1),
            ("close", 1),
        ],
    ),
    (
        "mmap,size=1MiB,chunk=1GiB,threads=2,descriptor=per-thread,map=per-thread,sync=msync",
        &[
            (CREATE_TO_MAP, 1),
            ("open O_RDWR", 1),
            ("ftruncate 1048576", 1),
            ("mmap 524288 0", 1),
            ("mmap 524288 0x80000", 1),
            ("msync 524288", 2),
            ("munmap 524288", 2),
            ("close", 2),
            ("fsync directory", 1),
        ],
    ),
    (
        "allocate,size=1MiB",
        &[(CREATE, 1), ("fallocate 0 0 1048576", 1), ("close", 1)],
    ),
    (
        "allocate,size=1MiB,call=fallocate",
        &[(CREATE, 1), ("fallocate 0 0 1048576", 1), ("close", 1)],
    ),
    (
        "allocate,size=1MiB,call=ftruncate",
        &[(CREATE, 1), ("ftruncate 1048576", 1), ("close", 1)],
    ),
    (
        "write,size=1000,chunk=300,sync=fsync/1",
        &[
            (CREATE, 1),
            ("write 300", 3),
            ("write 100", 1),
            ("fsync", 4),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "pwrite,size=16KiB,chunk=4KiB,prepare=zero-fill,sync=fdatasync/3",
        &[
            (CREATE, 1),
            ("pwrite64 16384 0", 1),
            ("fsync", 1),
            ("pwrite64 4096 0", 1),
            ("pwrite64 4096 4096", 1),
            ("pwrite64 4096 8192", 1),
            ("pwrite64 4096 12288", 1),
            ("fdatasync", 2),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    // The last sync is that of the last chunks alone.
    (
        "mmap,size=88KiB,chunk=16KiB,sync=msync/4",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 90112", 1),
            ("mmap 90112 0", 1),
            ("msync 65536", 1),
            ("msync 24576", 1),
            ("munmap 90112", 1),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "mmap,size=64KiB,chunk=16KiB,sync=msync/2",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 65536", 1),
            ("mmap 65536 0", 1),
            ("msync 32768", 2),
            ("munmap 65536", 1),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "write,size=8KiB,chunk=4KiB,sync=o-dsync",
        &[
            ("open O_WRONLY|O_CREAT|O_EXCL|O_DSYNC", 1),
            ("write 4096", 2),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "write,size=8KiB,chunk=4KiB,sync=o-sync",
        &[
            ("open O_WRONLY|O_CREAT|O_EXCL|O_SYNC", 1),
            ("write 4096", 2),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "writev,size=32KiB,chunk=4KiB,vector=4,sync=rwf-dsync",
        &[
            (CREATE, 1),
            ("pwritev2 4 -1 RWF_DSYNC 16384", 2),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "pwritev,size=8KiB,chunk=4KiB,vector=1,sync=rwf-dsync",
        &[
            (CREATE, 1),
            ("pwritev2 1 0 RWF_DSYNC 4096", 1),
            ("pwritev2 1 4096 RWF_DSYNC 4096", 1),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "pwrite,size=8KiB,chunk=4KiB,sync=rwf-dsync",
        &[
            (CREATE, 1),
            ("pwritev2 1 0 RWF_DSYNC 4096", 1),
            ("pwritev2 1 4096 RWF_DSYNC 4096", 1),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "mmap,size=4MiB,populate=window,store=nontemporal",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 4194304", 1),
            ("mmap 4194304 0", 1),
            ("madvise 2097152 MADV_POPULATE_WRITE", 2),
            ("munmap 4194304", 1),
            ("close", 1),
        ],
    ),
    (
        "mmap,size=4MiB,threads=2,populate=all,huge=advise",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 4194304", 1),
            ("mmap 4194304 0", 1),
            ("madvise 4194304 MADV_HUGEPAGE", 1),
            ("madvise 2097152 MADV_POPULATE_WRITE", 2),
            ("munmap 4194304", 1),
            ("close", 1),
        ],
    ),
    (
        "mmap,size=8MiB,threads=2,huge=collapse,window=4MiB",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 8388608", 1),
            ("mmap 8388608 0", 1),
            ("madvise 4194304 MADV_COLLAPSE", 2),
            ("munmap 8388608", 1),
            ("close", 1),
        ],
    ),
    // Write-behind: start here, wait for the previous, and drop it.
    (
        "write,size=4MiB,writeback=1MiB,drop=yes",
        &[
            (CREATE, 1),
            ("write 1048576", 4),
            ("sync_file_range 0 1048576 SYNC_FILE_RANGE_WRITE", 1),
            ("sync_file_range 1048576 1048576 SYNC_FILE_RANGE_WRITE", 1),
            ("sync_file_range 2097152 1048576 SYNC_FILE_RANGE_WRITE", 1),
            ("sync_file_range 3145728 1048576 SYNC_FILE_RANGE_WRITE", 1),
            (WAITS[0], 1),
            (WAITS[1], 1),
            (WAITS[2], 1),
            ("fadvise64 0 1048576 POSIX_FADV_DONTNEED", 1),
            ("fadvise64 1048576 1048576 POSIX_FADV_DONTNEED", 1),
            ("fadvise64 2097152 1048576 POSIX_FADV_DONTNEED", 1),
            ("close", 1),
        ],
    ),
    // At the first chunk after each distance.
    (
        "write,size=256KiB,chunk=20KiB,writeback=64KiB",
        &[
            (CREATE, 1),
            ("write 20480", 12),
            ("write 16384", 1),
            ("sync_file_range 0 81920 SYNC_FILE_RANGE_WRITE", 1),
            ("sync_file_range 81920 81920 SYNC_FILE_RANGE_WRITE", 1),
            ("sync_file_range 163840 81920 SYNC_FILE_RANGE_WRITE", 1),
            (WAITS_OF_80_KIB[0], 1),
            (WAITS_OF_80_KIB[1], 1),
            ("close", 1),
        ],
    ),
    (
        "write,size=128KiB,prepare=zero-fill",
        &[
            (CREATE, 1),
            ("pwrite64 65536 0", 1),
            ("pwrite64 65536 65536", 1),
            ("fsync", 1),
            ("write 131072", 1),
            ("close", 1),
        ],
    ),
    (
        "write,size=128KiB,prepare=fallocate-keep-size",
        &[
            (CREATE, 1),
            ("fallocate FALLOC_FL_KEEP_SIZE 0 131072", 1),
            ("write 131072", 1),
            ("close", 1),
        ],
    ),
    (
        "write,size=128KiB,prepare=fallocate-zero-range",
        &[
            (CREATE, 1),
            ("fallocate FALLOC_FL_ZERO_RANGE 0 131072", 1),
            ("write 131072", 1),
            ("close", 1),
        ],
    ),
    // Each 64 MiB before its first write, and the length at the end.
    (
        "write,size=72MiB,chunk=8MiB,prepare=fallocate-ahead,sync=fdatasync",
        &[
            (CREATE, 1),
            ("fallocate 0 0 67108864", 1),
            ("fallocate 0 67108864 67108864", 1),
            ("write 8388608", 9),
            ("ftruncate 75497472", 1),
            ("fdatasync", 1),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    // A sync makes the length durable after those of the records.
    (
        "write,size=16KiB,chunk=4KiB,prepare=fallocate-ahead,sync=fsync/3",
        &[
            (CREATE, 1),
            ("fallocate 0 0 67108864", 1),
            ("write 4096", 4),
            ("fsync", 2),
            ("ftruncate 16384", 1),
            ("fdatasync", 1),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "io_uring,size=72MiB,chunk=8MiB,depth=2,prepare=fallocate-ahead",
        &[
            (CREATE, 1),
            ("io_uring_setup 4", 1),
            ("fallocate 0 0 67108864", 1),
            ("fallocate 0 67108864 67108864", 1),
            ("operations", 9),
            ("ftruncate 75497472", 1),
            ("close", 1),
        ],
    ),
    (
        "write,size=1MiB,chunk=whole,memory=page-aligned",
        &[(CREATE, 1), ("write 1048576", 1), ("close", 1)],
    ),
    // A queue makes no calls on the file, so its entries are counted.
    (
        "io_uring,size=1MiB,chunk=64KiB,depth=4",
        &[
            (CREATE, 1),
            ("io_uring_setup 8", 1),
            ("operations", 16),
            ("close", 1),
        ],
    ),
    (
        "io_uring,size=64KiB,chunk=4KiB,depth=2,registered=both,sync=fsync/1",
        &[
            (CREATE, 1),
            ("io_uring_setup 4", 1),
            ("io_uring_register IORING_REGISTER_BUFFERS", 1),
            ("io_uring_register IORING_REGISTER_FILES", 1),
            ("io_uring_register IORING_UNREGISTER_FILES", 1),
            ("io_uring_register IORING_UNREGISTER_BUFFERS", 1),
            ("operations", 32),
            ("close", 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "io_uring,size=64KiB,chunk=4KiB,depth=8,cache=direct,sync=fdatasync/4",
        &[
            ("open O_WRONLY|O_CREAT|O_EXCL|O_DIRECT", 1),
            ("io_uring_setup 16", 1),
            ("operations", 20),
            ("close", 2),
            (LOOK, 1),
            ("mmap 65536 0", 1),
            ("munmap 65536", 1),
            ("fsync directory", 1),
        ],
    ),
    // Each page once, at its place. The first four calls and a close make the old content before the clock.
    (
        "pwrite,size=32KiB,chunk=8KiB,access=uniform,prepare=overwrite,sync=fdatasync/2",
        &[
            (CREATE, 1),
            ("write 32768", 1),
            ("fsync", 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("open O_WRONLY", 1),
            ("pwrite64 8192 0", 1),
            ("pwrite64 8192 8192", 1),
            ("pwrite64 8192 16384", 1),
            ("pwrite64 8192 24576", 1),
            ("fdatasync", 2),
            ("close", 2),
        ],
    ),
    (
        "pwrite,size=16KiB,chunk=8KiB,access=uniform,order=sorted,prepare=overwrite,sync=o-dsync/2",
        &[
            (CREATE, 1),
            ("write 16384", 1),
            ("fsync", 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("open O_WRONLY|O_DSYNC", 1),
            ("pwrite64 8192 0", 1),
            ("pwrite64 8192 8192", 1),
            ("close", 2),
        ],
    ),
    // The journal is a second file, which is made before the clock as well. Each commit has a head of 4 KiB in it.
    (
        "pwrite,size=32KiB,chunk=8KiB,access=uniform,protect=double-write,prepare=overwrite,sync=fdatasync/2",
        &[
            (CREATE, 2),
            ("write 32768", 1),
            ("write 20480", 1),
            ("fsync", 2),
            ("fsync directory", 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("open O_WRONLY", 2),
            ("pwrite64 20480 0", 2),
            ("pwrite64 8192 0", 1),
            ("pwrite64 8192 8192", 1),
            ("pwrite64 8192 16384", 1),
            ("pwrite64 8192 24576", 1),
            ("fdatasync", 4),
            ("close", 4),
        ],
    ),
    // The ring has the writes. The syncs are calls.
    (
        "io_uring,size=32KiB,chunk=8KiB,access=uniform,depth=2,prepare=overwrite,sync=fdatasync/2",
        &[
            (CREATE, 1),
            ("write 32768", 1),
            ("fsync", 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("open O_WRONLY", 1),
            ("io_uring_setup 4", 1),
            ("operations", 4),
            ("fdatasync", 2),
            ("close", 2),
        ],
    ),
    (
        "mmap,size=32KiB,chunk=8KiB,access=uniform,prepare=overwrite,sync=msync/2",
        &[
            (CREATE, 1),
            ("write 32768", 1),
            ("fsync", 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("open O_RDWR", 1),
            ("mmap 32768 0", 1),
            ("msync 32768", 2),
            ("munmap 32768", 1),
            ("close", 2),
        ],
    ),
];
