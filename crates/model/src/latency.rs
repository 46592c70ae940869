//! How long each of many calls took.

use serde::{Deserialize, Serialize};

/// Figures of a distribution of durations, and all of it in a form that other programs read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// How many durations there were.
    pub count: u64,
    /// Half of them were no longer.
    pub p50_ns: u64,
    /// 90 % of them.
    pub p90_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p99_9_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// An HDR histogram of nanoseconds with three significant digits, in the format "V2 deflate" of
    /// <https://github.com/HdrHistogram>, as base64.
    pub histogram: String,
}
