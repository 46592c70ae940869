use crate::promises::{CREATE, LOOK, Promise};

pub(crate) const SETS: &[Promise] = &[
    (
        "write-files,size=24KiB,chunk=4KiB,file-size=8KiB",
        &[(CREATE, 3), ("write 4096", 6), ("close", 3)],
    ),
    (
        "write-files,size=24KiB,file-size=8KiB,naming=rename,sync-files=each",
        &[
            (CREATE, 3),
            ("write 8192", 3),
            ("fsync", 4),
            ("renameat", 3),
            ("close", 3),
        ],
    ),
    (
        "write-files,size=24KiB,file-size=8KiB,naming=tmpfile,sync-files=syncfs",
        &[
            ("open O_WRONLY|O_TMPFILE", 3),
            ("fsync", 1),
            ("write 8192", 3),
            ("linkat", 3),
            ("renameat", 3),
            ("syncfs", 1),
            ("close", 3),
        ],
    ),
    (
        "write-files,size=24KiB,file-size=8KiB,directory=fan-out,sync-files=writeback",
        &[
            (CREATE, 3),
            ("write 8192", 3),
            ("mkdirat", 1),
            ("sync_file_range 0 0 SYNC_FILE_RANGE_WRITE", 3),
            (LOOK, 3),
            ("fsync", 5),
            ("close", 6),
        ],
    ),
    (
        "write-files,size=24KiB,chunk=8KiB,file-size=whole,naming=rename,sync-files=each,prepare=overwrite",
        &[
            (CREATE, 2),
            ("write 8192", 3),
            ("write 24576", 1),
            (LOOK, 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("fsync", 2),
            ("renameat", 1),
            ("close", 3),
        ],
    ),
    (
        "write-files,size=24KiB,file-size=whole,naming=exchange,sync-files=each,prepare=overwrite",
        &[
            (CREATE, 2),
            ("write 24576", 2),
            (LOOK, 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("fsync", 2),
            ("renameat2", 1),
            ("unlinkat", 1),
            ("close", 3),
        ],
    ),
    (
        "write-files,size=24KiB,file-size=whole,naming=exchange-background,prepare=overwrite",
        &[
            (CREATE, 2),
            ("write 24576", 2),
            (LOOK, 1),
            ("fadvise64 0 0 POSIX_FADV_DONTNEED", 1),
            ("renameat2", 1),
            ("unlinkat", 1),
            ("close", 3),
        ],
    ),
    // Each file's open, write and close, and with options its fsync and rename.
    (
        "io_uring-files,size=64KiB,depth=4,file-size=8KiB",
        &[
            ("io_uring_setup 16", 1),
            ("io_uring_register IORING_REGISTER_FILES2", 1),
            ("operations", 24),
            ("io_uring_register IORING_UNREGISTER_FILES", 1),
        ],
    ),
    (
        "io_uring-files,size=64KiB,depth=2,registered=buffers,file-size=8KiB,naming=rename,sync-files=each",
        &[
            ("io_uring_setup 8", 1),
            ("io_uring_register IORING_REGISTER_FILES2", 1),
            ("io_uring_register IORING_REGISTER_BUFFERS", 1),
            ("operations", 40),
            ("fsync", 1),
            ("io_uring_register IORING_UNREGISTER_FILES", 1),
            ("io_uring_register IORING_UNREGISTER_BUFFERS", 1),
        ],
    ),
];
