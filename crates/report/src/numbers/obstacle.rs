//! What keeps cases from enough usable samples.

use writebench_model::{DisturbedBy, Outcome, RunRecord, RunStatus, Sample};
use writebench_stats::{FEWEST_FOR_INTERVAL, as_f64, distinct, grouped};

use crate::numbers::case::CaseReport;

/// The main one, with the evidence for it. Sentences name its cause and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Obstacle {
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

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ObstacleKind {
    /// Other programs: the share of time in which a task waited for a CPU, in millionths.
    CpuPressure {
        wait_ppm: u32,
    },
    /// Of the control group. None if only its effect is known.
    CpuQuota {
        limit_ppm: Option<u64>,
    },
    /// CPU time went to other virtual machines.
    Hypervisor,
    Heat,
    ReturnedMemory,
    /// Copies in memory were slow, and nothing shows why.
    SlowMemory,
    /// In the words recorded with most of the samples.
    Disturbed {
        reason: String,
    },
    DiskFull,
    QuotaExceeded,
    /// The control group's limit, if it has one. `is_killed`: the worker died by SIGKILL.
    MemoryLimit {
        is_killed: bool,
        limit_bytes: Option<u64>,
    },
    FileSizeLimit,
    ReadOnly,
    /// The most frequent reason.
    Failures {
        reason: String,
    },
    Unsupported {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EndedBy {
    Budget {
        ns: u64,
    },
    MaxBytes {
        bytes: u64,
    },
    /// No more were requested.
    Samples,
    /// The search or the contest ended before them.
    Schedule,
}

// Numbers of Linux, on all architectures of Rust except MIPS and SPARC.
const ENOMEM: i32 = 12;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const EDQUOT: i32 = 122;
const SIGKILL: i32 = 9;
const SIGXFSZ: i32 = 25;

/// A run without more threads than CPUs waits less than this.
const MOST_OWN_WAIT_PPM: u32 = 400_000;

/// Of the cases that an answer needs, such as plain write and the best of the others. None if each has six
/// usable samples.
pub(crate) fn obstacle(run: &RunRecord, cases: &[&CaseReport]) -> Option<Obstacle> {
    obstacle_to(FEWEST_FOR_INTERVAL as usize, run, cases)
}

/// To this number of rounds.
pub(crate) fn obstacle_to(
    rounds: usize,
    run: &RunRecord,
    cases: &[&CaseReport],
) -> Option<Obstacle> {
    // A case may be in several tables.
    let cases: Vec<&CaseReport> = distinct(cases.iter().copied(), |case| &case.name);
    let is_lacking = |case: &CaseReport| !case.is_ok() || usable(case) < rounds;
    if !cases.iter().any(|case| is_lacking(case)) {
        return None;
    }
    let (able, others): (Vec<&CaseReport>, Vec<&CaseReport>) =
        cases.iter().partition(|case| case.is_ok());
    let failed = others
        .iter()
        .filter(|case| case.outcome().is_some())
        .count();
    // A comparison needs two cases.
    if able.len() < cases.len().min(2) && 2 * failed >= others.len() && failed > 0 {
        return failure(run, &cases);
    }
    let lacking: Vec<&CaseReport> = able
        .iter()
        .copied()
        .filter(|case| is_lacking(case))
        .collect();
    disturbance(run, &lacking).or_else(|| {
        let count = cases.iter().map(|case| usable(case)).min().unwrap_or(0);
        let kind = match run.status {
            RunStatus::Interrupted | RunStatus::Failed | RunStatus::Running => {
                ObstacleKind::Interrupted
            }
            RunStatus::Complete | RunStatus::Limited => ObstacleKind::TooFewRounds {
                ended_by: ended_by(rounds, run, &cases),
                wait_ppm: others_wait_ppm(run, &cases),
            },
        };
        Some(Obstacle {
            kind,
            count,
            of: rounds,
        })
    })
}

/// Good samples, without disturbed ones unless those count.
pub(crate) fn usable(case: &CaseReport) -> usize {
    case.good_samples()
        .filter(|sample| case.counts_disturbed || sample.disturbed.is_none())
        .count()
}

/// Of failed and unsupported cases: the most frequent kind. None without such a case.
pub(crate) fn failure(run: &RunRecord, cases: &[&CaseReport]) -> Option<Obstacle> {
    let failed = cases
        .iter()
        .filter(|case| !case.is_ok())
        .filter_map(|case| case.outcome());
    let kinds = grouped(
        failed.filter_map(|outcome| failure_kind(outcome, run)),
        Clone::clone,
    );
    let (kind, same) = kinds.into_iter().rev().max_by_key(|(_, same)| same.len())?;
    Some(Obstacle {
        kind,
        count: same.len(),
        of: cases.len(),
    })
}

/// None for a good outcome.
fn failure_kind(outcome: &Outcome, run: &RunRecord) -> Option<ObstacleKind> {
    let limit_bytes = || {
        run.targets
            .first()
            .and_then(|target| target.environment.memory.limit_bytes)
    };
    let errno = match outcome {
        Outcome::Failed(failure) => failure.errno,
        _ => None,
    };
    let signal = match outcome {
        Outcome::WorkerDied { signal, .. } => *signal,
        _ => None,
    };
    let reason = || reason(outcome);
    Some(match (outcome, errno, signal) {
        (Outcome::Ok, ..) => return None,
        (Outcome::Unsupported(_), ..) => ObstacleKind::Unsupported { reason: reason()? },
        (_, Some(ENOSPC), _) => ObstacleKind::DiskFull,
        (_, Some(EDQUOT), _) => ObstacleKind::QuotaExceeded,
        (_, Some(ENOMEM), _) => ObstacleKind::MemoryLimit {
            is_killed: false,
            limit_bytes: limit_bytes(),
        },
        (.., Some(SIGKILL)) => ObstacleKind::MemoryLimit {
            is_killed: true,
            limit_bytes: limit_bytes(),
        },
        (_, Some(EFBIG), _) | (.., Some(SIGXFSZ)) => ObstacleKind::FileSizeLimit,
        (_, Some(EROFS), _) => ObstacleKind::ReadOnly,
        _ => ObstacleKind::Failures { reason: reason()? },
    })
}

/// Without the offset, at which the same failure may differ. None for a good outcome.
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
    let kinds = grouped(reasons.iter().copied(), |reason| {
        DisturbedBy::from_reason(reason)
    });
    let (kind, same) = kinds.into_iter().rev().max_by_key(|(_, same)| same.len())?;
    let environment = run.targets.first().map(|target| &target.environment);
    let quota = || ObstacleKind::CpuQuota {
        limit_ppm: environment.and_then(|all| all.cpu.limit_ppm),
    };
    let kind = match kind {
        DisturbedBy::Hypervisor => ObstacleKind::Hypervisor,
        DisturbedBy::CpuLimit => quota(),
        DisturbedBy::Heat => ObstacleKind::Heat,
        DisturbedBy::ReturnedMemory => ObstacleKind::ReturnedMemory,
        // Without CPU time the probes take longer, and the supervisor waits.
        DisturbedBy::SlowMemory | DisturbedBy::Absent if is_held_up(run, cases) => quota(),
        DisturbedBy::SlowMemory | DisturbedBy::Absent if others_wait_ppm(run, cases).is_some() => {
            ObstacleKind::CpuPressure {
                wait_ppm: others_wait_ppm(run, cases)?,
            }
        }
        DisturbedBy::SlowMemory => ObstacleKind::SlowMemory,
        DisturbedBy::Absent | DisturbedBy::Other => {
            let reasons = grouped(same, |reason| reason.to_owned()).into_iter().rev();
            let (reason, _) = reasons.max_by_key(|(_, same)| same.len())?;
            ObstacleKind::Disturbed {
                reason: reason.to_owned(),
            }
        }
    };
    Some(Obstacle {
        kind,
        count: reasons.len(),
        of: samples.len(),
    })
}

/// Whether a CPU limit of the control group disturbed a sample, or allows less than one CPU. Such a limit holds up
/// every process that computes, but mostly between short samples, which then show no delay of their own.
fn is_held_up(run: &RunRecord, cases: &[&CaseReport]) -> bool {
    const ONE_CPU_PPM: u64 = 1_000_000;
    let limit_ppm = run
        .targets
        .first()
        .and_then(|target| target.environment.cpu.limit_ppm);
    let mut reasons = cases
        .iter()
        .flat_map(|case| case.good_samples())
        .filter_map(|sample| sample.disturbed.as_ref());
    limit_ppm.is_some_and(|ppm| ppm < ONE_CPU_PPM)
        || reasons.any(|reason| DisturbedBy::from_reason(reason) == DisturbedBy::CpuLimit)
}

/// The share of the samples' time in which a task waited for a CPU, if only other programs can be the reason: not
/// the run's own threads, nor a limit of the control group, under which tasks also count as waiting.
pub(crate) fn others_wait_ppm(run: &RunRecord, cases: &[&CaseReport]) -> Option<u32> {
    let wait_ppm = run.cpu_wait_ppm.filter(|&ppm| ppm > MOST_OWN_WAIT_PPM)?;
    let cpus = run.targets.first()?.environment.cpu.available;
    let own = cases.iter().filter_map(|case| case.record.case.known());
    let own = own
        .map(|case| case.axes().threads.max(case.axes().ranks))
        .max()?;
    (own <= cpus && !is_held_up(run, cases)).then_some(wait_ppm)
}

fn ended_by(rounds: usize, run: &RunRecord, cases: &[&CaseReport]) -> EndedBy {
    let settings = &run.settings;
    let next_bytes = cases
        .iter()
        .map(|case| case.record.contract.bytes)
        .max()
        .unwrap_or(0);
    let is_used_up = |most: &u64| run.written_bytes.unwrap_or(0).saturating_add(next_bytes) > *most;
    let asked = as_f64(settings.most_samples().into());
    match (settings.max_bytes.filter(is_used_up), settings.budget_ns) {
        _ if run.status == RunStatus::Complete
            && !run.is_search()
            && asked < as_f64(rounds as u64) =>
        {
            EndedBy::Samples
        }
        (Some(bytes), _) => EndedBy::MaxBytes { bytes },
        (None, Some(ns)) => EndedBy::Budget { ns },
        (None, None) => EndedBy::Schedule,
    }
}

#[cfg(test)]
mod tests;
