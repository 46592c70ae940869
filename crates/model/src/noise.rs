//! How much the same work varies when nothing changes.

use serde::{Deserialize, Serialize};

use crate::sample::Watch;
use crate::value::named_values;

named_values! {
    /// Work that is done again and again.
    Work {
        /// Reading the monotonic clock.
        ClockRead = "clock-read",
        /// A system call that does nothing: getppid(2).
        SystemCall = "system-call",
        /// Copying memory that is there.
        MemoryCopy = "memory-copy",
        /// Writes of 4 KiB into the page cache, over what is there.
        SmallWrite = "small-write",
        /// The same, each with fdatasync(2).
        DurableWrite = "durable-write",
    }
}

/// How long one kind of work took, in the order in which it was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// What was done.
    pub work: Work,
    /// So many times for each value.
    pub times: u32,
    /// How long they took together.
    pub values_ns: Vec<u64>,
    /// Why it could not be done, or not to the end.
    pub failed: Option<String>,
}

/// Every kind of work in turn, for some time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noise {
    /// How long it took.
    pub elapsed_ns: u64,
    /// A series for each kind.
    pub series: Vec<Series>,
    /// CPU time that the hypervisor gave to others meanwhile, over all CPUs.
    pub steal_ns: u64,
    /// The machine before, and what held it up.
    pub watch: Watch,
}
