//! The variation of the same work without any change.

use serde::{Deserialize, Serialize};

use crate::sample::Watch;
use crate::value::named_values;

named_values! {
    /// Work that is repeated.
    Work {
        /// Reading the monotonic clock.
        ClockRead = "clock-read",
        /// A system call without effect: getppid(2).
        SystemCall = "system-call",
        /// Copies of memory that is present.
        MemoryCopy = "memory-copy",
        /// Overwrites of 4 KiB in the page cache.
        SmallWrite = "small-write",
        /// The same, each with fdatasync(2).
        DurableWrite = "durable-write",
    }
}

/// The times of one kind of work, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    pub work: Work,
    /// The repetitions per value.
    pub times: u32,
    /// The total time of each value's repetitions.
    pub values_ns: Vec<u64>,
    /// The reason if the work failed or stopped early.
    pub failed: Option<String>,
}

/// Every kind of work in turn, for some time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noise {
    pub elapsed_ns: u64,
    /// A series for each kind.
    pub series: Vec<Series>,
    /// CPU time that the hypervisor gave to others meanwhile, over all CPUs.
    pub steal_ns: u64,
    /// The machine's state before, and delays during the work.
    pub watch: Watch,
}
