//! What keeps cases from enough usable samples.

use serde::Serialize;
use writebench_model::{Case, DisturbedBy, Failure, Outcome, RunRecord, RunStatus, Sample};
use writebench_stats::{FEWEST_FOR_INTERVAL, as_f64, distinct, grouped};

use crate::numbers::case::CaseReport;

/// The main reason for too few usable samples, with the evidence for it. Sentences name its cause and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Obstacle {
    #[serde(flatten)]
    pub kind: ObstacleKind,
    /// Disturbed samples, or failed cases. For the other kinds, rounds with usable samples.
    pub count: usize,
    /// All good samples, all cases, or the rounds that an answer needs.
    pub of: usize,
}

impl Obstacle {
    /// Whether the samples were good, and only more of them are missing.
    pub(crate) fn is_too_few_rounds(&self) -> bool {
        matches!(self.kind, ObstacleKind::TooFewRounds { .. })
    }

    /// Whether the samples were good, but one of the user's limits ended them.
    pub(crate) fn is_a_limit(&self) -> bool {
        matches!(self.kind, ObstacleKind::TooFewRounds { ended_by, .. } if ended_by != EndedBy::Schedule)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum ObstacleKind {
    /// Other programs used the CPUs. `wait_ppm` is the share of time in which a task waited for one, in millionths.
    CpuPressure {
        wait_ppm: u32,
    },
    /// The control group allows too little CPU time. Its limit is None if only the effect is known.
    CpuQuota {
        limit_ppm: Option<u64>,
    },
    /// CPU time went to other virtual machines.
    Hypervisor,
    Heat,
    ReturnedMemory,
    /// Copies in memory were slow, and nothing shows why.
    SlowMemory,
    /// Something else disturbed the samples, in the words recorded with most of them.
    Disturbed {
        reason: String,
    },
    DiskFull,
    QuotaExceeded,
    /// Memory ran out: a call failed, or, if `is_killed`, the worker died by SIGKILL. `limit_bytes` is the control
    /// group's limit, if it has one.
    MemoryLimit {
        is_killed: bool,
        limit_bytes: Option<u64>,
    },
    FileSizeLimit,
    ReadOnly,
    /// Other errors, with the most frequent reason.
    Failures {
        reason: String,
    },
    Unsupported {
        reason: String,
    },
    /// Samples would leave less free space than the reserve.
    LittleSpace {
        reason: String,
    },
    /// The run was cut off.
    Interrupted,
    /// The samples were good, but a limit ended them.
    TooFewRounds {
        ended_by: EndedBy,
        wait_ppm: Option<u32>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "limit", rename_all = "kebab-case")]
pub(crate) enum EndedBy {
    Budget {
        ns: u64,
    },
    MaxBytes {
        bytes: u64,
    },
    /// No more samples were requested.
    Samples,
    /// The search or the contest ended before it had enough rounds.
    Schedule,
}

// These are the numbers of Linux, on all architectures of Rust except MIPS and SPARC.
const ENOMEM: i32 = 12;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const EDQUOT: i32 = 122;
const SIGKILL: i32 = 9;
const SIGXFSZ: i32 = 25;

/// A run without more threads than CPUs waits less than this.
const MOST_OWN_WAIT_PPM: u32 = 400_000;

/// What keeps the cases that an answer needs, such as plain write and the best of the others, from six usable samples
/// each. It is None if each has them.
pub(crate) fn obstacle(run: &RunRecord, cases: &[&CaseReport]) -> Option<Obstacle> {
    obstacle_to(FEWEST_FOR_INTERVAL as usize, run, cases)
}

/// What keeps the cases from this number of usable samples each.
pub(crate) fn obstacle_to(
    rounds: usize,
    run: &RunRecord,
    cases: &[&CaseReport],
) -> Option<Obstacle> {
    // A case may be in several tables.
    let cases: Vec<&CaseReport> = distinct(cases.iter().copied(), |case| &case.name);
    if !cases.iter().any(|case| lacks_rounds(case, rounds)) {
        return None;
    }
    let (ok, not_ok): (Vec<&CaseReport>, Vec<&CaseReport>) =
        cases.iter().partition(|case| case.is_ok());
    let failed = not_ok
        .iter()
        .filter(|case| case.outcome().is_some())
        .count();
    // A comparison needs two cases.
    if ok.len() < cases.len().min(2) && 2 * failed >= not_ok.len() && failed > 0 {
        return failure(run, &cases);
    }
    let lacking: Vec<&CaseReport> = ok
        .iter()
        .copied()
        .filter(|case| lacks_rounds(case, rounds))
        .collect();
    disturbance(run, &lacking).or_else(|| Some(end_of_run(rounds, run, &cases)))
}

/// The obstacle of a run that ended before the first sample of a case.
pub(crate) fn before_samples(run: &RunRecord) -> Obstacle {
    end_of_run(FEWEST_FOR_INTERVAL as usize, run, &[])
}

fn lacks_rounds(case: &CaseReport, rounds: usize) -> bool {
    !case.is_ok() || usable(case) < rounds
}

/// The obstacle if the samples were good: the run ended before there were enough of them.
fn end_of_run(rounds: usize, run: &RunRecord, cases: &[&CaseReport]) -> Obstacle {
    let kind = match run.status {
        RunStatus::Interrupted | RunStatus::Failed | RunStatus::Running => {
            ObstacleKind::Interrupted
        }
        RunStatus::Complete | RunStatus::Limited => ObstacleKind::TooFewRounds {
            ended_by: ended_by(rounds, run, cases),
            wait_ppm: others_wait_ppm(run, cases),
        },
    };
    Obstacle {
        kind,
        count: cases.iter().map(|case| usable(case)).min().unwrap_or(0),
        of: rounds,
    }
}

/// The number of good samples, without disturbed ones unless those count.
pub(crate) fn usable(case: &CaseReport) -> usize {
    case.good_samples()
        .filter(|sample| case.counts_disturbed || sample.disturbed.is_none())
        .count()
}

/// The most frequent kind of failure among the cases that failed or are unsupported. It is None without such a case.
pub(crate) fn failure(run: &RunRecord, cases: &[&CaseReport]) -> Option<Obstacle> {
    let failed = cases
        .iter()
        .filter(|case| !case.is_ok())
        .filter_map(|case| case.outcome());
    let kinds = grouped(
        failed.filter_map(|outcome| failure_kind(outcome, run)),
        Clone::clone,
    );
    let (kind, same) = largest(kinds)?;
    Some(Obstacle {
        kind,
        count: same.len(),
        of: cases.len(),
    })
}

/// The group with the most members, and the first of several.
fn largest<K, T>(groups: Vec<(K, Vec<T>)>) -> Option<(K, Vec<T>)> {
    groups
        .into_iter()
        .rev()
        .max_by_key(|(_, members)| members.len())
}

/// The kind of a failed or unsupported outcome. It is None for a good one.
fn failure_kind(outcome: &Outcome, run: &RunRecord) -> Option<ObstacleKind> {
    let errno = match outcome {
        Outcome::Failed(failure) => failure.errno,
        _ => None,
    };
    let signal = match outcome {
        Outcome::WorkerDied { signal, .. } => *signal,
        _ => None,
    };
    Some(match (outcome, errno, signal) {
        (Outcome::Ok, ..) => return None,
        (Outcome::Unsupported(failure), ..) if failure.call == Failure::FREE_SPACE => {
            ObstacleKind::LittleSpace {
                reason: failure.message.clone(),
            }
        }
        (Outcome::Unsupported(_), ..) => ObstacleKind::Unsupported {
            reason: reason(outcome)?,
        },
        (_, Some(ENOSPC), _) => ObstacleKind::DiskFull,
        (_, Some(EDQUOT), _) => ObstacleKind::QuotaExceeded,
        (_, Some(ENOMEM), _) => ObstacleKind::MemoryLimit {
            is_killed: false,
            limit_bytes: memory_limit_bytes(run),
        },
        (.., Some(SIGKILL)) => ObstacleKind::MemoryLimit {
            is_killed: true,
            limit_bytes: memory_limit_bytes(run),
        },
        (_, Some(EFBIG), _) | (.., Some(SIGXFSZ)) => ObstacleKind::FileSizeLimit,
        (_, Some(EROFS), _) => ObstacleKind::ReadOnly,
        _ => ObstacleKind::Failures {
            reason: reason(outcome)?,
        },
    })
}

fn memory_limit_bytes(run: &RunRecord) -> Option<u64> {
    run.targets.first()?.environment.memory.limit_bytes
}

fn cpu_limit_ppm(run: &RunRecord) -> Option<u64> {
    run.targets.first()?.environment.cpu.limit_ppm
}

/// The outcome's reason without the offset, which differs between samples with the same failure. It is None for a good
/// outcome.
pub(crate) fn reason(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Unsupported(failure) | Outcome::Failed(failure) => {
            let mut anywhere = failure.clone();
            anywhere.offset = None;
            Some(anywhere.to_string())
        }
        other => other.reason(),
    }
}

/// The most frequent kind, if most of the good samples of these cases were disturbed, and do not count.
pub(crate) fn disturbance(run: &RunRecord, cases: &[&CaseReport]) -> Option<Obstacle> {
    let samples: Vec<&Sample> = cases
        .iter()
        .filter(|case| !case.counts_disturbed)
        .flat_map(|case| case.good_samples())
        .collect();
    let reasons: Vec<&str> = samples
        .iter()
        .filter_map(|sample| sample.disturbed.as_deref())
        .collect();
    if 2 * reasons.len() <= samples.len() {
        return None;
    }
    let causes = grouped(reasons.iter().copied(), |reason| {
        DisturbedBy::from_reason(reason)
    });
    let (cause, its_reasons) = largest(causes)?;
    Some(Obstacle {
        kind: disturbance_kind(cause, its_reasons, run, cases)?,
        count: reasons.len(),
        of: samples.len(),
    })
}

/// The kind of a disturbance by `cause`, which the samples of these cases recorded in the words of `reasons`.
fn disturbance_kind(
    cause: DisturbedBy,
    reasons: Vec<&str>,
    run: &RunRecord,
    cases: &[&CaseReport],
) -> Option<ObstacleKind> {
    let quota = ObstacleKind::CpuQuota {
        limit_ppm: cpu_limit_ppm(run),
    };
    Some(match cause {
        DisturbedBy::Hypervisor => ObstacleKind::Hypervisor,
        DisturbedBy::CpuLimit => quota,
        DisturbedBy::Heat => ObstacleKind::Heat,
        DisturbedBy::ReturnedMemory => ObstacleKind::ReturnedMemory,
        // A lack of CPU time makes the probes take longer, and the supervisor wait.
        DisturbedBy::SlowMemory | DisturbedBy::Absent if is_held_up(run, cases) => quota,
        DisturbedBy::SlowMemory | DisturbedBy::Absent if others_wait_ppm(run, cases).is_some() => {
            ObstacleKind::CpuPressure {
                wait_ppm: others_wait_ppm(run, cases)?,
            }
        }
        DisturbedBy::SlowMemory => ObstacleKind::SlowMemory,
        DisturbedBy::Absent | DisturbedBy::Other => {
            let (reason, _) = largest(grouped(reasons, |reason| reason.to_owned()))?;
            ObstacleKind::Disturbed {
                reason: reason.to_owned(),
            }
        }
    })
}

/// Whether a CPU limit of the control group disturbed a sample, or allows less than one CPU. Such a limit holds up
/// every process that computes, but mostly between short samples, which then show no delay of their own.
fn is_held_up(run: &RunRecord, cases: &[&CaseReport]) -> bool {
    const ONE_CPU_PPM: u64 = 1_000_000;
    let mut reasons = cases
        .iter()
        .flat_map(|case| case.good_samples())
        .filter_map(|sample| sample.disturbed.as_ref());
    cpu_limit_ppm(run).is_some_and(|ppm| ppm < ONE_CPU_PPM)
        || reasons.any(|reason| DisturbedBy::from_reason(reason) == DisturbedBy::CpuLimit)
}

/// The share of the samples' time in which a task waited for a CPU, if only other programs can be the reason: not
/// the run's own threads, nor a limit of the control group, under which tasks also count as waiting.
pub(crate) fn others_wait_ppm(run: &RunRecord, cases: &[&CaseReport]) -> Option<u32> {
    let wait_ppm = run.cpu_wait_ppm.filter(|&ppm| ppm > MOST_OWN_WAIT_PPM)?;
    let cpus = run.targets.first()?.environment.cpu.available;
    let own_threads = cases
        .iter()
        .filter_map(|case| case.record.case.known())
        .map(|case| case.choices().threads.max(case.choices().ranks))
        .max()?;
    (own_threads <= cpus && !is_held_up(run, cases)).then_some(wait_ppm)
}

fn ended_by(rounds: usize, run: &RunRecord, cases: &[&CaseReport]) -> EndedBy {
    let settings = &run.settings;
    let requested_samples = as_f64(settings.most_samples().into());
    // The record of a report has no cases, so that alone it does not know.
    let is_search = run.is_search() || cases.iter().any(|case| case.record.origin.is_search());
    if run.status == RunStatus::Complete && !is_search && requested_samples < as_f64(rounds as u64)
    {
        return EndedBy::Samples;
    }
    let next_bytes = cases
        .iter()
        .map(|case| {
            case.record
                .case
                .known()
                .map_or(case.record.workload.bytes, Case::bytes_written)
        })
        .max()
        .unwrap_or(0);
    let bytes_with_next = run.written_bytes.unwrap_or(0).saturating_add(next_bytes);
    match (settings.max_bytes, settings.budget_ns) {
        (Some(bytes), _) if bytes_with_next > bytes => EndedBy::MaxBytes { bytes },
        (_, Some(ns)) => EndedBy::Budget { ns },
        (_, None) => EndedBy::Schedule,
    }
}

#[cfg(test)]
mod tests;
