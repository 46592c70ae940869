//! The protocol between the supervisor and its agents: one JSON document per line, requests on the agent's stdin, and
//! answers on its stdout. Each answer is what its request names, or an error.
//!
//! Both also hold an anonymous file of one byte with the agent's current [`crate::Phase`], which shows the phase of a
//! dead one.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::phase::Phase;
use crate::reserve::Reserve;
use crate::run::ProgramCommands;
use crate::sample::{Extent, Sample};
use crate::target::Limit;
use crate::value::{Cache, Holes, Prepare};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentRequest {
    /// A call on a target outside of samples.
    Target(TargetRequest),
    /// Takes a sample. If its case has several ranks, this is one rank's share, which waits for the others. The answer
    /// is a [`RankSample`], or an [`InsufficientSpace`] if other programs have filled the target.
    Sample(SampleRequest),
    /// Measures the bandwidth of memory or of a device. The answer is [`MeasuredLimits`].
    Limits(LimitRequest),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetRequest {
    /// Inspects a target, and holds a directory open. The answer has the facts.
    Inspect(OsString),
    /// Lists the directories in the inspected target with names of writebench. The answer has their paths.
    ListLeftovers,
    /// Makes and locks the run's directory with this id. The answer is its device and inode.
    Make(String),
    /// Removes the run's directory. The answer is what became of it.
    Remove,
    /// Removes the directory of a dead run. The answer is what became of it.
    RemoveLeftover(OsString),
    /// The answer is a [`CopySource`].
    InspectSource(OsString),
    /// The answer is a [`CopyDestination`].
    InspectCopyDestination(OsString),
    /// Makes the remaining copy, with the source's holes or without. The answer is empty.
    Copy(CopySource, CopyDestination, Holes),
    /// Empties an open file after an interrupted copy. The answer is empty.
    Empty(CopyDestination),
}

/// The source of copies. Each agent opens it separately, and the supervisor never does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopySource {
    /// The name to open, which may be a descriptor in `/proc/self/fd`.
    #[serde(with = "path_bytes")]
    pub name: PathBuf,
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    /// Device and inode.
    pub identity: [u64; 2],
    pub size_bytes: u64,
    pub is_regular: bool,
    /// Whether it ends at its size. Files of `/proc` have content and the size 0, those of `/sys` less than their size.
    pub ends_at_size: bool,
    /// Outside its holes.
    pub data_bytes: u64,
}

/// The file that receives the remaining copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyDestination {
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    /// Device and inode of the directory. None for an open file.
    pub directory: Option<[u64; 2]>,
    pub existing: Existing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Existing {
    Nothing,
    /// A file to replace, whose owner and mode are kept.
    File {
        identity: [u64; 2],
        size_bytes: u64,
        /// Whether this user may write to it.
        is_writable: bool,
    },
    /// An open file to fill.
    Descriptor {
        /// The path in `/proc/self/fd`.
        #[serde(with = "path_bytes")]
        name: PathBuf,
        identity: [u64; 2],
        size_bytes: u64,
    },
    Link {
        #[serde(with = "path_bytes")]
        to: PathBuf,
    },
    Other,
}

impl CopyDestination {
    /// Device and inode of an existing file.
    pub fn identity(&self) -> Option<[u64; 2]> {
        match self.existing {
            Existing::File { identity, .. } | Existing::Descriptor { identity, .. } => {
                Some(identity)
            }
            Existing::Nothing | Existing::Link { .. } | Existing::Other => None,
        }
    }
}

/// A path in a field need not be UTF-8.
pub mod path_bytes {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(deserializer).map(PathBuf::from)
    }
}

/// A request to measure a bandwidth beyond the reach of all methods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitRequest {
    pub hardware: LimitedHardware,
    /// The number of the agent's target, from 0.
    pub target: usize,
    /// The approximate time of the measurement.
    pub time_ns: u64,
}

/// The hardware whose bandwidth is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedHardware {
    /// Threads copy data within memory.
    Memory {
        threads: u32,
        /// The bytes that all threads together copy.
        bytes: u64,
    },
    /// Direct writes go to the target.
    Device(DeviceWrites),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceWrites {
    pub file_stem: String,
    pub data_seed: u64,
    /// The length of each file.
    pub file_bytes: u64,
    /// The most bytes to write into all files together.
    pub most_bytes: u64,
}

/// A request for one sample of a case, or for one rank's share of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleRequest {
    pub case: Case,
    pub program: Option<ProgramCommands>,
    /// The number of the agent's target, from 0.
    pub target: usize,
    /// The agent's place among those of all ranks.
    pub role: RankRole,
    /// Whether all filesystems are synced first. A sync of the target's alone leaves data in the page cache of a
    /// filesystem below it.
    pub sync_all: bool,
    pub round: u32,
    /// The beginning of the files' names, which a thread's number follows.
    pub file_stem: String,
    /// Whether a dead agent's files are removed first.
    pub remove_first: bool,
    /// The space that the sample leaves free on the target.
    pub reserve: Reserve,
    pub data_seed: u64,
    /// How much content is read back and compared. With `None` only the size is checked.
    pub read_back: Option<Extent>,
    /// The longest wait for a quiet target.
    pub settle_limit_ns: u64,
    /// Whether memory is warmed first, and probed before and after the sample.
    pub warm: bool,
    /// The time after which a loop ends that reads the clock for each record.
    pub write_limit_ns: Option<u64>,
    /// The device whose written sectors are counted, with its number in `/sys/dev/block`.
    pub device_number: Option<String>,
    /// The paths of the files that count delays by CPU limits, one for each control group around the agent.
    pub cpu_stats: Vec<String>,
}

impl SampleRequest {
    /// A sample on the first target without limits, a wait for a quiet target, or a check of the content.
    pub fn bare(case: Case, file_stem: &str, data_seed: u64) -> Self {
        Self {
            case,
            program: None,
            target: 0,
            role: RankRole::ALONE,
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

/// The place of an agent among those of the other ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankRole {
    /// The rank's number, from 0.
    pub rank: u32,
    /// The rank whose data this one reads back, on another node if possible.
    pub verifies: u32,
    /// The ranks on the node, this one included.
    pub ranks_beside: u32,
}

impl RankRole {
    /// The role of the only rank.
    pub const ALONE: Self = Self {
        rank: 0,
        verifies: 0,
        ranks_beside: 1,
    };
}

/// One rank's share of a sample. The share of the only rank is the sample.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankSample {
    /// The sample with this rank's own times.
    pub sample: Sample,
    pub timestamps: PhaseTimestamps,
    /// Whether the share ended because another rank failed.
    pub is_abandoned: bool,
    /// The bytes of old content that the sample found, and did not have to write.
    pub found_bytes: u64,
}

/// The first beginning and the last end of each timed phase, in nanoseconds of the node's
/// `CLOCK_MONOTONIC`. Both are 0 if the case lacks the phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseTimestamps(pub [[u64; 2]; 5]);

impl PhaseTimestamps {
    /// The timed phases in their order.
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

    /// The same moments on another clock, to which `convert` converts a time of this one.
    pub fn on_clock(self, convert: impl Fn(u64) -> u64) -> Self {
        Self(self.0.map(|[began, ended]| {
            if ended > 0 {
                [convert(began), convert(ended)]
            } else {
                [0, 0]
            }
        }))
    }

    /// The beginning and the end of a phase. None if the case lacks the phase.
    pub fn get(&self, phase: Phase) -> Option<[u64; 2]> {
        let index = Self::PHASES.iter().position(|&timed| timed == phase)?;
        Some(self.0[index]).filter(|[_, ended]| *ended > 0)
    }
}

/// The answer to a [`LimitRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredLimits {
    /// A limit of each requested kind.
    pub limits: Vec<Limit>,
    /// The bytes that the measurement wrote to the target.
    pub bytes_written: u64,
}

/// The refusal of a sample that would leave less free space than the reserve.
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

/// The size of the file that shows the path of direct I/O. It is large enough to observe pages during the write.
pub const DIRECT_CHECK_FILE_BYTES: u64 = 4 << 20;
/// The number of observed writes, because the observer can miss pages on a busy machine.
pub const DIRECT_CHECK_TRIES: u64 = 3;

/// The most bytes for finding the path of direct I/O, once per state of the file and target.
pub fn direct_check_bytes(prepare: Prepare) -> u64 {
    let is_written_twice = prepare.needs_old_content() || prepare == Prepare::ZeroFill;
    let times = if is_written_twice { 2 } else { 1 };
    DIRECT_CHECK_FILE_BYTES * DIRECT_CHECK_TRIES * times
}

/// The most bytes for finding the path of direct I/O for all of these cases of a target.
pub fn total_direct_check_bytes<'c>(cases: impl IntoIterator<Item = &'c Case>) -> u64 {
    let direct = cases
        .into_iter()
        .filter(|case| case.choices().cache == Cache::Direct);
    let states: HashSet<Prepare> = direct.map(|case| case.choices().prepare).collect();
    states.into_iter().map(direct_check_bytes).sum()
}
