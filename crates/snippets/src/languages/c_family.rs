use crate::used_names::UsedNames;

/// Headers and the names that need them. In C++, calls of these names begin with `::`.
const SYSTEM_HEADERS: &[(&str, &[&str])] = &[
    (
        "fcntl.h",
        &[
            "fallocate",
            "fcntl",
            "open",
            "openat",
            "posix_fadvise",
            "posix_fallocate",
            "sync_file_range",
        ],
    ),
    ("libgen.h", &["dirname"]),
    ("liburing.h", &["io_uring"]),
    ("linux/fs.h", &["FICLONERANGE", "FS_NOCOW_FL"]),
    ("pthread.h", &["pthread_create", "pthread_mutex_lock"]),
    ("semaphore.h", &["sem_init"]),
    ("sys/file.h", &["flock"]),
    ("sys/ioctl.h", &["ioctl"]),
    ("sys/mman.h", &["madvise", "mmap", "munmap"]),
    ("sys/sendfile.h", &["sendfile"]),
    ("sys/stat.h", &["fchmod", "fstat", "fstatat", "stat"]),
    ("sys/uio.h", &["iovec"]),
    (
        "unistd.h",
        &[
            "close",
            "fchown",
            "fdatasync",
            "fsync",
            "ftruncate",
            "pread",
            "pwrite",
            "sysconf",
        ],
    ),
];

/// The language's own headers are first.
pub(super) fn with_includes(text: &str, own_headers: &[(&str, &[&str])]) -> String {
    let names = UsedNames::in_text(text, &["//"]);
    let [own, systems] = [own_headers, SYSTEM_HEADERS].map(|headers| {
        let used = headers.iter().filter(|(_, wanted)| names.has_any(wanted));
        used.map(|(header, _)| format!("#include <{header}>\n"))
            .collect::<String>()
    });
    text.replacen("INCLUDES", format!("{own}\n{systems}").trim_end(), 1)
}

pub(super) fn is_of_system(name: &str) -> bool {
    SYSTEM_HEADERS
        .iter()
        .any(|(_, names)| names.contains(&name))
}
