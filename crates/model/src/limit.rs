//! What the hardware could do at most, measured in the same run.

use serde::{Deserialize, Serialize};

use crate::value::named_values;

named_values! {
    /// What was measured.
    LimitKind {
        /// Copying from memory to memory, as a write into the page cache does at least once.
        MemoryCopy = "memory-copy",
        /// The same from one chunk that stays in the CPU's caches.
        MemoryCopyOneChunk = "memory-copy-one-chunk",
        /// The same as the first, with stores past the caches of the CPU.
        MemoryCopyNonTemporal = "memory-copy-non-temporal",
        /// Large direct writes with several under way, for what must be on the device.
        DeviceWrite = "device-write",
    }
}

/// A bandwidth that no way of writing should exceed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Of what.
    pub kind: LimitKind,
    /// With so many threads.
    pub threads: u32,
    /// The best of several measurements; none if it cannot be measured here.
    pub bytes_per_s: Option<u64>,
    /// How it was measured, in words, or why not.
    pub how: String,
}
