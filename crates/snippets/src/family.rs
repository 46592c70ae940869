//! Families of methods, each with a template in every language that can say it.

use writebench_model::Case;

/// Methods whose code differs in a call or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `write`, `pwrite`, `writev`, `pwritev`.
    Write,
    /// `fwrite`.
    Buffered,
    /// `mmap`.
    Map,
    /// `uring`.
    Uring,
    /// `read-write`, `mmap-write`, `splice`, `sendfile`, `copy-file-range`.
    Copy,
    /// `read-mmap`, `mmap-mmap`.
    CopyMap,
    /// `pipeline`.
    Pipeline,
    /// `uring-copy`.
    UringCopy,
    /// `ficlone`.
    Clone,
}

impl Family {
    /// The family of a case's method; none for those that have no code: MPI's, and `allocate`, which writes no data.
    #[must_use]
    pub fn of(case: &Case) -> Option<Self> {
        Some(match case.method().name {
            "write" | "pwrite" | "writev" | "pwritev" => Self::Write,
            "fwrite" => Self::Buffered,
            "mmap" => Self::Map,
            "uring" => Self::Uring,
            "read-write" | "mmap-write" | "splice" | "sendfile" | "copy-file-range" => Self::Copy,
            "read-mmap" | "mmap-mmap" => Self::CopyMap,
            "pipeline" => Self::Pipeline,
            "uring-copy" => Self::UringCopy,
            "ficlone" => Self::Clone,
            _ => return None,
        })
    }
}
