//! The protocol between runner and worker: one JSON document per line, requests on the worker's stdin,
//! responses on its stdout.
//!
//! Both also hold an anonymous file of one byte with the worker's current [`crate::Phase`]. It shows the
//! phase of a dead worker.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::phase::Phase;
use crate::reserve::Reserve;
use crate::run::ProgramCommands;
use crate::sample::{Extent, Sample};
use crate::target::Limit;
use crate::value::{Cache, Prepare};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerRequest {
    /// Answered by a [`Sample`], or an [`InsufficientSpace`] if other programs have filled the target.
    Sample(SampleRequest),
    /// Takes one rank's share of a sample, and waits for the other ranks. The [`RankSample`] may be an
    /// [`InsufficientSpace`] instead.
    RankSample(RankSampleRequest),
    /// Answered by [`MeasuredLimits`].
    Limits(LimitRequest),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitRequest {
    pub hardware: LimitedHardware,
    /// The worker's target, from 0.
    pub target: usize,
    /// Approximate.
    pub time_ns: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedHardware {
    Memory {
        threads: u32,
        /// Of all threads.
        bytes: u64,
    },
    /// Direct writes to the target.
    Device(DeviceWrites),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceWrites {
    pub file_stem: String,
    pub data_seed: u64,
    pub file_bytes: u64,
    /// Of all files.
    pub most_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleRequest {
    pub case: Case,
    pub program: Option<ProgramCommands>,
    /// The worker's target, from 0.
    pub target: usize,
    /// Syncs all filesystems first. Syncing the target's alone leaves data in the page cache of a
    /// filesystem below it.
    pub sync_all: bool,
    pub round: u32,
    /// A thread's number follows.
    pub file_stem: String,
    /// Removes a dead worker's files first.
    pub remove_first: bool,
    pub reserve: Reserve,
    pub data_seed: u64,
    /// The content to read back. None: only the size is checked.
    pub read_back: Option<Extent>,
    /// The longest wait for a quiet target.
    pub settle_limit_ns: u64,
    /// Warms memory first, and probes it before and after the sample.
    pub warm: bool,
    /// For loops that read the clock for each record.
    pub write_limit_ns: Option<u64>,
    /// The device whose written sectors are counted, as in `/sys/dev/block`.
    pub device_number: Option<String>,
    /// Counters of delays by CPU limits, of each control group around the worker.
    pub cpu_stats: Vec<String>,
}

impl SampleRequest {
    /// A sample on the first target without limits, a wait for a quiet target, or a check of the content.
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankSampleRequest {
    pub sample: SampleRequest,
    pub role: RankRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankRole {
    /// From 0.
    pub rank: u32,
    /// The rank whose data this one reads back, on another node if possible.
    pub verifies: u32,
    /// The ranks on the node, this one included.
    pub ranks_beside: u32,
}

impl RankRole {
    pub const ALONE: Self = Self {
        rank: 0,
        verifies: 0,
        ranks_beside: 1,
    };
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankSample {
    /// With this rank's own times.
    pub sample: Sample,
    pub timestamps: PhaseTimestamps,
    /// Whether the share ended because another rank failed.
    pub is_abandoned: bool,
}

/// The first beginning and the last end of each timed phase, in nanoseconds of the node's
/// `CLOCK_MONOTONIC`. Zeros: the case lacks the phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseTimestamps(pub [[u64; 2]; 5]);

impl PhaseTimestamps {
    /// In order.
    pub const PHASES: [Phase; 5] = [
        Phase::Open,
        Phase::Prepare,
        Phase::Write,
        Phase::Sync,
        Phase::Close,
    ];

    /// Widens a timed phase. Other phases have no timestamps.
    pub fn add(&mut self, phase: Phase, began_ns: u64, ended_ns: u64) {
        let Some(index) = Self::PHASES.iter().position(|&timed| timed == phase) else {
            return;
        };
        let [began, ended] = &mut self.0[index];
        if *ended == 0 {
            *began = began_ns;
        }
        *ended = ended_ns;
    }

    /// Converts to another clock.
    pub fn moved(self, time: impl Fn(u64) -> u64) -> Self {
        let moved = |[began, ended]: [u64; 2]| {
            if ended > 0 {
                [time(began), time(ended)]
            } else {
                [0, 0]
            }
        };
        Self(self.0.map(moved))
    }

    pub fn get(&self, phase: Phase) -> Option<[u64; 2]> {
        let index = Self::PHASES.iter().position(|&timed| timed == phase)?;
        Some(self.0[index]).filter(|[_, ended]| *ended > 0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredLimits {
    /// One of each requested kind.
    pub limits: Vec<Limit>,
    /// For the measurement, to the target.
    pub bytes_written: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsufficientSpace {
    pub resource: Resource,
    pub needed: u64,
    pub available: u64,
    pub reserve: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    Bytes,
    Inodes,
}

/// Large enough to observe the path of direct I/O during the write.
pub const DIRECT_CHECK_FILE_BYTES: u64 = 4 << 20;
/// The observer can miss pages on a busy machine.
pub const DIRECT_CHECK_TRIES: u64 = 3;

/// The most bytes for finding the path of direct I/O, once per state of the file and target.
pub fn direct_check_bytes(prepare: Prepare) -> u64 {
    let before = prepare.needs_old_content() || prepare == Prepare::ZeroFill;
    DIRECT_CHECK_FILE_BYTES * DIRECT_CHECK_TRIES * if before { 2 } else { 1 }
}

pub fn total_direct_check_bytes<'c>(cases: impl IntoIterator<Item = &'c Case>) -> u64 {
    let direct = cases
        .into_iter()
        .filter(|case| case.axes().cache == Cache::Direct);
    let states: HashSet<Prepare> = direct.map(|case| case.axes().prepare).collect();
    states.into_iter().map(direct_check_bytes).sum()
}
