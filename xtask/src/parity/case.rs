//! A case of writebench: its name for the command line, and its figures.

use std::fmt;

use writebench_model::{Axes, Bytes, Prepare};

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
    /// The same, and making it durable.
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
        let (method, axes) = name.split_at(name.find(',').unwrap_or(name.len()));
        let is_usual = size.0 == Axes::defaults(Prepare::Create).size_bytes;
        let of_size = if is_usual { String::new() } else { format!(",size={size}") };
        Self { name: format!("{method}{of_size}{axes}"), size_bytes: size.0, work: Work::Writing }
    }

    pub(super) fn in_fios_clock(self) -> Self {
        Self { work: Work::InFiosClock, ..self }
    }

    pub(super) fn with_sync(self) -> Self {
        Self { work: Work::WithSync, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_in_the_name_where_writebench_puts_it() {
        assert_eq!(Case::new("write", Bytes(1 << 30)).to_string(), "write");
        let case = Case::new("uring,chunk=4KiB,depth=8", Bytes(5 << 20));
        assert_eq!(case.to_string(), "uring,size=5MiB,chunk=4KiB,depth=8");
    }
}
