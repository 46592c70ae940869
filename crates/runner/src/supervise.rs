//! Rounds of samples, until every case is complete or a limit ends the run.

use std::error::Error;
use std::time::{Duration, Instant};

use writebench_model::protocol::{
    AgentRequest, InsufficientSpace, RankRole, RankSample, SampleRequest,
};
use writebench_model::{Case, Durability, RunEvent, Sample, Settings, Verify, nanoseconds};

use crate::agent::RequestOutcome;
use crate::bytes_written::Written;
use crate::disturbance::Disturbance;
use crate::error::RunnerError;
use crate::limits::deadline;
use crate::planned_target::PlannedTarget;
use crate::ranks::by_ranks;
use crate::round_order::{PlannedCase, order};
use crate::schedule::{SampleSummary, Schedule, Spent};
use crate::space::{does_not_fit, insufficient_space};
use crate::workers::Workers;
use crate::workspace::SAMPLE;

/// The cases to measure on their targets, and the limits of their samples. Which case gets the next sample is up to a
/// [`Schedule`].
pub struct SamplingPlan {
    /// Each case of a target appears once. From here on, a case is its index in this list.
    pub cases: Vec<PlannedCase>,
    /// The samples that each case already has, in a resumed run. As long as `cases`.
    pub taken: Vec<Vec<SampleSummary>>,
    /// The memory-copy probes of those samples, which show how fast this machine usually is.
    pub probes_ns: Vec<u64>,
    pub settings: Settings,
    pub targets: Vec<PlannedTarget>,
    /// The beginning of the run. The time of all work before the samples counts.
    pub began: Instant,
    /// Time of the budget that is reserved for work after the samples.
    pub set_aside: Duration,
}

/// Sees each step before the run continues. An error ends the run.
pub trait Observer {
    /// A sample begins. The run still takes at most `left` samples, this one included, and has written so many bytes.
    fn begin_sample(
        &mut self,
        target: usize,
        case: &Case,
        left: usize,
        written: u64,
    ) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// Something happened that belongs to the run's record.
    fn record(&mut self, event: RunEvent) -> Result<(), Box<dyn Error + Send + Sync>>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Complete,
    Budget,
    MaxBytes,
    Stopped,
}

/// A round repeats its disturbed samples so often. A case with only disturbed ones is not compared in that
/// round.
const MOST_REPEATS: u32 = 3;

/// A sample waits so long for other writes to its target to end.
const SETTLE_LIMIT: Duration = Duration::from_secs(5);
/// A loop that the budget cuts short runs at least so long.
const LEAST_WRITE_LIMIT_NS: u64 = 100_000_000;

/// Runs a plan. A fault in a sample is that sample's outcome, not an error.
pub fn supervise(
    mut plan: SamplingPlan,
    schedule: &mut dyn Schedule,
    workers: Workers<'_>,
    written: &mut Written,
    observer: &mut dyn Observer,
) -> Result<End, RunnerError> {
    let disturbance = Disturbance::from_probes(std::mem::take(&mut plan.probes_ns));
    let start = Instant::now();
    let mut run = Supervisor {
        plan,
        schedule,
        workers,
        disturbance,
        written,
        observer,
        start,
        taken_here: 0,
    };
    for (planned, samples) in run.plan.cases.iter().zip(&run.plan.taken) {
        for _ in samples {
            run.written.add_sample(planned.target, &planned.case, false);
        }
    }
    run.written.end_worker();
    let end = run.rounds()?;
    run.decide()?;
    Ok(end)
}

struct Supervisor<'p, 'w> {
    plan: SamplingPlan,
    schedule: &'p mut dyn Schedule,
    workers: Workers<'w>,
    disturbance: Disturbance,
    written: &'p mut Written,
    observer: &'p mut dyn Observer,
    start: Instant,
    taken_here: u32,
}

impl Supervisor<'_, '_> {
    fn rounds(&mut self) -> Result<End, RunnerError> {
        // An interrupted round is finished first.
        let mut round = self
            .plan
            .taken
            .iter()
            .flatten()
            .map(|sample| sample.round)
            .max()
            .unwrap_or(0);
        loop {
            let wanted = self.wanted().to_vec();
            if self.add_joined_cases() {
                continue;
            }
            let due: Vec<usize> = (0..wanted.len())
                .filter(|&index| wanted[index] > 0)
                .collect();
            if due.is_empty() {
                return Ok(End::Complete);
            }
            // An unfinished round would give the cases unequal numbers of samples. The first round is better than nothing.
            let least = if self.schedule.uses_part_of_round() {
                1
            } else {
                due.len()
            };
            let has_samples = due.iter().any(|&index| !self.plan.taken[index].is_empty());
            if has_samples && self.budget_ends_within(least) {
                return Ok(End::Budget);
            }
            if let Some(end) = self.round(round)? {
                return Ok(end);
            }
            round += 1;
        }
    }

    /// Puts the cases that joined a contest at the end of the plan. Returns whether there are any.
    fn add_joined_cases(&mut self) -> bool {
        let added = self.schedule.added();
        let has_joined = !added.is_empty();
        self.plan.cases.extend(added);
        self.plan.taken.resize(self.plan.cases.len(), Vec::new());
        has_joined
    }

    /// Records what the contests found, from all samples.
    fn decide(&mut self) -> Result<(), RunnerError> {
        let decisions = self
            .schedule
            .decisions(&self.plan.taken, &self.plan.targets);
        self.observer
            .record(RunEvent::Decisions(decisions))
            .map_err(RunnerError::Observer)
    }

    /// One sample of every case with an open request, and repetitions of disturbed samples. Returns the
    /// reason to end the run.
    fn round(&mut self, round: u32) -> Result<Option<End>, RunnerError> {
        let order = order(self.plan.settings.seed, round, &self.plan.cases);
        // After a block, a contest wants the next one. Its samples belong to the next round.
        let repeats = if self.schedule.uses_part_of_round() {
            0
        } else {
            MOST_REPEATS
        };
        // Cases with new requests during the round wait for the next one.
        let due = self.wanted().to_vec();
        for pass in 0..=repeats {
            for &index in &order {
                let is_wanted = match self.last_of_round(index, round) {
                    None => pass == 0 && due[index] > 0,
                    Some(sample) => pass > 0 && sample.is_disturbed,
                };
                if is_wanted && let Some(end) = self.turn(index, round)? {
                    return Ok(Some(end));
                }
            }
        }
        Ok(None)
    }

    /// The last sample of a case, if it is of this round.
    fn last_of_round(&self, index: usize, round: u32) -> Option<SampleSummary> {
        self.plan.taken[index]
            .last()
            .copied()
            .filter(|sample| sample.round == round)
    }

    /// Takes a sample of a case, unless the case wants no more or a limit ends the run. Returns the reason to end the
    /// run.
    fn turn(&mut self, index: usize, round: u32) -> Result<Option<End>, RunnerError> {
        let wanted = self.wanted();
        if wanted[index] == 0 {
            return Ok(None);
        }
        let left = wanted.iter().sum();
        if self.budget_ends_within(1) {
            return Ok(Some(End::Budget));
        }
        let PlannedCase { target, case } = self.plan.cases[index].clone();
        let bytes = self.written.needed_bytes(target, &case, self.reads_back());
        if self.written.left_bytes().is_some_and(|left| bytes > left) {
            return Ok(Some(End::MaxBytes));
        }
        let written = self.written.bytes();
        self.observer
            .begin_sample(target, &case, left, written)
            .map_err(RunnerError::Observer)?;
        let Some(sample) = self.sample(index, round)? else {
            return Ok(Some(End::Stopped));
        };
        let summary = SampleSummary::new(&sample, &case.workload(), self.plan.settings.objective);
        self.schedule.see(index, &sample);
        self.plan.taken[index].push(summary);
        let event = RunEvent::Sample {
            target,
            case: case.into(),
            sample: sample.into(),
        };
        self.observer.record(event).map_err(RunnerError::Observer)?;
        self.taken_here += 1;
        Ok(None)
    }

    fn reads_back(&self) -> bool {
        self.plan.settings.verify != Verify::Never
    }

    fn elapsed(&self) -> Duration {
        self.plan.began.elapsed() + self.plan.set_aside
    }

    /// Whether so many samples would end after the budget, if they take as long as the mean of those so far.
    fn budget_ends_within(&self, samples: usize) -> bool {
        let Some(budget) = self.plan.settings.budget_ns.map(Duration::from_nanos) else {
            return false;
        };
        let mean = self
            .start
            .elapsed()
            .checked_div(self.taken_here)
            .unwrap_or_default();
        self.elapsed() + mean.saturating_mul(u32::try_from(samples).unwrap_or(u32::MAX)) >= budget
    }

    fn wanted(&mut self) -> &[usize] {
        let spent = Spent {
            elapsed: self.elapsed(),
            bytes: self.written.sample_bytes(),
            left_bytes: self.written.left_bytes(),
        };
        self.schedule.wanted(&self.plan.taken, spent)
    }

    /// Takes a sample of a case. It is None if the run was stopped.
    fn sample(&mut self, index: usize, round: u32) -> Result<Option<Sample>, RunnerError> {
        let (plan, PlannedCase { target, case }) = (&self.plan, self.plan.cases[index].clone());
        let planned_target = plan.targets.get(target).cloned().unwrap_or_default();
        self.workers.lost_workers.reap();
        let remove_first = self.workers.lost_workers.has_files_in(target);
        let request = SampleRequest {
            case: case.clone(),
            program: plan.settings.program_for(&case),
            target,
            role: RankRole::ALONE,
            sync_all: planned_target.sync_all,
            round,
            file_stem: self.workers.lost_workers.file_stem(SAMPLE),
            remove_first,
            reserve: planned_target.reserve,
            data_seed: plan.settings.seed,
            read_back: plan
                .settings
                .verify
                .extent(self.plan.taken[index].is_empty()),
            settle_limit_ns: nanoseconds(SETTLE_LIMIT),
            warm: true,
            // Ranks would end at different bytes, and each reads back another's.
            write_limit_ns: self.write_limit_ns().filter(|_| case.choices().ranks == 1),
            device_number: planned_target.device_number,
            cpu_stats: self.workers.cpu_stats()?,
        };
        let limit = plan
            .settings
            .timeout_ns
            .map_or_else(|| deadline(&case), Duration::from_nanos);
        self.written.add_sample(target, &case, self.reads_back());
        let mut sample = match self.ask_workers(target, &case, request, limit)? {
            RequestOutcome::Response(Ok(sample)) => {
                // A rank's worker may have been lost.
                if remove_first && !sample.outcome.is_loss() {
                    self.workers.lost_workers.unclean.remove(&target);
                }
                sample
            }
            RequestOutcome::Response(Err(shortage))
                if self.schedule.leaves_out_what_does_not_fit() =>
            {
                Sample::without_figures(round, does_not_fit(shortage))
            }
            RequestOutcome::Response(Err(shortage)) => {
                return Err(insufficient_space(&planned_target.path, &case, shortage));
            }
            RequestOutcome::Lost(outcome) => {
                self.written.end_worker();
                Sample::without_figures(round, outcome)
            }
            RequestOutcome::Stopped => return Ok(None),
        };
        if sample.outcome.is_ok() {
            let is_durable = case.workload().durability == Durability::Durable;
            let judged = self.disturbance.judge(&sample, is_durable);
            let stall_reason = self.workers.stall_reason();
            sample.disturbed = sample.disturbed.or(stall_reason).or(judged);
        }
        Ok(Some(sample))
    }

    /// Asks the target's worker for a sample, or the workers of all ranks if the case has several.
    fn ask_workers(
        &mut self,
        target: usize,
        case: &Case,
        request: SampleRequest,
        limit: Duration,
    ) -> Result<RequestOutcome<Result<Sample, InsufficientSpace>>, RunnerError> {
        let ranks = case.choices().ranks;
        let is_of_mpi = case.method().is_of_mpi() && self.workers.coordinator.is_some();
        if ranks == 1 && !is_of_mpi {
            let answer: RequestOutcome<Result<RankSample, InsufficientSpace>> =
                self.workers
                    .ask(target, &AgentRequest::Sample(request), limit, None)?;
            if let RequestOutcome::Response(Ok(share)) = &answer {
                self.written.find(share.found_bytes);
            }
            return Ok(answer.map(|taken| taken.map(|share| share.sample)));
        }
        let Some(coordinator) = self.workers.coordinator.take() else {
            return Err(RunnerError::Unfit(format!(
                "{case} has {ranks} ranks, and this run has one"
            )));
        };
        let answer = by_ranks(&mut self.workers, coordinator, request, limit);
        self.workers.coordinator = Some(coordinator);
        answer
    }

    /// A sample's share of the budget. Loops with a clock end there and keep their bytes so far, so a few
    /// slow cases do not use up the time of the rest.
    fn write_limit_ns(&self) -> Option<u64> {
        if let Some(limit) = self.schedule.loop_limit() {
            return Some(nanoseconds(limit).max(LEAST_WRITE_LIMIT_NS));
        }
        let samples =
            (self.plan.cases.len() as u64).saturating_mul(u64::from(self.plan.settings.samples));
        let budget_ns = self.plan.settings.budget_ns?;
        Some(
            budget_ns
                .checked_div(samples)
                .unwrap_or(budget_ns)
                .max(LEAST_WRITE_LIMIT_NS),
        )
    }
}
