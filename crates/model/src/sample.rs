//! One timed execution of a case, and its outcome.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::bounded::{MOST_INTERVALS, at_most};
use crate::phase::Phase;
use crate::ranks::RankTimes;
use crate::value::named_values;

/// Nanoseconds on a monotonic clock in each timed phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhasesNs {
    pub prepare: u64,
    pub open: u64,
    pub write: u64,
    pub sync: u64,
    pub close: u64,
}

impl PhasesNs {
    /// The total: the sum of the timed phases.
    pub fn total(&self) -> u64 {
        self.checked_total().unwrap_or(u64::MAX)
    }

    /// The time of a timed phase.
    pub fn get_mut(&mut self, phase: Phase) -> Option<&mut u64> {
        Some(match phase {
            Phase::Open => &mut self.open,
            Phase::Prepare => &mut self.prepare,
            Phase::Write => &mut self.write,
            Phase::Sync => &mut self.sync,
            Phase::Close => &mut self.close,
            Phase::Settle | Phase::Verify | Phase::Clean => return None,
        })
    }

    fn checked_total(&self) -> Option<u64> {
        let phases = [self.open, self.write, self.sync, self.close];
        phases.into_iter().try_fold(self.prepare, u64::checked_add)
    }
}

/// A document from elsewhere may have phases whose sum overflows.
fn with_total<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PhasesNs, D::Error> {
    let phases = PhasesNs::deserialize(deserializer)?;
    let total = phases.checked_total().map(|_| phases);
    total.ok_or_else(|| D::Error::custom("phases_ns add up to more than a number holds"))
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub phase: Phase,
    /// The call, or another cause.
    pub call: String,
    /// The file, in the run's directory; `copied` is the source of a copy, also the user's.
    pub path: Option<String>,
    /// The offset in the file, in bytes.
    pub offset: Option<u64>,
    /// The error number, if the call gave one.
    pub errno: Option<i32>,
    pub message: String,
}

impl Failure {
    /// The cause that `O_DIRECT` was accepted, and data goes through the page cache.
    pub const DIRECT_IN_PAGE_CACHE: &'static str = "cache=direct";

    /// The meaning of an error number, without Rust's suffix.
    pub fn errno_message(errno: i32) -> String {
        let text = std::io::Error::from_raw_os_error(errno).to_string();
        text.strip_suffix(&format!(" (os error {errno})")).map_or(text.clone(), str::to_owned)
    }

    /// The system's message with its number.
    pub fn io_message(error: &std::io::Error) -> String {
        match error.raw_os_error() {
            Some(errno) => format!("{} ({errno})", Self::errno_message(errno)),
            None => error.to_string(),
        }
    }
}

/// `fallocate: No space left on device (28)`, with the offset if there is one.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, self.message)?;
        if let Some(errno) = self.errno {
            write!(f, " ({errno})")?;
        }
        if let Some(offset) = self.offset.filter(|&offset| offset > 0) {
            write!(f, " at offset {offset}")?;
        }
        Ok(())
    }
}

/// The outcome of a sample. Only `ok` has figures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "cause", rename_all = "kebab-case")]
pub enum Outcome {
    /// All bytes are in the file.
    #[default]
    Ok,
    /// The target cannot do what the case's name says.
    Unsupported(Box<Failure>),
    /// A call failed, or the file is wrong.
    Failed(Box<Failure>),
    /// The deadline passed; the worker was killed.
    TimedOut {
        /// The last known phase.
        phase: Phase,
        limit_ns: u64,
    },
    /// The worker process died during the sample.
    WorkerDied {
        /// The last known phase.
        phase: Phase,
        signal: Option<i32>,
        /// The exit code otherwise, and the last line on stderr.
        detail: String,
    },
}

impl Outcome {
    /// The outcome's word in tables, the database and JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unsupported(_) => "unsupported",
            Self::Failed(_) => "failed",
            Self::TimedOut { .. } => "timed-out",
            Self::WorkerDied { .. } => "worker-died",
        }
    }

    /// Whether there are figures.
    pub fn is_ok(&self) -> bool {
        *self == Self::Ok
    }

    /// Whether this is a fault, not a property of the target.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::Ok | Self::Unsupported(_))
    }

    /// Whether `O_DIRECT` was accepted, and data goes through the page cache.
    pub fn is_direct_in_page_cache(&self) -> bool {
        matches!(self, Self::Unsupported(failure) if failure.call == Failure::DIRECT_IN_PAGE_CACHE)
    }

    /// Whether the worker was lost.
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::WorkerDied { .. })
    }

    /// Whether the worker died, and the case need not be the reason. SIGBUS is how a mapping learns of a failed read or
    /// write, so it is a failure of the case.
    pub fn is_accident(&self) -> bool {
        matches!(self, Self::WorkerDied { signal, .. } if *signal != Some(SIGBUS))
    }

    /// The cause in a few words; none for `ok`.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Ok => None,
            Self::Unsupported(failure) | Self::Failed(failure) => Some(failure.to_string()),
            Self::TimedOut { phase, limit_ns } => {
                let limit = std::time::Duration::from_nanos(*limit_ns);
                Some(format!("no end after {limit:?}, last seen in phase {phase}; killed"))
            }
            Self::WorkerDied { phase, signal, detail } => Some(match signal {
                Some(signal) => format!("{} in phase {phase}{detail}", signal_meaning(*signal)),
                None => format!("worker ended in phase {phase}{detail}"),
            }),
        }
    }
}

/// The number on every architecture that Rust knows except MIPS.
const SIGBUS: i32 = 7;

fn signal_meaning(signal: i32) -> String {
    // These numbers of signal(7) are the same on every Linux architecture that Rust knows, except SIGBUS,
    // which is 10 on MIPS.
    match signal {
        4 => "SIGILL (4)".to_owned(),
        6 => "SIGABRT (6)".to_owned(),
        SIGBUS => "SIGBUS (7): the file lost the pages behind a mapping, or the disk is full,".to_owned(),
        9 => "SIGKILL (9): killed from outside, as the kernel does when memory runs out,".to_owned(),
        11 => "SIGSEGV (11)".to_owned(),
        25 => "SIGXFSZ (25): over the file size limit (ulimit -f)".to_owned(),
        other => format!("signal {other}"),
    }
}

/// One timed execution of a case. Runs have many samples, so rare parts are boxed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The round, from 0.
    pub round: u32,
    /// The place among all samples of the run, from 0, in the order in which they were taken. None in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    #[serde(flatten)]
    pub outcome: Outcome,
    #[serde(deserialize_with = "with_total")]
    pub phases_ns: PhasesNs,
    /// The bytes that were handed over: fewer than the case's size if the time was limited.
    pub bytes: u64,
    /// CPU time of the process in user mode over the timed phases, from getrusage(2).
    pub user_cpu_ns: u64,
    /// CPU time of the process in the kernel over the timed phases.
    pub system_cpu_ns: u64,
    /// Page faults, minor and major.
    pub page_faults: u64,
    /// Context switches, voluntary and involuntary.
    pub context_switches: u64,
    /// The bytes that the block device received meanwhile, from anyone; none without a device.
    pub device_bytes: Option<u64>,
    /// Whether most of a copy's blocks are shared with another file; none if unknown, or no copy.
    #[serde(default)]
    pub shares_blocks: Option<bool>,
    /// The content that was read back and compared; none if only the size was checked.
    pub read_back: Option<ReadBack>,
    /// The memory-copy probe before and after.
    pub probe_ns: [u64; 2],
    /// CPU time that the hypervisor gave to others meanwhile, over all CPUs.
    pub steal_ns: u64,
    /// The wait for a quiet target.
    pub settle_ns: u64,
    /// The reason if the sample was disturbed, by the rule of the runner.
    pub disturbed: Option<String>,
    /// A failed write-back of data that no call of a sample had synced, of this one or an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_back: Option<Box<Failure>>,
    /// The latencies, if data becomes durable on the way.
    pub latency: Option<Box<Latency>>,
    /// The machine's state right before, and delays during the sample.
    pub watch: Watch,
    /// Throughput over time, if phase write was long enough.
    pub timeline: Option<Box<Timeline>>,
    /// The time from the start of a process that does nothing to its end, right before a program of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_ns: Option<u64>,
    /// The times of each rank, if several have taken the sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Box<RankTimes>>,
}

/// A sample in documents: with derived values that readers would otherwise compute.
#[derive(Debug, Serialize)]
pub struct SampleDocument<'s> {
    #[serde(flatten)]
    sample: &'s Sample,
    reason: Option<String>,
    total_ns: u64,
}

impl<'s> From<&'s Sample> for SampleDocument<'s> {
    fn from(sample: &'s Sample) -> Self {
        Self { sample, reason: sample.reason(), total_ns: sample.phases_ns.total() }
    }
}

impl Sample {
    /// The samples that figures are based on: the good ones without the disturbed, or all good ones if every
    /// sample was disturbed.
    pub fn usable(samples: &[Self]) -> Vec<&Self> {
        let good: Vec<&Self> = samples.iter().filter(|sample| sample.outcome.is_ok()).collect();
        let calm: Vec<&Self> = good.iter().copied().filter(|sample| sample.disturbed.is_none()).collect();
        if calm.is_empty() { good } else { calm }
    }

    /// The cause of the outcome in a few words, with the rank if there are several; none for `ok`.
    pub fn reason(&self) -> Option<String> {
        let reason = self.outcome.reason()?;
        Some(match self.ranks.as_ref().and_then(|ranks| ranks.failed.as_ref()) {
            Some(rank) => format!("{rank}: {reason}"),
            None => reason,
        })
    }

    /// A sample without figures.
    pub fn without_figures(round: u32, outcome: Outcome) -> Self {
        Self { round, outcome, ..Self::default() }
    }
}

/// The state of the machine right before a sample, and delays during it. Unknown values are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Memory available without swapping, before: `MemAvailable` of proc_meminfo(5).
    pub available_memory_bytes: Option<u64>,
    /// Pages of all files that wait for write-back, before: `Dirty`.
    pub dirty_bytes: Option<u64>,
    /// Pages under write-back, before: `Writeback`.
    pub writeback_bytes: Option<u64>,
    /// How long a CPU limit of the process's control group, or of one around it, delayed it meanwhile:
    /// `cpu.stat` of the group with the longest delay, of either version.
    pub throttled_ns: Option<u64>,
    /// How often a CPU was slowed down because of heat meanwhile: sysfs's
    /// `thermal_throttle/core_throttle_count`.
    pub thermal_throttles: Option<u64>,
    /// Free memory that the kernel gave back to the hypervisor since it was warmed for the sample. None also for a
    /// sample that takes no memory for its file, and where the kernel does not count it.
    pub given_back_bytes: Option<u64>,
}

/// The bytes handed over in each interval of a long phase `write`, which show a fast beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// The length of each interval; the last ends with the phase.
    pub interval_ns: u64,
    /// The bytes that all threads handed over in each interval, in order.
    #[serde(deserialize_with = "intervals")]
    pub bytes: Vec<u64>,
}

fn intervals<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    at_most(from, MOST_INTERVALS, "intervals in a timeline")
}

/// Figures of a distribution of durations, and the whole distribution in a form for other programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    pub count: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p99_9_ns: u64,
    pub max_ns: u64,
    /// An HDR histogram of nanoseconds with three significant digits, in the format "V2 deflate" of
    /// <https://github.com/HdrHistogram>, as base64.
    pub histogram: String,
}

named_values! {
    /// The extent of the data that is read back.
    Extent {
        /// Every byte.
        Whole = "whole",
        /// Blocks chosen at random from every region of the file, the first and the last block included.
        Part = "part",
    }

    /// The source of the data that was read back, which decides how much the comparison proves.
    ReadFrom {
        /// Memory: the comparison covers the calls, but not the device.
        PageCache = "page-cache",
        /// The device: no byte was in the page cache right before.
        Device = "device",
    }
}

/// A comparison that found no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    /// Whether all data was compared or a part.
    pub extent: Extent,
    /// The number of bytes compared.
    pub bytes: u64,
    /// Their source. None if unknown: in older runs, in a file that cannot be mapped, and in a comparison of
    /// no bytes.
    pub from: Option<ReadFrom>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_the_call_the_meaning_and_the_number() {
        let failure = Failure {
            phase: Phase::Prepare,
            call: "fallocate".to_owned(),
            path: None,
            offset: None,
            errno: Some(28),
            message: Failure::errno_message(28),
        };
        assert_eq!(failure.to_string(), "fallocate: No space left on device (28)");
    }

    #[test]
    fn a_million_samples_fit_into_three_eighths_of_a_gibibyte() {
        const MOST_BYTES: usize = (3 << 27) / 1_000_000;
        assert!(size_of::<Sample>() <= MOST_BYTES, "{} bytes", size_of::<Sample>());
    }

    #[test]
    fn phases_survive_encoding_as_a_byte() {
        for &phase in Phase::ALL {
            assert_eq!(Phase::from_index(phase as u8), Some(phase));
        }
        assert_eq!(Phase::from_index(200), None);
    }
}
