//! What runner and worker say to each other: one JSON document per line, requests down the worker's
//! stdin, replies up its stdout. Each [`SampleRequest`] has one [`Reply`].
//!
//! Beside the pipes both hold an anonymous file of one byte, in which the worker keeps the
//! [`crate::Phase`] it is in, so that the runner knows where a worker was that can no longer speak.

use serde::{Deserialize, Serialize};

use crate::sample::Sample;

/// One sample, fully specified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleRequest {
    /// The case's name.
    pub case: String,
    /// The round it is taken in.
    pub round: u32,
    /// What the files are called, before a thread's number is added.
    pub file_stem: String,
    /// Seed of the data.
    pub data_seed: u64,
    /// Whether to read the content back.
    pub verify: bool,
    /// Longest wait for the target to be quiet.
    pub settle_limit_ns: u64,
    /// Most memory that may be taken and given back to warm it.
    pub warm_limit_bytes: u64,
    /// How long a loop that reads the clock for each record may go on; none for as long as it takes.
    pub write_limit_ns: Option<u64>,
    /// The device whose written sectors are counted, as in `/sys/dev/block`.
    pub device_number: Option<String>,
}

/// What a worker answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The sample.
    Sample(Box<Sample>),
    /// The request could not be understood.
    Refused {
        /// Why.
        why: String,
    },
}
