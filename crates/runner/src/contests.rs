//! Contests for several goals at once, in blocks.
//!
//! A block has one sample of each live case of a goal, so the compared samples are neighbours in time, and
//! drift affects them alike. A goal begins when the one before has an answer, so a slow or busy machine answers
//! the first goals instead of none. It searches for faster cases as long as its equal share of the limits lasts. Then
//! each block goes where it promises most: to the goal whose answer risks the largest loss per second of measuring.

use std::ptr;
use std::time::Duration;

use writebench_model::{Decision, Goal, Settings};
use writebench_stats::{as_f64, median};

use crate::contest::{Contest, Left, State};
use crate::planned_target::PlannedTarget;
use crate::round_order::PlannedCase;
use crate::schedule::{SampleSummary, Schedule, Spent};

#[derive(Debug, Default)]
pub struct Contests {
    goals: Vec<GoalProgress>,
    // The least samples of an answer.
    fewest: usize,
    budget: Option<Duration>,
    max_bytes: Option<u64>,
    // Whether the samples end at the budget here. Otherwise the run ends there, also within a loop over records.
    ends_itself: bool,
    // The goal of the current block.
    current: usize,
    // The positions in the plan that the block measures, with the samples that each has at the end.
    block: Vec<(usize, usize)>,
    // What was spent at the last call of `wanted`.
    spent: Spent,
    samples: usize,
    // The cases of the plan, also those that joined.
    cases: usize,
    added: Vec<PlannedCase>,
    wanted: Vec<usize>,
}

#[derive(Debug)]
struct GoalProgress {
    // One for each target. Their cases are measured in the same blocks.
    contests: Vec<Contest>,
    // The time of each sample, with everything around it.
    sample_seconds: Vec<f64>,
    is_left_out: bool,
    // Whether its part of the bytes does not pay for another block.
    is_exhausted: bool,
}

/// The most blocks before the next goal begins although there is no answer, because too many samples fail.
const MOST_FIRST_BLOCKS: usize = 12;

/// The time limit of a loop over records, as a share of the budget.
const LOOP_SHARE: f64 = 0.1;

impl Contests {
    /// Each goal has a contest for each target. Goals are in the order of their importance: the last ones are
    /// left out if the limits do not pay for all.
    pub fn new(goals: Vec<Vec<Contest>>, settings: &Settings) -> Self {
        let goals = goals.into_iter().map(GoalProgress::new).collect();
        Self {
            goals,
            fewest: settings.samples as usize,
            budget: settings.budget_ns.map(Duration::from_nanos),
            max_bytes: settings.max_bytes,
            ..Self::default()
        }
    }

    /// A search for one goal, which takes the time of the budget. The settings of its samples have none, because a loop over
    /// records that a budget cuts short has no rank.
    pub fn search(contests: Vec<Contest>, settings: &Settings) -> Self {
        Self {
            ends_itself: true,
            ..Self::new(vec![contests], settings)
        }
    }

    /// Whether the next sample would end after the budget of a search.
    fn is_over(&self) -> bool {
        let sample_s = self
            .goals
            .get(self.current)
            .map_or(0.0, |goal| goal.sample_s());
        let next = self.spent.elapsed + Duration::from_secs_f64(sample_s);
        self.ends_itself && self.budget.is_some_and(|budget| next > budget)
    }

    /// What the limits leave to each contest of the current goal.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count, and saturating"
    )]
    fn left(&self) -> Left {
        let goal = &self.goals[self.current];
        let time = self.budget.map(|budget| {
            let spent = self.spent.elapsed.as_secs_f64();
            let budget = budget.as_secs_f64();
            self.allowance(self.current, (budget, spent), GoalProgress::seconds, |_| {
                1.0
            })
        });
        let bytes = self.bytes_allowance(self.current);
        let spent = |allowance: Option<Allowance>| allowance.map_or(0.0, Allowance::spent_share);
        let samples = |allowance: Option<Allowance>, each: f64| {
            allowance.map_or(f64::INFINITY, |allowance| {
                allowance.left / each.max(f64::MIN_POSITIVE)
            })
        };
        let of_goal = samples(time, goal.mean_sample_s()).min(samples(bytes, goal.sample_bytes()));
        Left {
            spent: spent(time).max(spent(bytes)),
            samples: (of_goal / as_f64(goal.contests.len().max(1) as u64)) as usize,
        }
    }

    /// A goal's part of the bytes. A goal of small files takes more samples than one of large files, because they cost few
    /// bytes.
    fn bytes_allowance(&self, goal: usize) -> Option<Allowance> {
        let most = self.max_bytes?;
        let left = self.spent.left_bytes.unwrap_or(most);
        let spent = as_f64(most.saturating_sub(left));
        let weight = |goal: &GoalProgress| goal.sample_bytes().sqrt();
        Some(self.allowance(goal, (as_f64(most), spent), GoalProgress::bytes, weight))
    }

    /// A goal's part of a limit, by its weight. What goals without an open contest have left belongs to the others.
    fn allowance(
        &self,
        goal: usize,
        (limit, spent): (f64, f64),
        own: impl Fn(&GoalProgress) -> f64,
        weight: impl Fn(&GoalProgress) -> f64,
    ) -> Allowance {
        let is_open = |goal: &&GoalProgress| goal.is_open();
        let of_finished: f64 = self
            .goals
            .iter()
            .filter(|goal| !is_open(goal))
            .map(&own)
            .sum();
        let weights: f64 = self.goals.iter().filter(is_open).map(&weight).sum();
        let share = |goal: &GoalProgress| {
            (limit - of_finished) * weight(goal) / weights.max(f64::MIN_POSITIVE)
        };
        let current = &self.goals[goal];
        let others = self.goals.iter().filter(|&goal| !ptr::eq(goal, current));
        let reserved: f64 = others
            .filter(is_open)
            .map(|goal| (share(goal) - own(goal)).max(0.0))
            .sum();
        Allowance {
            share: share(current),
            left: (limit - spent - reserved).max(0.0),
        }
    }

    /// The time since the last call belongs to the samples taken since then.
    fn count_time(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) {
        let samples = taken.iter().map(Vec::len).sum::<usize>();
        let new = samples.saturating_sub(self.samples);
        if new > 0 && self.samples > 0 {
            let seconds = spent
                .elapsed
                .saturating_sub(self.spent.elapsed)
                .as_secs_f64()
                / as_f64(new as u64);
            self.goals[self.current]
                .sample_seconds
                .extend(std::iter::repeat_n(seconds, new));
        }
        (self.samples, self.spent) = (samples, spent);
    }

    fn end_block(&mut self, taken: &[Vec<SampleSummary>]) {
        let left = self.left();
        for contest in &mut self.goals[self.current].contests {
            let added = contest.end_block(taken, self.cases, self.fewest, left);
            self.cases += added.len();
            self.added.extend(added);
        }
    }

    /// The goal of the next block. None if no goal needs more samples.
    fn next_goal(&mut self) -> Option<usize> {
        self.leave_bytes_to_others();
        for goal in 0..self.goals.len() {
            // Goals before it may have ended early, and left it their time.
            self.goals[goal].is_left_out = self.goals[goal].blocks() == 0 && !self.pays_for(goal);
            let progress = &self.goals[goal];
            let may_begin = progress.is_unknown() && progress.blocks() < MOST_FIRST_BLOCKS;
            if progress.is_open() && may_begin {
                return Some(goal);
            }
        }
        let open = (0..self.goals.len()).filter(|&goal| self.goals[goal].is_open());
        open.max_by(|&a, &b| {
            self.goals[a]
                .worth_per_second()
                .total_cmp(&self.goals[b].worth_per_second())
        })
    }

    /// A goal whose part of the bytes does not pay for another block waits. Others may have smaller files, and use the rest of
    /// the time.
    fn leave_bytes_to_others(&mut self) {
        for goal in &mut self.goals {
            goal.is_exhausted = false;
        }
        for goal in 0..self.goals.len() {
            let progress = &self.goals[goal];
            let left = self
                .bytes_allowance(goal)
                .map_or(f64::INFINITY, |bytes| bytes.left);
            let is_exhausted = progress.blocks() > 0 && progress.block_bytes() > left;
            self.goals[goal].is_exhausted = is_exhausted;
        }
    }

    /// Whether the limits suffice for the goals that have begun, and for this one.
    fn pays_for(&self, goal: usize) -> bool {
        let begun: Vec<&GoalProgress> =
            self.goals.iter().filter(|goal| goal.blocks() > 0).collect();
        let times: Vec<f64> = begun.iter().map(|goal| goal.sample_s()).collect();
        let Some(sample_s) = median(&times) else {
            return true;
        };
        let next = &self.goals[goal];
        let open = begun.iter().filter(|goal| goal.is_open());
        let left = open.map(|goal| (goal.samples_left(), goal.sample_s(), goal.sample_bytes()));
        let needed = left.chain([(next.samples_left(), sample_s, next.sample_bytes())]);
        let mut seconds = self.spent.elapsed.as_secs_f64();
        let mut bytes = as_f64(self.spent.bytes);
        for (samples, sample_s, sample_bytes) in needed {
            seconds += samples * sample_s;
            bytes += samples * sample_bytes;
        }
        self.budget
            .is_none_or(|budget| seconds <= budget.as_secs_f64())
            && self.max_bytes.is_none_or(|most| bytes <= as_f64(most))
    }
}

/// A goal's part of the time or of the bytes.
#[derive(Debug, Clone, Copy)]
struct Allowance {
    share: f64,
    left: f64,
}

impl Allowance {
    fn spent_share(self) -> f64 {
        1.0 - self.left / self.share.max(f64::MIN_POSITIVE)
    }
}

impl GoalProgress {
    fn new(contests: Vec<Contest>) -> Self {
        Self {
            contests,
            sample_seconds: Vec::new(),
            is_left_out: false,
            is_exhausted: false,
        }
    }

    fn blocks(&self) -> usize {
        self.contests.iter().map(Contest::blocks).max().unwrap_or(0)
    }

    fn is_open(&self) -> bool {
        !self.is_left_out
            && !self.is_exhausted
            && self
                .contests
                .iter()
                .any(|contest| contest.state() != State::Over)
    }

    fn is_unknown(&self) -> bool {
        self.contests
            .iter()
            .any(|contest| contest.state() == State::Unknown)
    }

    /// The typical time of a sample. The first ones pay for things that are made only once.
    fn sample_s(&self) -> f64 {
        median(&self.sample_seconds).unwrap_or(0.0)
    }

    /// The time of all its samples.
    fn seconds(&self) -> f64 {
        self.sample_seconds.iter().sum()
    }

    /// The mean time of a sample, in which slow ones count as well.
    fn mean_sample_s(&self) -> f64 {
        self.seconds() / as_f64(self.sample_seconds.len().max(1) as u64)
    }

    /// The bytes of all its samples.
    fn bytes(&self) -> f64 {
        self.sample_bytes() * as_f64(self.sample_seconds.len() as u64)
    }

    /// The samples that the goal lacks on all targets together, until it has the least number.
    fn samples_left(&self) -> f64 {
        let least = Goal::LEAST_SAMPLES * self.contests.len() as u64;
        as_f64(least.saturating_sub(self.sample_seconds.len() as u64))
    }

    fn sample_bytes(&self) -> f64 {
        let bytes: Vec<f64> = self.contests.iter().map(Contest::sample_bytes).collect();
        median(&bytes).unwrap_or(0.0)
    }

    fn block_bytes(&self) -> f64 {
        self.sample_bytes() * as_f64(self.live_cases() as u64)
    }

    fn live_cases(&self) -> usize {
        let contests = self.contests.iter();
        contests.map(|contest| contest.alive().count()).sum()
    }

    /// A goal that is decided waits for those that are not.
    fn worth_per_second(&self) -> f64 {
        const OPEN: f64 = 1e6;
        let worth = self.contests.iter().map(|contest| match contest.state() {
            State::Unknown => f64::INFINITY,
            State::Open { expected_loss } => OPEN * (1.0 + expected_loss),
            State::Decided { bound } => bound - 1.0,
            State::Over => 0.0,
        });
        let block_s = self.sample_s() * as_f64(self.live_cases() as u64);
        worth.fold(0.0, f64::max) / block_s.max(1e-6)
    }
}

impl Schedule for Contests {
    fn leaves_out_what_does_not_fit(&self) -> bool {
        true
    }

    fn wanted(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) -> &[usize] {
        self.cases = self.cases.max(taken.len());
        self.count_time(taken, spent);
        // A disturbed sample is not repeated. The next block has another one.
        let is_missing = |&(position, until): &(usize, usize)| {
            taken
                .get(position)
                .is_none_or(|samples| samples.len() < until)
        };
        while !self.block.iter().any(is_missing) {
            if !self.block.is_empty() {
                self.end_block(taken);
                self.block.clear();
            }
            let Some(goal) = self.next_goal() else { break };
            self.current = goal;
            let positions = self.goals[goal].contests.iter().flat_map(Contest::alive);
            let until = |position: usize| taken.get(position).map_or(0, Vec::len) + 1;
            self.block = positions
                .map(|position| (position, until(position)))
                .collect();
        }
        self.wanted = vec![0; taken.len()];
        if self.is_over() {
            return &self.wanted;
        }
        for &(position, _) in self.block.iter().filter(|wanted| is_missing(wanted)) {
            if let Some(wanted) = self.wanted.get_mut(position) {
                *wanted = 1;
            }
        }
        &self.wanted
    }

    fn added(&mut self) -> Vec<PlannedCase> {
        std::mem::take(&mut self.added)
    }

    fn decisions(&self, taken: &[Vec<SampleSummary>], targets: &[PlannedTarget]) -> Vec<Decision> {
        self.goals
            .iter()
            .flat_map(|goal| &goal.contests)
            .filter_map(|contest| contest.decision(taken, targets))
            .collect()
    }

    fn loop_limit(&self) -> Option<Duration> {
        self.budget
            .filter(|_| !self.ends_itself)
            .map(|budget| budget.mul_f64(LOOP_SHARE))
    }

    fn uses_part_of_round(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod search_tests;
