//! The protocol between runner and worker: one JSON document per line, requests on the worker's stdin,
//! responses on its stdout.
//!
//! Beside the pipes both hold an anonymous file of one byte, in which the worker keeps its current
//! [`crate::Phase`], so that the runner knows the phase of a dead worker.

use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::phase::Phase;
use crate::reserve::Reserve;
use crate::sample::{Extent, Sample};
use crate::target::Limit;
use crate::value::{Cache, Prepare};

/// A request from one process to another, and the type of its response.
pub trait Request {
    /// The union of all requests that the other process accepts.
    type Message: Serialize;
    /// The response; an error may come instead.
    type Response: Serialize + DeserializeOwned;

    /// The request in the form that the pipe carries.
    fn into_message(self) -> Self::Message;
}

/// Declares the requests that a process accepts, each with the type of its response; and the type of the
/// request itself if its fields are given.
#[macro_export]
macro_rules! requests {
    ($(#[$about:meta])* $visibility:vis enum $Message:ident {
        $($(#[$about_one:meta])* $Request:ident $(($($field:ty),*))? -> $Response:ty,)*
    }) => {
        $(#[$about])*
        $visibility enum $Message {
            $($(#[$about_one])* $Request($Request),)*
        }

        $($(
            #[derive(serde::Serialize, serde::Deserialize)]
            $visibility struct $Request($($visibility $field),*);
        )?)*

        $(impl $crate::protocol::Request for $Request {
            type Message = $Message;
            type Response = $Response;

            fn into_message(self) -> $Message {
                $Message::$Request(self)
            }
        })*
    };
}

requests! {
    /// A request to a worker.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub enum WorkerRequest {
        /// Takes a sample. Other programs may have filled the target meanwhile.
        SampleRequest -> Result<Sample, InsufficientSpace>,
        /// Takes one rank's share of a sample, and waits for the other ranks on the way.
        RankSampleRequest -> Result<RankSample, InsufficientSpace>,
        /// Measures limits of memory or of a device.
        LimitRequest -> MeasuredLimits,
    }
}

/// A limit of the hardware to be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitRequest {
    pub hardware: LimitedHardware,
    /// The number of the worker's target, from 0.
    pub target: usize,
    /// The approximate time allowed.
    pub time_ns: u64,
}

/// The hardware whose limit is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedHardware {
    /// Memory, by copies.
    Memory {
        /// The number of threads that copy at the same time.
        threads: u32,
        /// The total bytes of all threads.
        bytes: u64,
    },
    /// A device, by direct writes to the target.
    Device(DeviceWrites),
}

/// Files that are written to find the limit of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceWrites {
    /// The name of each file.
    pub file_stem: String,
    pub data_seed: u64,
    /// The most bytes of one file.
    pub file_bytes: u64,
    /// The most bytes of all files.
    pub most_bytes: u64,
}

/// One sample, fully specified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleRequest {
    pub case: Case,
    /// The words of the user's program, with placeholders, if the case is a program.
    pub program: Option<Vec<String>>,
    /// The number of the worker's target, from 0.
    pub target: usize,
    /// Whether all filesystems are synced before the sample, because syncing the target's filesystem leaves
    /// data in the page cache of another one below it.
    pub sync_all: bool,
    pub round: u32,
    /// The beginning of the files' names; a thread's number follows.
    pub file_stem: String,
    /// Whether files of a dead worker are removed first.
    pub remove_first: bool,
    /// The space that stays free on the target.
    pub reserve: Reserve,
    pub data_seed: u64,
    /// The extent of the content to read back; none to check only the size.
    pub read_back: Option<Extent>,
    /// The longest wait for a quiet target.
    pub settle_limit_ns: u64,
    /// Whether memory is taken and released first, so that it is warm.
    pub warm: bool,
    /// The time limit of a loop that reads the clock for each record; none for no limit.
    pub write_limit_ns: Option<u64>,
    /// The device whose written sectors are counted, as in `/sys/dev/block`.
    pub device_number: Option<String>,
    /// The files that count how long CPU limits delayed the worker, of each control group around it.
    pub cpu_stats: Vec<String>,
}

impl SampleRequest {
    /// A sample on the first target with nothing around it: no wait for a quiet target, no check of the content, no
    /// limit.
    pub fn bare(case: Case, file_stem: &str, data_seed: u64) -> Self {
        Self {
            case,
            program: None,
            target: 0,
            sync_all: false,
            round: 0,
            file_stem: file_stem.to_owned(),
            remove_first: false,
            reserve: Reserve::NONE,
            data_seed,
            read_back: None,
            settle_limit_ns: 0,
            warm: false,
            write_limit_ns: None,
            device_number: None,
            cpu_stats: Vec::new(),
        }
    }
}

/// A request for one rank's share of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankSampleRequest {
    pub sample: SampleRequest,
    pub role: RankRole,
}

/// One of the ranks that take a sample together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankRole {
    /// The number, from 0.
    pub rank: u32,
    /// The rank whose data this one reads back: on another node, if there are several.
    pub verifies: u32,
    /// The number of ranks on the node, this one included.
    pub ranks_beside: u32,
}

impl RankRole {
    /// The only rank.
    pub const ALONE: Self = Self { rank: 0, verifies: 0, ranks_beside: 1 };
}

/// One rank's share of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankSample {
    /// The share, with this rank's own times.
    pub sample: Sample,
    /// The times of the phases' borders.
    pub timestamps: PhaseTimestamps,
    /// Whether the share ended because another rank has failed.
    pub is_abandoned: bool,
}

/// The first beginning and the last end of each timed phase, in nanoseconds of the node's `CLOCK_MONOTONIC`; zeros for a
/// phase that a case does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseTimestamps(pub [[u64; 2]; 5]);

impl PhaseTimestamps {
    /// The timed phases, in order.
    pub const PHASES: [Phase; 5] = [Phase::Open, Phase::Prepare, Phase::Write, Phase::Sync, Phase::Close];

    /// Adds a time in a timed phase; other phases have no marks.
    pub fn add(&mut self, phase: Phase, began_ns: u64, ended_ns: u64) {
        let Some(index) = Self::PHASES.iter().position(|&timed| timed == phase) else { return };
        let [began, ended] = &mut self.0[index];
        if *ended == 0 {
            *began = began_ns;
        }
        *ended = ended_ns;
    }

    /// The same times of another clock.
    #[must_use]
    pub fn moved(self, time: impl Fn(u64) -> u64) -> Self {
        let moved = |[began, ended]: [u64; 2]| if ended > 0 { [time(began), time(ended)] } else { [0, 0] };
        Self(self.0.map(moved))
    }

    /// The beginning and the end of a phase.
    pub fn get(&self, phase: Phase) -> Option<[u64; 2]> {
        let index = Self::PHASES.iter().position(|&timed| timed == phase)?;
        Some(self.0[index]).filter(|[_, ended]| *ended > 0)
    }
}

/// The response to a request for limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredLimits {
    /// One limit of each requested kind.
    pub limits: Vec<Limit>,
    /// The bytes written to the target for them.
    pub bytes_written: u64,
}

/// The shortage on a target that other programs have filled meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsufficientSpace {
    /// The scarce resource.
    pub resource: Resource,
    /// The amount that a case needs.
    pub needed: u64,
    pub available: u64,
    /// The part that must stay free.
    pub reserve: u64,
}

/// A resource of a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    Bytes,
    Inodes,
}

/// The size of a file that shows the path of direct I/O: large enough to be observed during the write.
pub const DIRECT_CHECK_FILE_BYTES: u64 = 4 << 20;
/// The most writes of such a file: the observer can miss pages on a busy machine.
pub const DIRECT_CHECK_TRIES: u64 = 3;

/// The most bytes that a worker writes to find the path of direct I/O into files in that state, once per
/// target.
pub fn direct_check_bytes(prepare: Prepare) -> u64 {
    let before = prepare.needs_old_content() || prepare == Prepare::ZeroFill;
    DIRECT_CHECK_FILE_BYTES * DIRECT_CHECK_TRIES * if before { 2 } else { 1 }
}

/// The total of [`direct_check_bytes`] for all states that the direct cases have.
pub fn total_direct_check_bytes<'c>(cases: impl IntoIterator<Item = &'c Case>) -> u64 {
    let direct = cases.into_iter().filter(|case| case.axes().cache == Cache::Direct);
    let states: HashSet<Prepare> = direct.map(|case| case.axes().prepare).collect();
    states.into_iter().map(direct_check_bytes).sum()
}
