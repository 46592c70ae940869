//! The system's headers, which C and C++ share.

use crate::used_names::UsedNames;

/// The headers, each with the names that need it. In C++, calls of these names begin with `::`.
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

/// The text with the headers that it needs, of which the language's own are first.
pub(super) fn with_includes(text: &str, own_headers: &[(&str, &[&str])]) -> String {
    let names = UsedNames::in_text(text, &["//"]);
    let own = includes(own_headers, &names);
    let systems = includes(SYSTEM_HEADERS, &names);
    text.replacen("INCLUDES", format!("{own}\n{systems}").trim_end(), 1)
}

fn includes(headers: &[(&str, &[&str])], names: &UsedNames) -> String {
    headers
        .iter()
        .filter(|(_, wanted)| names.has_any(wanted))
        .map(|(header, _)| format!("#include <{header}>\n"))
        .collect()
}

pub(super) fn is_of_system(name: &str) -> bool {
    SYSTEM_HEADERS
        .iter()
        .any(|(_, names)| names.contains(&name))
}
