//! What the kernel's own threads do for io_uring: io-wq.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// The work of io-wq in a sample, from phase `write` on. The kernel passes it the operations that would block the caller, and they block a
/// thread of io-wq instead, as a call would block a thread of the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelThreads {
    /// The number of threads that ran.
    pub count: u32,
    /// Their CPU time.
    pub cpu_ns: u64,
    /// The CPU time of all threads of the process, theirs included.
    pub all_cpu_ns: u64,
    /// The bytes that they wrote: `write_bytes` of proc_pid_io(5).
    pub written_bytes: u64,
    /// The same of all threads. 0 where the kernel does not count, as on tmpfs.
    pub all_written_bytes: u64,
}

impl KernelThreads {
    /// None if the process used nothing that the kernel counts.
    pub fn share(self) -> Option<KernelShare> {
        let (of, part, all) = if self.all_written_bytes > 0 {
            ("bytes", self.written_bytes, self.all_written_bytes)
        } else {
            ("CPU time", self.cpu_ns, self.all_cpu_ns)
        };
        (all > 0).then(|| KernelShare {
            part: (part as f64 / all as f64).min(1.0),
            of,
        })
    }
}

impl Add for KernelThreads {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            cpu_ns: self.cpu_ns.saturating_add(other.cpu_ns),
            all_cpu_ns: self.all_cpu_ns.saturating_add(other.all_cpu_ns),
            written_bytes: self.written_bytes.saturating_add(other.written_bytes),
            all_written_bytes: self
                .all_written_bytes
                .saturating_add(other.all_written_bytes),
        }
    }
}

impl Sum for KernelThreads {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::add)
    }
}

/// How much of a case's work io-wq did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelShare {
    /// From 0 to 1.
    pub part: f64,
    /// What it is a part of, in words.
    pub of: &'static str,
}

impl KernelShare {
    /// Whether the case is more of a thread pool than of asynchronous writes.
    pub fn is_most(self) -> bool {
        self.part > 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_of_all_bytes_or_of_the_cpu_time_where_the_kernel_does_not_count_them() {
        let threads = |written_bytes, all_written_bytes| KernelThreads {
            count: 2,
            cpu_ns: 75,
            all_cpu_ns: 100,
            written_bytes,
            all_written_bytes,
        };
        let bytes = |part| Some(KernelShare { part, of: "bytes" });
        let all: KernelThreads = [threads(300, 400), threads(0, 200)].into_iter().sum();
        assert_eq!(all.share(), bytes(0.5));
        assert!(!bytes(0.5).unwrap().is_most() && bytes(0.51).unwrap().is_most());
        let of = "CPU time";
        assert_eq!(threads(0, 0).share(), Some(KernelShare { part: 0.75, of }));
        assert_eq!(KernelThreads::default().share(), None);
    }
}
