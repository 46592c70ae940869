//! Samples that several ranks take together. Each rank has its own worker, and the first one merges all
//! reports into one sample.

use std::time::Duration;

use writebench_model::protocol::{
    AgentRequest, InsufficientSpace, PhaseTimestamps, RankSample, SampleRequest,
};
use writebench_model::{
    KernelThreads, Outcome, Phase, PhasesNs, RankName, RankTimes, ReadBack, Sample, Spread,
};

use crate::agent::RequestOutcome;
use crate::barrier::WaitRequest;
use crate::communicator::{Communicator, Coordinator, RankReport};
use crate::error::RunnerError;
use crate::workers::Workers;

impl RankReport {
    /// Takes a rank's share with its worker, or without one, and waits for the other ranks in place of a
    /// lost worker.
    pub fn for_share(
        workers: &mut Workers<'_>,
        request: SampleRequest,
        limit: Duration,
        rank: RankName,
        communicator: &mut dyn Communicator,
    ) -> Self {
        let round = request.round;
        let mut report = Self {
            rank,
            ..Self::default()
        };
        let outcome = match sample_of_rank(workers, request, limit, communicator) {
            Ok(RequestOutcome::Response(Ok(share))) => {
                report.share = share;
                let stall_reason = workers.stall_reason();
                let sample = &mut report.share.sample;
                sample.disturbed = sample.disturbed.take().or(stall_reason);
                return report;
            }
            Ok(RequestOutcome::Response(Err(shortage))) => {
                report.shortage = Some(shortage);
                lost("not enough space")
            }
            Ok(RequestOutcome::Lost(outcome)) => {
                report.is_unclean = true;
                outcome
            }
            Ok(RequestOutcome::Stopped) => {
                report.is_unclean = true;
                report.share.is_abandoned = true;
                lost("stopped")
            }
            Err(error) => lost(&error.to_string()),
        };
        report.share.sample = Sample::without_figures(round, outcome);
        report
    }
}

/// Takes a rank's share of a sample in its worker, or for a method of MPI in this process. Returns after the last barrier.
fn sample_of_rank(
    workers: &mut Workers<'_>,
    mut request: SampleRequest,
    limit: Duration,
    communicator: &mut dyn Communicator,
) -> Result<RequestOutcome<Result<RankSample, InsufficientSpace>>, RunnerError> {
    if request.role.rank > 0 {
        // The request has the device and the files of the first rank's node.
        request.device_number = None;
        request.cpu_stats = workers.cpu_stats().unwrap_or_default();
    }
    let mut is_over = false;
    let answer = if request.case.method().is_of_mpi() {
        let taken = communicator.run_sample(&request);
        is_over = taken.is_ok();
        taken.map(RequestOutcome::Response)
    } else {
        let mut on_wait = |wait: WaitRequest| {
            let all = communicator.wait(wait.has_succeeded);
            is_over = wait.is_last || !all;
            all
        };
        workers.ask(
            request.target,
            &AgentRequest::Sample(request),
            limit,
            Some(&mut on_wait),
        )
    };
    if !is_over {
        // Other ranks wait for this one.
        communicator.wait(false);
    }
    answer
}

fn lost(why: &str) -> Outcome {
    Outcome::WorkerDied {
        phase: Phase::Settle,
        signal: None,
        detail: format!(": {why}"),
    }
}

pub(crate) fn by_ranks(
    workers: &mut Workers<'_>,
    coordinator: &mut dyn Coordinator,
    request: SampleRequest,
    limit: Duration,
) -> Result<RequestOutcome<Result<Sample, InsufficientSpace>>, RunnerError> {
    let target = request.target;
    let round = request.round;
    let began = coordinator.begin(&request, limit);
    let reports = began.and_then(|(rank, role)| {
        let own_share = SampleRequest { role, ..request };
        let communicator = coordinator.communicator();
        let own = RankReport::for_share(workers, own_share, limit, rank, communicator);
        coordinator.gather(own)
    });
    if workers.is_stopped() {
        return Ok(RequestOutcome::Stopped);
    }
    let reports = reports.map_err(|error| {
        RunnerError::Protocol(format!("the other ranks do not answer: {error}"))
    })?;
    if reports.iter().any(|report| report.is_unclean) {
        workers.lost_workers.unclean.insert(target);
    }
    Ok(RequestOutcome::Response(
        match reports.iter().find_map(|report| report.shortage) {
            Some(shortage) => Err(shortage),
            None => Ok(merged(round, &reports)),
        },
    ))
}

/// One sample of all shares. Its phases have no gaps between the first rank's beginning and the last rank's
/// end. Some ranks sync while some still write, so phase sync is the time after the last write.
pub(crate) fn merged(round: u32, reports: &[RankReport]) -> Sample {
    let has_failed = |report: &&RankReport| !report.share.sample.outcome.is_ok();
    let failed = reports
        .iter()
        .find(|report| has_failed(report) && !report.share.is_abandoned)
        .or(reports.iter().find(has_failed));
    if let Some(RankReport { rank, share, .. }) = failed {
        let ranks = RankTimes {
            failed: Some(rank.clone()),
            ..RankTimes::default()
        };
        let failed = Sample::without_figures(round, share.sample.outcome.clone());
        return Sample {
            ranks: Some(Box::new(ranks)),
            ..failed
        };
    }
    let shares = || reports.iter().map(|report| &report.share.sample);
    let sum = |figure: fn(&Sample) -> u64| shares().map(figure).sum();
    let disturbed = reports
        .iter()
        .find_map(|report| Some((&report.rank, report.share.sample.disturbed.as_ref()?)));
    let kernel_threads: Option<KernelThreads> = shares()
        .map(|share| share.kernel_threads.as_deref().copied())
        .sum();
    let first = shares().next().cloned().unwrap_or_default();
    let times = RankTimes {
        phases: PhaseTimestamps::PHASES
            .into_iter()
            .filter_map(|phase| spread(phase, reports))
            .collect(),
        clock_uncertainty_ns: reports
            .iter()
            .map(|report| report.clock_uncertainty_ns)
            .max()
            .unwrap_or(0),
        failed: None,
    };
    Sample {
        phases_ns: phases(reports),
        bytes: sum(|share| share.bytes),
        user_cpu_ns: sum(|share| share.user_cpu_ns),
        system_cpu_ns: sum(|share| share.system_cpu_ns),
        page_faults: sum(|share| share.page_faults),
        context_switches: sum(|share| share.context_switches),
        read_back: read_back(reports),
        settle_ns: shares().map(|share| share.settle_ns).max().unwrap_or(0),
        disturbed: disturbed.map(|(rank, why)| format!("{rank}: {why}")),
        kernel_threads: kernel_threads.map(Box::new),
        write_back_failure: shares().find_map(|share| share.write_back_failure.clone()),
        ranks: Some(Box::new(times)),
        // Ranks of a node copy memory at the same time, so each probe is disturbed.
        probe_ns: [0, 0],
        // The latencies and the timeline are the first rank's alone.
        latency: None,
        timeline: None,
        ..first
    }
}

/// The weakest of all ranks' checks. None if one rank has checked only sizes.
fn read_back(reports: &[RankReport]) -> Option<ReadBack> {
    let all = reports
        .iter()
        .map(|report| report.share.sample.read_back.as_ref())
        .collect::<Option<Vec<_>>>()?;
    let bytes = all.iter().map(|check| check.bytes).sum();
    let first = all.first()?;
    let from = all
        .iter()
        .all(|check| check.from == first.from)
        .then_some(first.from)
        .flatten();
    Some(ReadBack {
        extent: first.extent,
        bytes,
        from,
    })
}

fn phases(reports: &[RankReport]) -> PhasesNs {
    let timestamps = |phase: Phase| {
        reports
            .iter()
            .filter_map(move |report| report.share.timestamps.get(phase))
    };
    let began = |phase| timestamps(phase).map(|[began, _]| began).min();
    let ended = |phase| timestamps(phase).map(|[_, ended]| ended).max();
    let (Some(open), Some(write), Some(end)) =
        (began(Phase::Open), began(Phase::Write), ended(Phase::Close))
    else {
        return PhasesNs::default();
    };
    let before_write = write.saturating_sub(open);
    let prepare = timestamps(Phase::Prepare)
        .map(|[began, ended]| ended.saturating_sub(began))
        .max()
        .unwrap_or(0);
    let prepare = prepare.min(before_write);
    let write_end = ended(Phase::Write)
        .unwrap_or(end)
        .clamp(write, end.max(write));
    let sync_end = ended(Phase::Sync)
        .unwrap_or(write_end)
        .clamp(write_end, end.max(write_end));
    PhasesNs {
        open: before_write - prepare,
        prepare,
        write: write_end - write,
        sync: sync_end - write_end,
        close: end.saturating_sub(sync_end),
    }
}

fn spread(phase: Phase, reports: &[RankReport]) -> Option<Spread> {
    let own = |report: &RankReport| {
        report
            .share
            .timestamps
            .get(phase)
            .map(|[began, ended]| ended.saturating_sub(began))
    };
    let mut times: Vec<(u64, &RankName)> = reports
        .iter()
        .filter_map(|report| Some((own(report)?, &report.rank)))
        .collect();
    times.sort();
    let first = times.first()?;
    let last = times.last()?;
    Some(Spread {
        phase,
        min_ns: first.0,
        median_ns: times[times.len() / 2].0,
        max_ns: last.0,
        slowest: last.1.clone(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use writebench_model::{Extent, Failure};

    fn report(rank: u32, moments: [[u64; 2]; 4]) -> RankReport {
        let phases = [Phase::Open, Phase::Write, Phase::Sync, Phase::Close];
        let mut timestamps = PhaseTimestamps::default();
        phases
            .into_iter()
            .zip(moments)
            .for_each(|(phase, [began, ended])| timestamps.add(phase, began, ended));
        let read_back = Some(ReadBack {
            extent: Extent::Whole,
            bytes: 8,
            from: None,
        });
        let kernel_threads = KernelThreads {
            count: 1,
            cpu_ns: 2,
            all_cpu_ns: 3,
            written_bytes: 4,
            all_written_bytes: 8,
        };
        let sample = Sample {
            bytes: 8,
            user_cpu_ns: 3,
            kernel_threads: Some(Box::new(kernel_threads)),
            read_back,
            ..Sample::without_figures(5, Outcome::Ok)
        };
        RankReport {
            rank: RankName {
                rank,
                host: format!("n{}", rank / 2),
            },
            share: RankSample {
                sample,
                timestamps,
                is_abandoned: false,
                found_bytes: 0,
            },
            shortage: None,
            is_unclean: false,
            clock_uncertainty_ns: u64::from(rank),
        }
    }

    fn three() -> Vec<RankReport> {
        vec![
            report(0, [[100, 110], [130, 190], [190, 220], [220, 225]]),
            report(1, [[101, 115], [131, 200], [200, 215], [215, 219]]),
            report(2, [[103, 112], [129, 150], [150, 240], [240, 241]]),
        ]
    }

    #[test]
    fn phases_last_from_the_first_ranks_beginning_to_the_last_ranks_end() {
        let sample = merged(5, &three());
        let expected = PhasesNs {
            open: 29,
            prepare: 0,
            write: 71,
            sync: 40,
            close: 1,
        };
        assert_eq!(sample.phases_ns, expected);
        assert_eq!(sample.phases_ns.total(), 241 - 100);
        assert_eq!((sample.round, sample.bytes, sample.user_cpu_ns), (5, 24, 9));
        assert_eq!(sample.read_back.unwrap().bytes, 24);
        let threads = sample.kernel_threads.unwrap();
        assert_eq!((threads.count, threads.all_written_bytes), (3, 24));
    }

    #[test]
    fn the_ranks_own_times_and_the_slowest_of_each_phase_are_kept() {
        let ranks = merged(5, &three()).ranks.unwrap();
        let write = ranks.spread(Phase::Write).unwrap();
        assert_eq!(
            (
                write.min_ns,
                write.median_ns,
                write.max_ns,
                write.slowest.rank
            ),
            (21, 60, 69, 1)
        );
        assert_eq!(
            ranks.spread(Phase::Sync).unwrap().slowest.to_string(),
            "rank 2 on n1"
        );
        assert_eq!(ranks.clock_uncertainty_ns, 2);
        assert!(ranks.spread(Phase::Prepare).is_none());
    }

    #[test]
    fn a_ranks_failure_is_the_samples_and_has_no_times() {
        let mut reports = three();
        let failure = Failure {
            phase: Phase::Sync,
            call: "fsync".to_owned(),
            path: None,
            offset: None,
            errno: Some(5),
            message: Failure::errno_message(5),
        };
        reports[2].share.sample = Sample::without_figures(5, Outcome::Failed(Box::new(failure)));
        for other in [0, 1] {
            reports[other].share.sample =
                Sample::without_figures(5, lost("another rank has failed"));
            reports[other].share.is_abandoned = true;
        }
        let sample = merged(5, &reports);
        assert_eq!(
            sample.reason().unwrap(),
            "rank 2 on n1: fsync: Input/output error (5)"
        );
        assert_eq!((sample.phases_ns.total(), sample.bytes), (0, 0));
    }

    #[test]
    fn a_disturbed_rank_disturbs_the_sample() {
        let mut reports = three();
        reports[1].share.sample.disturbed = Some("stopped".to_owned());
        assert_eq!(
            merged(5, &reports).disturbed.unwrap(),
            "rank 1 on n0: stopped"
        );
    }

    /// Prints the numbers in docs/how-to/cluster.md: `cargo test --release -p writebench-runner ten_thousand --
    /// --nocapture`.
    #[test]
    #[expect(clippy::print_stdout, reason = "figures for the documentation")]
    fn ten_thousand_ranks_are_gathered_in_little_memory() {
        let moments = [[100, 110], [130, 190], [210, 220], [220, 225]]
            .map(|moment| moment.map(|ns| ns << 30));
        let texts: Vec<String> = (0..10_000)
            .map(|rank| serde_json::to_string(&report(rank, moments)).unwrap())
            .collect();
        let bytes: usize = texts.iter().map(String::len).sum();
        let start = Instant::now();
        let reports: Vec<RankReport> = texts
            .iter()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect();
        let sample = merged(5, &reports);
        let elapsed = start.elapsed();
        let kept = serde_json::to_string(&sample).unwrap().len();
        println!(
            "10000 ranks: {bytes} bytes of reports, read and merged in {elapsed:?}; {kept} bytes are kept"
        );
        assert_eq!(sample.bytes, 80_000);
        assert!(bytes < 16 << 20 && kept < 4096, "{bytes} and {kept}");
    }
}
