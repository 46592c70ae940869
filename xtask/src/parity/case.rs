//! A case of writebench, as it is asked for and as its figures are read.

use std::fmt;

use writebench_model::{Axes, Bytes, Prepare};

/// A case of writebench.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// The case's name for writebench.
    name: String,
    /// Bytes that the file has in the end.
    pub(super) size_bytes: u64,
    /// What the method is about.
    pub(super) work: Work,
}

/// The part of a case that is compared on its own, beside all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Handing over the data.
    Writing,
    /// Reserving blocks; nothing is written.
    Reserving,
    /// What fio's latencies have: handing over the data, and making it durable. All of it then is what fio's runtime
    /// has, which begins when the file has been made and ends before it is closed.
    InFiosClock,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl Case {
    /// The case of that method with one file of that size.
    pub(super) fn new(method: &str, size: Bytes) -> Self {
        let mut name = method.to_owned();
        if size.0 != Axes::defaults(Prepare::Create).size_bytes {
            name.push_str(&format!(",size={size}"));
        }
        Self { name, size_bytes: size.0, work: Work::Writing }
    }

    /// With that value on an axis, in the order that writebench names them.
    pub(super) fn with(mut self, axis: &str, value: &str) -> Self {
        self.name.push_str(&format!(",{axis}={value}"));
        self
    }

    /// With chunks of that size, which is not said if it is the usual one.
    pub(super) fn chunked(self, chunk: Bytes) -> Self {
        if chunk.0 == Axes::defaults(Prepare::Create).chunk_size_bytes {
            return self;
        }
        let chunk = chunk.to_string();
        self.with("chunk", &chunk)
    }

    /// One in which reserving is the work.
    pub(super) fn reserving(self) -> Self {
        Self { work: Work::Reserving, ..self }
    }

    /// One that is measured by what fio's clock covers.
    pub(super) fn in_fios_clock(self) -> Self {
        Self { work: Work::InFiosClock, ..self }
    }

    /// The name of its method.
    pub(super) fn method(&self) -> &str {
        self.name.split(',').next().unwrap_or_default()
    }

    /// Whether it goes past the page cache, which filesystems in memory are.
    pub(super) fn is_direct(&self) -> bool {
        self.name.split(',').any(|part| part == "cache=direct")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_only_what_differs_from_the_defaults() {
        let (usual, small) = (Bytes(1 << 30), Bytes(5 << 20));
        assert_eq!(Case::new("write", usual).chunked(Bytes(1 << 20)).to_string(), "write");
        let case = Case::new("uring", small).chunked(Bytes(4096)).with("depth", "8");
        assert_eq!(case.to_string(), "uring,size=5MiB,chunk=4KiB,depth=8");
        assert_eq!(case.method(), "uring");
    }

    #[test]
    fn a_case_past_the_page_cache_is_known_by_its_name() {
        assert!(Case::new("pwrite", Bytes(1)).with("cache", "direct").is_direct());
        assert!(!Case::new("pwrite", Bytes(1)).is_direct());
    }
}
