//! A case of writebench: its name for the command line, and its figures.

use std::fmt;

use writebench_model::Bytes;

use crate::case_name::of_size;

#[derive(Debug, Clone)]
pub(super) struct Case {
    name: String,
    /// The final size of the file.
    pub(super) size_bytes: u64,
    pub(super) work: Work,
}

/// The part of a case that is compared separately, beside the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Handing over the data.
    Writing,
    /// Handing over the data, and making it durable.
    WithSync,
    /// The part in fio's latencies: handing over the data, and making it durable. The total is then fio's
    /// runtime, which begins after the file is created and ends before it is closed.
    InFiosClock,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl Case {
    /// The case with that name and file size; the name includes a size other than the default.
    pub(super) fn new(name: &str, size: Bytes) -> Self {
        Self { name: of_size(name, size), size_bytes: size.0, work: Work::Writing }
    }

    pub(super) fn in_fios_clock(self) -> Self {
        Self { work: Work::InFiosClock, ..self }
    }

    pub(super) fn with_sync(self) -> Self {
        Self { work: Work::WithSync, ..self }
    }
}
