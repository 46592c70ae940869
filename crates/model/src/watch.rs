//! What may explain a sample that is not like the others.

use serde::{Deserialize, Serialize};

/// The state of the machine right before a sample, and what held it up meanwhile. What the system does not tell is
/// none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Memory that could be had without swapping, before: `MemAvailable` of proc_meminfo(5).
    pub available_memory_bytes: Option<u64>,
    /// Pages that wait to be written, before, of all files: `Dirty`.
    pub dirty_bytes: Option<u64>,
    /// Pages that are being written, before: `Writeback`.
    pub writeback_bytes: Option<u64>,
    /// How long a limit on the CPU time of the process's control group, or of one around it, held it up meanwhile:
    /// `cpu.stat` of the group that was held up the longest, of either generation.
    pub throttled_ns: Option<u64>,
    /// How often a CPU was slowed down because of heat meanwhile: sysfs's `thermal_throttle/core_throttle_count`.
    pub thermal_throttles: Option<u64>,
}

/// How much was handed over in each interval of a long phase `write`, so that a fast beginning shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// How long each interval is; the last ends with the phase.
    pub interval_ns: u64,
    /// Bytes handed over in each, in order, by all threads.
    pub bytes: Vec<u64>,
}
