use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::bounded::{MOST_INTERVALS, at_most};
use crate::kernel_threads::KernelThreads;
use crate::objective::Objective;
use crate::phase::Phase;
use crate::ranks::RankTimes;
use crate::value::named_values;
use crate::workload::{Content, Workload};

/// The durations of the timed phases, measured by a monotonic clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhasesNs {
    pub prepare: u64,
    pub open: u64,
    pub write: u64,
    pub sync: u64,
    pub close: u64,
}

impl PhasesNs {
    /// The sum of all timed phases, at most `u64::MAX`.
    pub fn total(&self) -> u64 {
        self.checked_total().unwrap_or(u64::MAX)
    }

    /// The time of a phase. None if the phase is not timed.
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

/// Refuses phases whose sum overflows, as in a document from elsewhere.
fn phases_with_total<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PhasesNs, D::Error> {
    let phases = PhasesNs::deserialize(deserializer)?;
    match phases.checked_total() {
        Some(_) => Ok(phases),
        None => Err(D::Error::custom(
            "phases_ns add up to more than a number holds",
        )),
    }
}

/// Why a sample has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub phase: Phase,
    /// The name of the failed call, or of another cause.
    pub call: String,
    /// The file's path in the run's directory, or the path of the user's source. The word `copied` stands for any
    /// source.
    pub path: Option<String>,
    pub offset: Option<u64>,
    pub errno: Option<i32>,
    pub message: String,
}

impl Failure {
    /// The cause if `O_DIRECT` was accepted, but data passed through the page cache.
    pub const DIRECT_IN_PAGE_CACHE: &'static str = "cache=direct";
    /// The cause if a sample would leave less free space than the reserve.
    pub const FREE_SPACE: &'static str = "free space";

    /// The meaning of an error number, without the suffix that Rust adds.
    pub fn errno_message(errno: i32) -> String {
        let text = std::io::Error::from_raw_os_error(errno).to_string();
        text.strip_suffix(&format!(" (os error {errno})"))
            .map_or(text.clone(), str::to_owned)
    }

    /// The message for people, with the remedy if a limit of the process is too low.
    pub fn io_message(error: &std::io::Error) -> String {
        const EMFILE: i32 = 24;
        match error.raw_os_error() {
            Some(EMFILE) => format!(
                "{} ({EMFILE}). Raise `ulimit -n`",
                Self::errno_message(EMFILE)
            ),
            Some(errno) => format!("{} ({errno})", Self::errno_message(errno)),
            None => error.to_string(),
        }
    }
}

/// The text is `fallocate: No space left on device (28)`, with the offset if there is one.
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

/// How a sample ended. Only `ok` has results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "cause", rename_all = "kebab-case")]
pub enum Outcome {
    /// All bytes are in the file.
    #[default]
    Ok,
    /// The target does not support the case.
    Unsupported(Box<Failure>),
    /// A call failed, or the file is wrong.
    Failed(Box<Failure>),
    /// The worker was killed at the deadline.
    TimedOut {
        /// The last known phase.
        phase: Phase,
        #[serde(rename = "timeout_ns", alias = "limit_ns")]
        limit_ns: u64,
    },
    WorkerDied {
        /// The last known phase.
        phase: Phase,
        signal: Option<i32>,
        /// An exit code, and the last line on stderr.
        detail: String,
    },
}

impl Outcome {
    /// The word for the outcome in tables, the database and JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unsupported(_) => "unsupported",
            Self::Failed(_) => "failed",
            Self::TimedOut { .. } => "timed-out",
            Self::WorkerDied { .. } => "worker-died",
        }
    }

    pub fn is_ok(&self) -> bool {
        *self == Self::Ok
    }

    /// Whether this is a fault, not a property of the target.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::Ok | Self::Unsupported(_))
    }

    pub fn is_direct_in_page_cache(&self) -> bool {
        matches!(self, Self::Unsupported(failure) if failure.call == Failure::DIRECT_IN_PAGE_CACHE)
    }

    /// Whether the worker is lost: it was killed at the deadline, or it died.
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::WorkerDied { .. })
    }

    /// Whether the case need not be the reason for the worker's death. SIGBUS is a mapping's report of a
    /// failed read or write, so it is a failure of the case.
    pub fn is_accident(&self) -> bool {
        matches!(self, Self::WorkerDied { signal, .. } if *signal != Some(SIGBUS))
    }

    /// The cause in a few words. None if the sample succeeded.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Ok => None,
            Self::Unsupported(failure) | Self::Failed(failure) => Some(failure.to_string()),
            Self::TimedOut { phase, limit_ns } => {
                let limit = std::time::Duration::from_nanos(*limit_ns);
                Some(format!("killed after {limit:?} in phase {phase}"))
            }
            Self::WorkerDied {
                phase,
                signal,
                detail,
            } => Some(match signal {
                Some(signal) => format!("{} in phase {phase}{detail}", signal_meaning(*signal)),
                None => format!("worker ended in phase {phase}{detail}"),
            }),
        }
    }
}

/// The signal of a failed access to a mapping. Its number is 10 on MIPS, and 7 on all other architectures of Rust.
const SIGBUS: i32 = 7;

fn signal_meaning(signal: i32) -> String {
    // The other numbers of signal(7) are the same on every architecture of Rust.
    match signal {
        4 => "SIGILL (4)".to_owned(),
        6 => "SIGABRT (6)".to_owned(),
        SIGBUS => {
            "SIGBUS (7): the file lost the pages behind a mapping, or the disk is full,".to_owned()
        }
        9 => "SIGKILL (9): killed by another process, or by the kernel for lack of memory,"
            .to_owned(),
        11 => "SIGSEGV (11)".to_owned(),
        25 => "SIGXFSZ (25): over the file size limit (ulimit -f)".to_owned(),
        other => format!("signal {other}"),
    }
}

/// One timed execution of a case. Rare parts are boxed, because runs have many samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The number of the round, from 0.
    pub round: u32,
    /// The sample's position among all samples of the run, from 0. None in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    #[serde(flatten)]
    pub outcome: Outcome,
    #[serde(deserialize_with = "phases_with_total")]
    pub phases_ns: PhasesNs,
    /// The bytes handed over, which are fewer than the case's size if the time was limited.
    pub bytes: u64,
    /// The process's CPU time in user mode during the timed phases, from getrusage(2).
    pub user_cpu_ns: u64,
    /// The process's CPU time in the kernel, like `user_cpu_ns`.
    pub system_cpu_ns: u64,
    /// The number of minor and major page faults.
    pub page_faults: u64,
    /// The number of voluntary and involuntary context switches.
    pub context_switches: u64,
    /// The bytes that all programs together wrote to the block device during the sample.
    pub device_bytes: Option<u64>,
    /// Whether a copy, or a program's file, shares most of its data with another file.
    #[serde(default)]
    pub shares_blocks: Option<bool>,
    /// The bytes that a program, the kernel's own copy or a copy that keeps holes left out. None for the other methods,
    /// and for files without holes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hole_bytes: Option<u64>,
    /// What the kernel's own threads did for io_uring. None for other methods, and where that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_threads: Option<Box<KernelThreads>>,
    /// The comparison of the content. None if only the size was checked.
    pub read_back: Option<ReadBack>,
    /// The time of the memory-copy probe before the sample. Until 0.3.0 there was another after it, which is 0 now.
    pub probe_ns: [u64; 2],
    /// CPU time that the hypervisor gave to other guests during the sample, over all CPUs.
    pub steal_ns: u64,
    /// The wait for a quiet target.
    pub settle_ns: u64,
    /// The reason if the sample was disturbed.
    #[serde(rename = "disturbed_by", alias = "disturbed")]
    pub disturbed: Option<String>,
    /// A failed write-back of data that no call had synced, of this sample or an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_back_failure: Option<Box<Failure>>,
    /// The latency of records. None for data that becomes durable only at the end.
    pub latency: Option<Box<Latency>>,
    #[serde(alias = "watch")]
    pub system_state: SystemState,
    /// The throughput over time in a long phase `write`.
    pub timeline: Option<Box<Timeline>>,
    /// The lifetime of a process without work, right before a program of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Box<RankTimes>>,
}

/// A sample in documents, with derived values.
#[derive(Debug, Serialize)]
pub struct SampleDocument<'s> {
    #[serde(flatten)]
    sample: &'s Sample,
    reason: Option<String>,
    total_ns: u64,
}

impl<'s> From<&'s Sample> for SampleDocument<'s> {
    fn from(sample: &'s Sample) -> Self {
        Self {
            sample,
            reason: sample.reason(),
            total_ns: sample.phases_ns.total(),
        }
    }
}

impl Sample {
    /// The samples on which results are based: the good ones that nothing disturbed, or all good ones if each was
    /// disturbed.
    pub fn usable(samples: &[Self]) -> Vec<&Self> {
        let good = Self::good(samples);
        let undisturbed: Vec<&Self> = good
            .iter()
            .copied()
            .filter(|sample| sample.disturbed.is_none())
            .collect();
        if undisturbed.is_empty() {
            good
        } else {
            undisturbed
        }
    }

    /// The samples that succeeded.
    pub fn good(samples: &[Self]) -> Vec<&Self> {
        samples
            .iter()
            .filter(|sample| sample.outcome.is_ok())
            .collect()
    }

    /// What a search for this objective minimizes, for the bytes of the sample: a time in nanoseconds, or the bytes that
    /// reached the device. With `p99` each record counts as if it took as long as the 99th percentile. None if it is
    /// unknown.
    pub fn minimized(&self, objective: Objective) -> Option<u64> {
        match objective {
            Objective::Time => Some(self.phases_ns.total()),
            Objective::Cpu => Some(self.user_cpu_ns.saturating_add(self.system_cpu_ns)),
            Objective::P99 => Some(
                self.latency
                    .as_ref()
                    .map_or(0, |all| all.p99_ns.saturating_mul(all.count)),
            ),
            Objective::DeviceBytes => self.device_bytes,
        }
    }

    /// The time for the workload's whole work, or another quantity to minimize, by which cases are judged: a loop that a time limit ended is
    /// extrapolated. None if the sample failed, ended before its first record, or was disturbed and those do
    /// not count.
    pub fn judged_ns(
        &self,
        workload: &Workload,
        objective: Objective,
        counts_disturbed: bool,
    ) -> Option<f64> {
        let is_usable = self.outcome.is_ok() && (counts_disturbed || self.disturbed.is_none());
        if is_usable {
            self.whole_work_ns(workload, objective)
        } else {
            None
        }
    }

    /// The time for the workload's whole work like [`Self::judged_ns`], but of any sample.
    pub fn whole_work_ns(&self, workload: &Workload, objective: Objective) -> Option<f64> {
        let total_ns = (self.minimized(objective)? as f64).max(1.0);
        match self.bytes {
            0 if workload.content.has_own_bytes() && workload.bytes > 0 => None,
            cut if (1..workload.bytes).contains(&cut) => {
                Some(total_ns * (workload.bytes as f64 / cut as f64))
            }
            _ => Some(total_ns),
        }
    }

    /// The cause of the outcome in a few words, with the rank if there are several.
    pub fn reason(&self) -> Option<String> {
        let reason = self.outcome.reason()?;
        Some(
            match self.ranks.as_ref().and_then(|ranks| ranks.failed.as_ref()) {
                Some(rank) => format!("{rank}: {reason}"),
                None => reason,
            },
        )
    }

    /// Whether the file has fewer bytes of its own than its workload says.
    pub fn lacks_bytes(&self, workload: &Workload) -> bool {
        let has_other_holes = self.hole_bytes.is_some() && workload.content != Content::Sparse;
        self.shares_blocks == Some(true) || has_other_holes
    }

    /// A sample that ended with this outcome before anything was measured.
    pub fn without_figures(round: u32, outcome: Outcome) -> Self {
        Self {
            round,
            outcome,
            ..Self::default()
        }
    }
}

/// The state of the machine right before a sample, and delays during it. Unknown values are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemState {
    /// `MemAvailable` of proc_meminfo(5).
    pub available_memory_bytes: Option<u64>,
    /// `Dirty` of proc_meminfo(5).
    pub dirty_bytes: Option<u64>,
    /// `Writeback` of proc_meminfo(5).
    pub writeback_bytes: Option<u64>,
    /// The longest delay by a CPU limit of a control group around the process: `cpu.stat` of either
    /// version.
    pub throttled_ns: Option<u64>,
    /// sysfs's `thermal_throttle/core_throttle_count`.
    pub thermal_throttles: Option<u64>,
    /// The free memory that the kernel returned to the hypervisor after it was warmed. None if the sample takes
    /// no memory for its file, or the kernel has no such counter.
    pub returned_memory_bytes: Option<u64>,
}

/// The throughput in a long phase `write`, which shows a fast beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// The length of an interval. The last one ends earlier, with the phase.
    pub interval_ns: u64,
    /// The bytes that all threads handed over in each interval, in order.
    #[serde(deserialize_with = "intervals")]
    pub bytes: Vec<u64>,
}

fn intervals<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    at_most(from, MOST_INTERVALS, "intervals in a timeline")
}

/// The distribution of the durations of a sample's records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    pub count: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p99_9_ns: u64,
    pub max_ns: u64,
    /// The number of the longest record in its thread, from 1. Older documents lack the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_record: Option<u64>,
    /// An HDR histogram of nanoseconds with three significant digits, in the format "V2 deflate" of
    /// <https://github.com/HdrHistogram>, as base64.
    pub histogram: String,
}

named_values! {
    /// How much of a file is read back and compared.
    Extent {
        Whole = "whole",
        /// Blocks chosen at random from every region of the file, with the first and the last block.
        Part = "part",
    }

    /// The source of the compared data, which decides how much the comparison proves.
    ReadFrom {
        /// The data came from the page cache, so the comparison covers the calls, but not the device.
        PageCache = "page-cache",
        /// The data came from the device: no byte was in the page cache right before.
        Device = "device",
    }
}

/// The comparison of a file's content after a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    pub extent: Extent,
    /// The number of compared bytes.
    pub bytes: u64,
    /// The place from which the bytes came. It is unknown in older runs, for a file that cannot be mapped, and for no
    /// bytes.
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
        assert_eq!(
            failure.to_string(),
            "fallocate: No space left on device (28)"
        );
    }

    #[test]
    fn a_million_samples_fit_into_three_eighths_of_a_gibibyte() {
        const MOST_BYTES: usize = (3 << 27) / 1_000_000;
        assert!(
            size_of::<Sample>() <= MOST_BYTES,
            "{} bytes",
            size_of::<Sample>()
        );
    }

    #[test]
    fn phases_survive_encoding_as_a_byte() {
        for &phase in Phase::ALL {
            assert_eq!(Phase::from_index(phase as u8), Some(phase));
        }
        assert_eq!(Phase::from_index(200), None);
    }
}
