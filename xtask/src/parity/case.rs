//! The cases that have a reference program.

use std::fmt;

use model::{Axes, Bytes, Prepare};

/// A case of writebench and the C program that does the same.
#[derive(Debug)]
pub(super) struct Case {
    /// The method, whose name is the program's, too.
    pub(super) method: &'static str,
    /// The case's name for writebench.
    name: String,
    /// What the C program is told after the directory.
    pub(super) arguments: Vec<String>,
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
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// How large the files of the cases are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Where nothing speaks against the size that was asked for.
    usual: Bytes,
    /// A system call for every byte.
    bytewise_write: Bytes,
    /// A call of the C library for every byte.
    bytewise_fwrite: Bytes,
    /// Nothing is written.
    allocate: Bytes,
}

impl Sizes {
    /// Sizes that take about as long as each other.
    pub(super) fn of(usual: Bytes) -> Self {
        let at_most = |bytes: u64| Bytes(usual.0.min(bytes));
        let (bytewise_write, bytewise_fwrite) = (at_most(8 << 20), at_most(64 << 20));
        Self { usual, bytewise_write, bytewise_fwrite, allocate: Bytes(1 << 30) }
    }

    /// Just enough to reach every branch: several chunks for each thread and an odd rest.
    pub(super) fn small() -> Self {
        let size = Bytes((5 << 20) + 1);
        Self { usual: size, bytewise_write: Bytes(4097), bytewise_fwrite: size, allocate: size }
    }
}

const VECTOR: u32 = 128;

const CHUNKS: [Bytes; 2] = [Bytes(64 << 10), Bytes(1 << 20)];

/// Every case, in the order of the table.
pub(super) fn all(sizes: Sizes) -> Vec<Case> {
    let mut cases = Vec::new();
    for method in ["write", "pwrite", "fwrite", "writev", "pwritev", "mmap"] {
        cases.extend(CHUNKS.map(|chunk| chunked(method, sizes.usual, chunk)));
    }
    cases.push(chunked("write", sizes.bytewise_write, Bytes(1)));
    cases.push(chunked("fwrite", sizes.bytewise_fwrite, Bytes(1)));
    cases.extend(["shared", "per-thread"].map(|files| threaded(sizes.usual, files)));
    cases.extend(["fallocate", "posix-fallocate"].map(|call| allocating(sizes.allocate, call)));
    cases
}

fn chunked(method: &'static str, size: Bytes, chunk: Bytes) -> Case {
    let mut arguments = vec![size.0.to_string(), chunk.0.to_string()];
    if method.ends_with("writev") {
        arguments.push(VECTOR.to_string());
    }
    let defaults = Axes::defaults(Prepare::Create);
    let mut name = sized(method, size);
    if chunk.0 != defaults.chunk_size_bytes {
        name.push_str(&format!(",chunk={chunk}"));
    }
    Case { method, name, arguments, size_bytes: size.0, work: Work::Writing }
}

fn threaded(size: Bytes, files: &str) -> Case {
    let chunk = Axes::defaults(Prepare::Create).chunk_size_bytes;
    let arguments = [size.0.to_string(), chunk.to_string(), "2".to_owned(), files.to_owned()];
    let mut name = format!("{},threads=2", sized("pwrite", size));
    if files != "shared" {
        name.push_str(&format!(",files={files}"));
    }
    Case { method: "pwrite", name, arguments: arguments.into(), size_bytes: size.0, work: Work::Writing }
}

fn allocating(size: Bytes, call: &str) -> Case {
    let mut name = sized("allocate", size);
    if call != Axes::defaults(Prepare::Create).call.name() {
        name.push_str(&format!(",call={call}"));
    }
    let arguments = vec![call.to_owned(), size.0.to_string()];
    Case { method: "allocate", name, arguments, size_bytes: size.0, work: Work::Reserving }
}

/// The beginning of a case's name, with the size unless it is the default.
fn sized(method: &str, size: Bytes) -> String {
    if size.0 == Axes::defaults(Prepare::Create).size_bytes {
        return method.to_owned();
    }
    format!("{method},size={size}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_only_what_differs_from_the_defaults() {
        let cases = all(Sizes::of(Bytes(256 << 20)));
        let names: Vec<_> = cases.iter().map(Case::to_string).collect();
        assert_eq!(names[0], "write,size=256MiB,chunk=64KiB");
        assert_eq!(names[1], "write,size=256MiB");
        assert!(names.contains(&"write,size=8MiB,chunk=1".to_owned()));
        assert!(names.contains(&"pwrite,size=256MiB,threads=2,files=per-thread".to_owned()));
        assert_eq!(names[names.len() - 2..], ["allocate,call=fallocate", "allocate"]);
    }

    #[test]
    fn no_case_comes_twice() {
        let mut names: Vec<_> = all(Sizes::of(Bytes(1 << 30))).iter().map(Case::to_string).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
