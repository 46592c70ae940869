//! Rounds of samples, until every case has what it needs or a limit comes first.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use writebench_model::protocol::SampleRequest;
use writebench_model::{Reserve, Sample, Settings, Verify, nanoseconds};

use crate::disturbance::Disturbance;
use crate::error::RunnerError;
use crate::limits::deadline;
use crate::order::{Planned, order};
use crate::schedule::{Schedule, Spent, Taken};
use crate::space::no_room;
use crate::worker::Answer;
use crate::workers::Workers;
use crate::written::Written;

/// What to do.
pub struct Plan {
    /// All of them different.
    pub cases: Vec<Planned>,
    /// Samples that each has already, when a run is resumed; as long as `cases`.
    pub taken: Vec<Vec<Taken>>,
    /// What the memory-copy probes beside those took.
    pub probes_ns: Vec<u64>,
    /// What the run was told.
    pub settings: Settings,
    /// In their order.
    pub targets: Vec<PlannedTarget>,
}

/// What a sample needs to know of its target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedTarget {
    /// Its path.
    pub path: PathBuf,
    /// The device whose written sectors are counted.
    pub device_number: Option<String>,
    /// Whether all filesystems are synced before a sample, since syncing this one does not reach what is below it.
    pub sync_all: bool,
    /// What stays free of it.
    pub reserve: Reserve,
}

/// What happens in a run.
pub enum Event<'a> {
    /// A sample begins.
    Started {
        /// Its case, and where.
        planned: &'a Planned,
        /// Samples that are still to come, this one included, if no case ends early.
        left: usize,
    },
    /// A sample has been taken.
    Taken {
        /// Its case, and where.
        planned: &'a Planned,
        /// What came of it.
        sample: &'a Sample,
    },
}

/// Hears of what happens, and can end the run by failing.
pub type Observer<'o> = dyn FnMut(Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>> + 'o;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every case has its samples, or an outcome that ends it.
    Complete,
    /// The time limit came first.
    Budget,
    /// The limit on bytes came first.
    MaxBytes,
    /// It was told to stop.
    Stopped,
}

/// How often a round goes through its disturbed samples again. A case that still has none of its own is not compared
/// in that round.
const MOST_REPEATS: u32 = 3;

/// Longest wait for a target to be quiet before a sample.
const SETTLE_LIMIT: Duration = Duration::from_secs(5);
/// Least time for a loop whose time is limited.
const LEAST_WRITE_LIMIT_NS: u64 = 100_000_000;

/// Runs a plan with workers of that command. `observe` hears of everything, before the next thing happens; what it
/// fails at ends the run.
///
/// # Errors
/// No worker can be started, a target is filled by others, or `observe` failed. A fault in a sample is no
/// error but that sample's outcome.
pub fn supervise(
    mut plan: Plan,
    schedule: &mut dyn Schedule,
    workers: Workers<'_>,
    written: &mut Written,
    observe: &mut Observer<'_>,
) -> Result<End, RunnerError> {
    let (taken, probes_ns) = (std::mem::take(&mut plan.taken), std::mem::take(&mut plan.probes_ns));
    let mut run = Run {
        plan: &plan,
        schedule,
        workers,
        taken,
        disturbance: Disturbance::of(probes_ns),
        written,
        start: Instant::now(),
        taken_here: 0,
    };
    run.resume_counts();
    run.rounds(observe)
}

struct Run<'p> {
    plan: &'p Plan,
    schedule: &'p mut dyn Schedule,
    workers: Workers<'p>,
    taken: Vec<Vec<Taken>>,
    disturbance: Disturbance,
    written: &'p mut Written,
    // When this process began, and how many samples it has taken.
    start: Instant,
    taken_here: u32,
}

impl Run<'_> {
    fn resume_counts(&mut self) {
        for (planned, samples) in self.plan.cases.iter().zip(&self.taken) {
            (0..samples.len()).for_each(|_| self.written.add_sample(planned.target, &planned.case, false));
        }
        self.written.end_worker();
    }

    fn rounds(&mut self, observe: &mut Observer<'_>) -> Result<End, RunnerError> {
        // A round that was broken off is finished first.
        let mut round = self.taken.iter().flatten().map(|sample| sample.round).max().unwrap_or(0);
        loop {
            let wanting = self.wanted().iter().filter(|&&wanted| wanted > 0).count();
            if wanting == 0 {
                return Ok(End::Complete);
            }
            // A round that cannot be finished would give some cases more samples than others.
            if self.budget_ends_within(wanting) {
                return Ok(End::Budget);
            }
            if let Some(end) = self.round(round, observe)? {
                return Ok(end);
            }
            round += 1;
        }
    }

    /// Every case that wants a sample once, and disturbed ones again, so that as many cases as can be are compared inside
    /// the round. Why the run ends in the middle; none if it goes on.
    fn round(&mut self, round: u32, observe: &mut Observer<'_>) -> Result<Option<End>, RunnerError> {
        let order = order(self.plan.settings.seed, round, &self.plan.cases);
        // Who comes to want a sample in the middle waits for the next round, so that all who do are in the same one.
        let due = self.wanted().to_vec();
        let last = |run: &Self, index: usize| run.taken[index].last().copied().filter(|it| it.round == round);
        for &index in &order {
            if due[index] > 0
                && last(self, index).is_none()
                && let Some(end) = self.turn(index, round, observe)?
            {
                return Ok(Some(end));
            }
        }
        for _ in 0..MOST_REPEATS {
            for &index in &order {
                if last(self, index).is_some_and(|sample| sample.is_disturbed)
                    && let Some(end) = self.turn(index, round, observe)?
                {
                    return Ok(Some(end));
                }
            }
        }
        Ok(None)
    }

    /// One sample of a case, if it wants one.
    fn turn(
        &mut self,
        index: usize,
        round: u32,
        observe: &mut Observer<'_>,
    ) -> Result<Option<End>, RunnerError> {
        let wanted = self.wanted();
        if wanted[index] == 0 {
            return Ok(None);
        }
        let left = wanted.iter().sum();
        if self.budget_ends_within(0) {
            return Ok(Some(End::Budget));
        }
        let planned = &self.plan.cases[index];
        let bytes = self.written.of_sample(planned.target, &planned.case, self.reads_back());
        if self.written.left_bytes().is_some_and(|left| bytes > left) {
            return Ok(Some(End::MaxBytes));
        }
        observe(Event::Started { planned, left }).map_err(RunnerError::Observer)?;
        let Some(sample) = self.sample(index, round)? else { return Ok(Some(End::Stopped)) };
        observe(Event::Taken { planned, sample: &sample }).map_err(RunnerError::Observer)?;
        self.taken[index].push(Taken::of(&sample));
        self.taken_here += 1;
        Ok(None)
    }

    /// Whether any sample is read back, and not only measured.
    fn reads_back(&self) -> bool {
        self.plan.settings.verify != Verify::Never
    }

    /// Whether the time for so many more samples, by the mean of those before, is more than is left.
    fn budget_ends_within(&self, samples: usize) -> bool {
        let Some(budget) = self.plan.settings.budget_ns.map(Duration::from_nanos) else { return false };
        let elapsed = self.start.elapsed();
        let mean = elapsed.checked_div(self.taken_here).unwrap_or_default();
        elapsed + mean.saturating_mul(u32::try_from(samples).unwrap_or(u32::MAX)) >= budget
    }

    /// How many samples each case still wants.
    fn wanted(&mut self) -> &[usize] {
        let spent = Spent { elapsed: self.start.elapsed(), bytes: self.written.sample_bytes() };
        self.schedule.wanted(&self.taken, spent)
    }

    /// One sample of a case; none if the run was told to stop.
    fn sample(&mut self, index: usize, round: u32) -> Result<Option<Sample>, RunnerError> {
        let (plan, Planned { target, case }) = (self.plan, &self.plan.cases[index]);
        let planned_target = plan.targets.get(*target).cloned().unwrap_or_default();
        let request = SampleRequest {
            case: case.to_string(),
            target: *target,
            sync_all: planned_target.sync_all,
            round,
            file_stem: self.workers.casualties.file_stem("sample"),
            remove_first: self.workers.casualties.has_files_in(*target),
            reserve: planned_target.reserve,
            data_seed: plan.settings.seed,
            read_back: plan.settings.verify.extent(self.taken[index].is_empty()),
            settle_limit_ns: nanoseconds(SETTLE_LIMIT),
            warm: true,
            write_limit_ns: self.write_limit_ns(),
            device_number: planned_target.device_number.clone(),
            cpu_stats: self.workers.at_work()?.hold_ups.cpu_stats(),
        };
        let limit = plan.settings.timeout_ns.map_or_else(|| deadline(case), Duration::from_nanos);
        self.written.add_sample(*target, case, self.reads_back());
        let mut sample = match self.workers.ask(*target, request, limit)? {
            Answer::Reply(Ok(sample)) => {
                self.workers.casualties.are_removed(*target);
                sample
            }
            Answer::Reply(Err(shortage)) => {
                return Err(no_room(&planned_target.path, case, shortage));
            }
            Answer::Lost(outcome) => {
                self.written.end_worker();
                Sample::without_figures(round, outcome)
            }
            Answer::Stopped => return Ok(None),
        };
        if sample.outcome.is_ok() {
            let judged = self.disturbance.judge(&sample);
            let held_up = self.workers.at_work()?.hold_ups.reason();
            // The engine may have seen a reason of its own.
            sample.disturbed = sample.disturbed.or(held_up).or(judged);
        }
        Ok(Some(sample))
    }

    /// A sample's share of the budget. Loops that look at the clock anyway end there, so that a few slow cases
    /// do not eat the time of all others; what they wrote until then is in the sample.
    fn write_limit_ns(&self) -> Option<u64> {
        let samples = (self.plan.cases.len() as u64).saturating_mul(u64::from(self.plan.settings.samples));
        let budget_ns = self.plan.settings.budget_ns?;
        Some(budget_ns.checked_div(samples).unwrap_or(budget_ns).max(LEAST_WRITE_LIMIT_NS))
    }
}
