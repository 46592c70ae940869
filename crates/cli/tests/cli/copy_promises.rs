//! System calls of copying methods, by case.

use crate::promises::{CREATE, CREATE_TO_MAP, LOOK, Promise};

/// With calls on the source.
pub(crate) const COPIES: &[Promise] = &[
    (
        "read-write,size=1MiB,chunk=256KiB",
        &[
            (CREATE, 1),
            ("open source", 1),
            ("read source 262144", 4),
            ("write 262144", 4),
            ("close source", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    (
        "read-write,size=1MiB,prepare=posix-fallocate,advice=sequential",
        &[
            (CREATE, 1),
            ("fallocate 0 0 1048576", 1),
            ("open source", 1),
            ("fadvise64 0 0 POSIX_FADV_WILLNEED", 1),
            ("fadvise64 0 0 POSIX_FADV_SEQUENTIAL", 1),
            ("read source 1048576", 1),
            ("write 1048576", 1),
            ("close source", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    (
        "mmap-write,size=1MiB,chunk=whole,advice=sequential",
        &[
            (CREATE, 1),
            ("open source", 1),
            ("mmap source 1048576 0", 1),
            ("close source", 1),
            ("madvise 1048576 MADV_WILLNEED", 1),
            ("madvise 1048576 MADV_SEQUENTIAL", 1),
            ("write 1048576", 1),
            ("munmap 1048576", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    // The pipe holds one chunk.
    (
        "splice,size=1MiB,chunk=256KiB",
        &[
            (CREATE, 1),
            ("open source", 1),
            ("splice source 262144", 4),
            ("splice into 262144", 4),
            ("close source", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    (
        "sendfile,size=1MiB,chunk=whole,prepare=set-len",
        &[
            (CREATE, 1),
            ("ftruncate 1048576", 1),
            ("open source", 1),
            ("sendfile 1048576", 1),
            ("close source", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    (
        "copy-file-range,size=1MiB",
        &[
            (CREATE, 1),
            ("open source", 1),
            ("copy_file_range 1048576", 1),
            ("close source", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    // Each thread has its own descriptors.
    (
        "read-write,size=1MiB,chunk=256KiB,threads=2,descriptor=per-thread",
        &[
            (CREATE, 1),
            ("open O_WRONLY", 1),
            ("lseek 524288 SEEK_SET", 1),
            ("open source", 2),
            ("lseek source 524288 SEEK_SET", 1),
            ("read source 262144", 4),
            ("write 262144", 4),
            ("close source", 2),
            ("close", 3),
            (LOOK, 1),
        ],
    ),
    // A chunk with a partial page is moved in one call.
    (
        "splice,size=100KiB,chunk=5KiB",
        &[
            (CREATE, 1),
            ("open source", 1),
            ("splice source 5120", 20),
            ("splice into 5120", 20),
            ("close source", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    (
        "mmap-write,size=4MiB,populate=window",
        &[
            (CREATE, 1),
            ("open source", 1),
            ("mmap source 4194304 0", 1),
            ("close source", 1),
            ("madvise 2097152 MADV_POPULATE_READ", 2),
            ("write 1048576", 4),
            ("munmap 4194304", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    (
        "mmap-write,size=1MiB,cache=direct",
        &[
            ("open O_WRONLY|O_CREAT|O_EXCL|O_DIRECT", 1),
            ("open source", 1),
            ("mmap source 1048576 0", 1),
            ("close source", 1),
            ("write 1048576", 1),
            ("close", 3),
            (LOOK, 2),
            ("mmap 1048576 0", 1),
            ("munmap 1048576", 2),
        ],
    ),
    (
        "read-mmap,size=5MiB,huge=collapse",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 5242880", 1),
            ("open source", 1),
            ("mmap 5242880 0", 1),
            ("madvise 2097152 MADV_COLLAPSE", 2),
            ("read source 1048576", 5),
            ("close source", 1),
            ("munmap 5242880", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    (
        "mmap-mmap,size=4MiB,populate=window,store=nontemporal,sync=msync",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 4194304", 1),
            ("open source", 1),
            ("mmap source 4194304 0", 1),
            ("close source", 1),
            ("mmap 4194304 0", 1),
            ("madvise 2097152 MADV_POPULATE_READ", 2),
            ("madvise 2097152 MADV_POPULATE_WRITE", 2),
            ("msync 4194304", 1),
            ("munmap 4194304", 2),
            ("close", 2),
            (LOOK, 1),
            ("fsync directory", 1),
        ],
    ),
    (
        "pipeline,size=1MiB,chunk=64KiB,depth=3",
        &[
            (CREATE, 1),
            ("open source", 1),
            ("read source 65536", 16),
            ("write 65536", 16),
            ("close source", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
    (
        "io_uring-copy,size=1MiB,chunk=64KiB,depth=4,registered=both",
        &[
            (CREATE, 1),
            ("open source", 1),
            ("io_uring_setup 8", 1),
            ("io_uring_register IORING_REGISTER_BUFFERS", 1),
            ("io_uring_register IORING_REGISTER_FILES", 1),
            ("operations", 32),
            ("io_uring_register IORING_UNREGISTER_FILES", 1),
            ("io_uring_register IORING_UNREGISTER_BUFFERS", 1),
            ("close source", 1),
            ("close", 2),
            (LOOK, 1),
        ],
    ),
];

/// Reflinks, which ext4 lacks.
pub(crate) const CLONES: &[Promise] = &[(
    "ficlone,size=1MiB",
    &[
        (CREATE, 1),
        ("open source", 1),
        ("ioctl FICLONERANGE", 1),
        ("close source", 1),
        ("close", 2),
        (LOOK, 1),
    ],
)];
