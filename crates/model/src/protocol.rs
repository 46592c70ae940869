//! What runner and worker say to each other: one JSON document per line, questions down the worker's
//! stdin, answers up its stdout.
//!
//! Beside the pipes both hold an anonymous file of one byte, in which the worker keeps the
//! [`crate::Phase`] it is in, so that the runner knows where a worker was that can no longer speak.

use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::noise::Noise;
use crate::properties::Properties;
use crate::read_back::Extent;
use crate::reserve::Reserve;
use crate::sample::Sample;
use crate::target::Limit;
use crate::value::{Cache, Prepare};

/// A question that one process asks another, and its answer's type.
pub trait Question {
    /// One of all questions that the other process is asked.
    type Asked: Serialize;
    /// An error may come in its place.
    type Answer: Serialize + DeserializeOwned;

    /// As it goes through the pipe.
    fn asked(self) -> Self::Asked;
}

/// Declares the questions that a process is asked, each with the type of its answer; and the type of the question itself
/// where its fields are given.
#[macro_export]
macro_rules! questions {
    ($(#[$about:meta])* $visibility:vis enum $Asked:ident {
        $($(#[$about_one:meta])* $Question:ident $(($($field:ty),*))? -> $Answer:ty,)*
    }) => {
        $(#[$about])*
        $visibility enum $Asked {
            $($(#[$about_one])* $Question($Question),)*
        }

        $($(
            #[derive(serde::Serialize, serde::Deserialize)]
            $visibility struct $Question($($visibility $field),*);
        )?)*

        $(impl $crate::protocol::Question for $Question {
            type Asked = $Asked;
            type Answer = $Answer;

            fn asked(self) -> $Asked {
                $Asked::$Question(self)
            }
        })*
    };
}

questions! {
    /// What a worker is asked for.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Request {
        /// Others may have filled the target meanwhile.
        SampleRequest -> Result<Sample, Shortage>,
        /// Of memory or of a device.
        LimitRequest -> MeasuredLimits,
        /// Series of the same work.
        NoiseRequest -> Noise,
        /// A device has none.
        PropertiesRequest -> Properties,
    }
}

/// A limit of the hardware to be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitRequest {
    /// Of what.
    pub of: LimitOf,
    /// Which of the worker's targets, from 0.
    pub target: usize,
    /// How long that may take, more or less.
    pub time_ns: u64,
}

/// What the limit is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitOf {
    /// Copies of memory by so many threads, from so many bytes to as many.
    Memory {
        /// At the same time, each with its own part.
        threads: u32,
        /// All parts together.
        bytes: u64,
    },
    /// Direct writes to the target.
    Device(DeviceWrites),
}

/// Files that are written to find the limit of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceWrites {
    /// What each file is called.
    pub file_stem: String,
    /// Seed of the data.
    pub data_seed: u64,
    /// Most bytes of one file.
    pub file_bytes: u64,
    /// Most bytes of all files.
    pub most_bytes: u64,
}

/// Work to be done again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoiseRequest {
    /// For how long.
    pub time_ns: u64,
    /// What the files are called, before the work's name is added.
    pub file_stem: String,
    /// See [`SampleRequest::cpu_stats`].
    pub cpu_stats: Vec<String>,
}

/// Files to be made, to learn from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertiesRequest {
    /// Which of the worker's targets, from 0.
    pub target: usize,
    /// What the files are called, before their state is added.
    pub file_stem: String,
    /// The size of each.
    pub file_size_bytes: u64,
    /// Seed of the data.
    pub data_seed: u64,
    /// The device whose written sectors are counted, as in `/sys/dev/block`.
    pub device_number: Option<String>,
}

/// One sample, fully specified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleRequest {
    /// The case's name.
    pub case: String,
    /// Which of the worker's targets, from 0.
    pub target: usize,
    /// Whether syncing the target's filesystem leaves data in the page cache of another one below it, so that all are
    /// synced before the sample.
    pub sync_all: bool,
    /// The round it is taken in.
    pub round: u32,
    /// What the files are called, before a thread's number is added.
    pub file_stem: String,
    /// Whether files are removed first that a worker left which did not live to do it.
    pub remove_first: bool,
    /// What the sample leaves free of the target.
    pub reserve: Reserve,
    /// Seed of the data.
    pub data_seed: u64,
    /// How much of the content to read back; none to look at the size only.
    pub read_back: Option<Extent>,
    /// Longest wait for the target to be quiet.
    pub settle_limit_ns: u64,
    /// Whether memory is taken and given back first, so that it is warm.
    pub warm: bool,
    /// How long a loop that reads the clock for each record may go on; none for as long as it takes.
    pub write_limit_ns: Option<u64>,
    /// The device whose written sectors are counted, as in `/sys/dev/block`.
    pub device_number: Option<String>,
    /// The files that say how long a limit on CPU time held up the worker, of each control group around it.
    pub cpu_stats: Vec<String>,
}

/// What became of a request for limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredLimits {
    /// One of each kind that was asked for.
    pub limits: Vec<Limit>,
    /// To the target, for them.
    pub bytes_written: u64,
}

/// What a target has too little of, since others have filled it meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortage {
    /// Of what.
    pub of: Room,
    /// How much a case needs.
    pub needed: u64,
    /// How much there is.
    pub available: u64,
    /// How much of that stays free.
    pub reserve: u64,
}

/// What a filesystem has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Room {
    /// Data.
    Bytes,
    /// Files.
    Inodes,
}

/// How large a file is that shows which way direct I/O goes: large enough to be seen on its way.
pub const DIRECT_CHECK_FILE_BYTES: u64 = 4 << 20;
/// How often such a file is written at most: pages can be missed on a busy machine.
pub const DIRECT_CHECK_TRIES: u64 = 3;

/// Bytes that a worker writes at most to find out which way direct I/O goes into files in that state, once for each
/// target.
#[must_use]
pub fn direct_check_bytes(prepare: Prepare) -> u64 {
    let before = prepare.needs_old_content() || prepare == Prepare::ZeroFill;
    DIRECT_CHECK_FILE_BYTES * DIRECT_CHECK_TRIES * if before { 2 } else { 1 }
}

/// The same for all states of the file that direct cases among these have.
pub fn direct_check_bytes_of<'c>(cases: impl IntoIterator<Item = &'c Case>) -> u64 {
    let direct = cases.into_iter().filter(|case| case.axes().cache == Cache::Direct);
    let states: HashSet<Prepare> = direct.map(|case| case.axes().prepare).collect();
    states.into_iter().map(direct_check_bytes).sum()
}
