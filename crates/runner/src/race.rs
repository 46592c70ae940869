//! A race: many candidates are screened cheaply, and the few that may be the fastest meet the baseline in
//! the final.
//!
//! The limits pay for fewer samples than there are candidates. So a few dissimilar ones are measured first,
//! and [`writebench_stats::GaussianProcess`] forecasts the rest. Every further batch has the candidates
//! that may be the fastest (Srinivas et al., *Gaussian Process Optimization in the Bandit Setting*, ICML
//! 2010). They are chosen one after the other as if those before were already measured (Desautels et al.,
//! *Parallelizing Exploration-Exploitation Tradeoffs*, JMLR 2014). The levels of the screening have larger
//! and larger files, like successive halving (Jamieson and Talwalkar, *Non-stochastic Best Arm
//! Identification and Hyperparameter Optimization*, AISTATS 2016). The last level checks the order at the
//! size of the final.
//!
//! The final is a contest as in runs for several goals, which drops losers and simplifies the winner. Its
//! rounds are reserved before the screening, because fewer than six cannot reach 95 %.

use std::time::Duration;

use writebench_model::{Case, Content, Decision};
use writebench_stats::as_f64;

use self::posterior::{Acquisition, LearntKernel, Posterior};
use crate::contest::{Contest, Rule, has_failed};
use crate::goal_rounds::GoalRounds;
use crate::planned_target::PlannedTarget;
use crate::round_order::PlannedCase;
use crate::sample_costs::Costs;
use crate::schedule::{SampleSummary, Schedule, Spent};
use crate::search_samples::{FEWEST_TO_LOSE, counted, floor};

mod coordinates;
mod limits;
mod posterior;

pub use self::coordinates::coordinates;
pub use self::limits::RaceLimits;

#[derive(Debug, Clone)]
pub struct Candidate {
    /// A scout: in the portfolio, or in the final of an earlier race. Earlier samples do not count, because
    /// the machine may have changed.
    pub was_finalist: bool,
    /// The number of the value on each axis, see [`coordinates()`].
    pub values: Vec<u16>,
    /// Positions in the plan, one for each size of the screening. Candidates can share a case.
    pub screening: Vec<usize>,
    /// Positions in the plan, one for each possible size of the final.
    pub finals: Vec<usize>,
}

impl Candidate {
    /// The position of the candidate's case on a level of the screening, or after those levels, at that size of the final.
    fn position(&self, level: usize, size: usize) -> usize {
        self.screening
            .get(level)
            .copied()
            .unwrap_or_else(|| self.finals[size])
    }
}

/// It depends only on the samples and the time and bytes spent.
#[derive(Debug, Default)]
pub struct Race {
    candidates: Vec<Candidate>,
    cases: Vec<Case>,
    // Always in the final.
    baseline: usize,
    limits: RaceLimits,
    // A level of the screening, then the check at the size of the final, then the final.
    stage: usize,
    is_over: bool,
    // The final's place among its possible sizes.
    size: usize,
    batch: Vec<(usize, usize)>,
    finals: GoalRounds,
    has_explored: bool,
    // Whether a final had no winner over the baseline, and the screening continues for another one with
    // files of the same size.
    is_resumed: bool,
    costs: Costs,
    learnt: LearntKernel,
    rule: Rule,
    wanted: Vec<usize>,
}

/// The most candidates in the final, beside the baseline.
const FINALISTS: usize = 4;
const LEAST_FINALISTS: usize = 2;
/// The share of the time that the screening may take, with its check at the size of the final.
const SCREENING_SHARE: f64 = 0.5;
/// The share of the screening's time that its check may take. The levels divide the rest.
const CHECK_SHARE: f64 = 0.4;
/// The final's planned share of its time: its samples may be slower than the screening suggests.
const TIME_RESERVE: f64 = 0.85;
/// No sample begins that would end later than this, as a multiple of the budget.
const MOST_OF_BUDGET: f64 = 1.05;
/// The first candidates on every level.
const SCOUTS: usize = 8;
/// The most scouts, and checked candidates, that won before.
const MOST_FOUND: usize = SCOUTS - 2;
/// The candidates compared at the size of the final before it.
const CHECKED: usize = 8;
/// More samples of a candidate on one level of the screening add little.
const MOST_SCREENED: usize = 3;
/// The part of a level's remaining samples in each further batch.
const BATCHES: usize = 3;
const LEAST_BATCH: usize = 4;
const ROUNDS: usize = writebench_stats::FEWEST_FOR_INTERVAL as usize;
/// The rounds of a final that the limits must pay for: more than the minimum, because a disturbed sample does not count
/// in its round.
const PLANNED_ROUNDS: usize = 8;

impl Race {
    /// `baseline` is an index among the candidates.
    pub fn new(
        candidates: Vec<Candidate>,
        baseline: usize,
        cases: Vec<Case>,
        limits: RaceLimits,
    ) -> Self {
        let mut race = Self {
            is_over: candidates.is_empty(),
            candidates,
            cases,
            baseline,
            limits,
            ..Self::default()
        };
        if !race.is_over {
            race.enter(0, &[]);
        }
        race
    }

    /// Lets only those simpler forms of the winner join that the rule allows.
    pub fn ruled_by(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }

    /// The level after those of the screening, with files of the final's size: first the check, then the final.
    fn final_level(&self) -> usize {
        self.limits.screening_bytes.len()
    }

    /// The level of the current stage. The check and the final have the same one.
    fn level(&self) -> usize {
        self.stage.min(self.final_level())
    }

    fn is_in_final(&self) -> bool {
        self.stage > self.final_level()
    }

    fn level_bytes(&self, level: usize) -> u64 {
        self.limits
            .screening_bytes
            .get(level)
            .copied()
            .unwrap_or_else(|| self.limits.final_bytes[self.size])
    }

    /// The position in the plan of a candidate's case on a level.
    fn position_on(&self, level: usize, candidate: usize) -> usize {
        self.candidates[candidate].position(level, self.size)
    }

    /// The position in the plan of a candidate's case on the current level.
    fn position(&self, candidate: usize) -> usize {
        self.position_on(self.level(), candidate)
    }

    /// Chooses further samples when those of the batch are taken, until some are missing or the race is over.
    fn advance(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) {
        let bytes = self.level_bytes(self.level());
        self.costs
            .count(bytes, taken.iter().map(Vec::len).sum(), spent.elapsed);
        // A sample with the largest files may take long, and the run must end near its time.
        let next = Duration::from_secs_f64(self.costs.sample_s(bytes));
        self.is_over |= spent.elapsed >= self.limits.budget
            || spent.elapsed + next > self.limits.budget.mul_f64(MOST_OF_BUDGET);
        while !self.is_over {
            let mut batch = std::mem::take(&mut self.batch);
            batch.retain(|&(index, _)| {
                !has_failed(self.case_of(index), &taken[self.position(index)])
            });
            self.batch = batch;
            let is_complete = !self
                .batch
                .iter()
                .any(|&(index, until)| counted(&taken[self.position(index)]) < until);
            if self.is_in_final() {
                self.wanted = self.finals.wanted(taken, spent).to_vec();
                let wanted = self
                    .cases
                    .iter()
                    .zip(&self.wanted)
                    .filter(|(_, wanted)| **wanted > 0);
                let bytes = wanted
                    .map(|(case, _)| case.bytes_written())
                    .fold(spent.bytes, u64::saturating_add);
                self.is_over = bytes > self.limits.max_bytes;
                if bytes > spent.bytes {
                    return;
                }
                self.end_final(taken, spent);
            } else if is_complete
                || self.costs.are_known() && self.samples_left(self.stage, spent) == 0
            {
                self.screen(self.stage, taken, spent);
            } else {
                return;
            }
        }
    }

    /// How many more samples a level of the screening can afford.
    fn samples_left(&self, level: usize, spent: Spent) -> usize {
        let own_bytes = self.level_bytes(level).max(1);
        let smallest = self.limits.final_bytes.last();
        let rounds = as_f64(ROUNDS as u64 * (LEAST_FINALISTS as u64 + 1)) / TIME_RESERVE;
        let final_s = smallest.map_or(0.0, |&bytes| rounds * self.costs.sample_s(bytes));
        let budget_s = self.limits.budget.as_secs_f64();
        let seconds = (SCREENING_SHARE * budget_s).min(budget_s - final_s);
        let bytes = as_f64(
            self.limits
                .max_bytes
                .saturating_sub(self.limits.set_aside_bytes()),
        );
        let share = match self.final_level() {
            levels if level < levels => {
                (1.0 - CHECK_SHARE) * as_f64(level as u64 + 1) / as_f64(levels as u64)
            }
            _ => 1.0,
        };
        let left_s = share * seconds - spent.elapsed.as_secs_f64();
        let left_bytes = share * bytes - as_f64(spent.bytes);
        let of_time = left_s / self.costs.sample_s(own_bytes).max(1e-6);
        let of_bytes =
            left_bytes / as_f64(own_bytes.saturating_mul(self.limits.times_written.max(1)));
        floor(of_time.min(of_bytes))
    }

    fn posterior(&mut self, level: usize, taken: &[Vec<SampleSummary>]) -> Posterior {
        let level_bytes: Vec<u64> = (0..=self.final_level())
            .map(|level| self.level_bytes(level))
            .collect();
        let field = (&*self.candidates, &*self.cases);
        Posterior::from_samples(
            field,
            (&level_bytes, self.size),
            level,
            taken,
            &mut self.learnt,
        )
    }

    /// The rivals without a failed sample.
    fn able(&self, taken: &[Vec<SampleSummary>]) -> Vec<usize> {
        let is_able = |&index: &usize| {
            let candidate = &self.candidates[index];
            let mut cases = candidate.screening.iter().chain(&candidate.finals);
            cases.all(|&case| {
                taken
                    .get(case)
                    .is_none_or(|samples| !has_failed(self.case_of(index), samples))
            })
        };
        self.rivals().filter(is_able).collect()
    }

    fn rivals(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.candidates.len()).filter(|&index| !self.is_clone(index))
    }

    /// The rivals without a failed sample, except the baseline, from the fastest forecast to the slowest.
    fn hopeful(&self, posterior: &Posterior, taken: &[Vec<SampleSummary>]) -> Vec<usize> {
        let mut hopeful = self.able(taken);
        hopeful.retain(|&index| index != self.baseline);
        hopeful.sort_by(|&a, &b| {
            posterior
                .process
                .mean(a)
                .total_cmp(&posterior.process.mean(b))
        });
        hopeful
    }

    /// Copies with shared blocks are measured with the finalists, but are not rivals of copies of bytes.
    fn is_clone(&self, index: usize) -> bool {
        self.case_of(index).workload().content == Content::SharedCopy
    }

    /// The candidate's case with the largest files.
    fn case_of(&self, index: usize) -> &Case {
        &self.cases[self.candidates[index].finals[0]]
    }

    /// Asks for one more sample of each of these candidates on a level.
    fn want(&mut self, level: usize, chosen: Vec<usize>, taken: &[Vec<SampleSummary>]) {
        self.stage = level;
        let until = |index: usize| {
            taken
                .get(self.position(index))
                .map_or(0, |samples| counted(samples))
                + 1
        };
        self.batch = chosen
            .into_iter()
            .map(|index| (index, until(index)))
            .collect();
    }

    /// Begins a level with its scouts: the baseline, the simplest other, the portfolio, and finalists of an
    /// earlier race. The first level adds some dissimilar candidates.
    fn enter(&mut self, level: usize, taken: &[Vec<SampleSummary>]) {
        let others = self.rivals().filter(|&index| index != self.baseline);
        let simplest = others.min_by_key(|&index| self.case_of(index).complexity());
        let mut chosen: Vec<usize> = std::iter::once(self.baseline).chain(simplest).collect();
        let found = self
            .able(taken)
            .into_iter()
            .filter(|index| self.candidates[*index].was_finalist);
        chosen.extend(
            found
                .filter(|index| !chosen.contains(index))
                .take(MOST_FOUND)
                .collect::<Vec<_>>(),
        );
        if level == 0 {
            let mut posterior = Posterior::unknown(&self.candidates);
            chosen
                .iter()
                .for_each(|&index| posterior.process.fantasize(index));
            let rest: Vec<usize> = self
                .rivals()
                .filter(|index| !chosen.contains(index))
                .collect();
            let missing = SCOUTS.saturating_sub(chosen.len());
            chosen.extend(posterior.choose(&rest, missing, Acquisition::MaxVariance));
        }
        self.want(level, chosen, taken);
    }

    /// Requests the next batch on a level, or begins the next level. The size of the final is chosen on
    /// entering its level, because the check's samples belong to the final.
    fn screen(&mut self, level: usize, taken: &[Vec<SampleSummary>], spent: Spent) {
        let left = self.samples_left(level, spent);
        let mut posterior = self.posterior(level, taken);
        if left > 0 {
            let mut able = self.able(taken);
            able.retain(|&index| counted(&taken[self.position_on(level, index)]) < MOST_SCREENED);
            let (most, choice) = match std::mem::replace(&mut self.has_explored, true) {
                false => (left / 2, Acquisition::MaxVariance),
                true => (
                    (left / BATCHES).max(LEAST_BATCH).min(left),
                    Acquisition::LowerBound,
                ),
            };
            // A forecast alone is not enough for the final.
            let is_unknown = |index: &usize| {
                level == self.final_level() && taken[self.position_on(level, *index)].is_empty()
            };
            let hopeful = self
                .hopeful(&posterior, taken)
                .into_iter()
                .take(FINALISTS)
                .filter(is_unknown);
            let mut chosen: Vec<usize> = hopeful.take(left).collect();
            chosen
                .iter()
                .for_each(|&index| posterior.process.fantasize(index));
            able.retain(|index| !chosen.contains(index));
            chosen.extend(posterior.choose(&able, most.saturating_sub(chosen.len()), choice));
            if !chosen.is_empty() {
                self.want(level, chosen, taken);
                return;
            }
        }
        if level == self.final_level() {
            self.enter_finals(&posterior, taken, spent);
            return;
        }
        if level + 1 == self.final_level() && !self.is_resumed {
            self.size = self.final_size(&posterior, spent);
        }
        self.enter(level + 1, taken);
    }

    /// The largest size whose smallest final has six rounds within the remaining limits.
    fn final_size(&self, posterior: &Posterior, spent: Spent) -> usize {
        let sizes = self.limits.final_bytes.len();
        (0..sizes)
            .find(|&size| self.paid(size, CHECKED, posterior, spent) >= LEAST_FINALISTS)
            .unwrap_or(sizes - 1)
    }

    /// The affordable finalists of that size, after so many checks.
    fn paid(&self, size: usize, checks: usize, posterior: &Posterior, spent: Spent) -> usize {
        let left_s = TIME_RESERVE
            * self
                .limits
                .budget
                .saturating_sub(spent.elapsed)
                .as_secs_f64();
        let left_bytes = as_f64(self.limits.max_bytes.saturating_sub(spent.bytes));
        let bytes = self.limits.final_bytes[size].max(1);
        let sample_s = self.costs.sample_s(bytes).max(1e-9);
        let left_s = left_s - sample_s * as_f64(checks as u64);
        let rounds = as_f64(PLANNED_ROUNDS as u64);
        let of_time = left_s / rounds / sample_s - posterior.times(self.baseline);
        let of_bytes =
            (left_bytes / rounds / as_f64(bytes) - 1.0) / as_f64(self.limits.times_written.max(1));
        floor(of_time.min(of_bytes))
    }

    /// Any other candidate may join as a simpler form of the winner.
    fn enter_finals(&mut self, posterior: &Posterior, taken: &[Vec<SampleSummary>], spent: Spent) {
        let most = self
            .paid(self.size, 0, posterior, spent)
            .clamp(LEAST_FINALISTS, FINALISTS);
        let mut finalists = self.hopeful(posterior, taken);
        finalists.truncate(most);
        // Smaller files put these among the best. They lose only after three rounds, because one slow
        // sample is not a proof.
        let smaller = self
            .final_level()
            .checked_sub(1)
            .map(|level| self.posterior(level, taken));
        let mut found = smaller.map_or(Vec::new(), |smaller| self.hopeful(&smaller, taken));
        found.truncate(FINALISTS);
        found.retain(|index| self.candidates[*index].was_finalist && !finalists.contains(index));
        let is_paid =
            |&count: &usize| self.paid(self.size, FEWEST_TO_LOSE * count, posterior, spent) >= most;
        found.truncate((0..=found.len()).rev().find(is_paid).unwrap_or(0));
        finalists.extend(found);
        finalists.extend(
            self.able(taken)
                .into_iter()
                .filter(|&index| index == self.baseline),
        );
        let others = self.rivals().filter(|&index| index != self.baseline);
        let rivals: Vec<usize> = std::iter::once(self.baseline).chain(others).collect();
        let clones = (0..self.candidates.len())
            .filter(|&index| self.is_clone(index))
            .collect();
        let contest = |indexes: &Vec<usize>| {
            let positions = indexes
                .iter()
                .map(|&index| self.position_on(self.final_level(), index));
            Contest::new(
                0,
                positions
                    .map(|position| (position, self.cases[position].clone()))
                    .collect(),
                self.rule.clone(),
            )
        };
        let places = finalists
            .iter()
            .filter_map(|finalist| rivals.iter().position(|rival| rival == finalist));
        let contests = vec![contest(&rivals).among(places.collect()), contest(&clones)];
        self.finals =
            GoalRounds::until_decided(vec![contests], writebench_stats::FEWEST_FOR_INTERVAL);
        (self.stage, self.is_over) = (self.final_level() + 1, finalists.is_empty());
        self.batch.clear();
    }

    /// Expensive scouts may have left few samples for the screening. Without a winner, it continues while
    /// there is time for another final.
    fn end_final(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) {
        let is_new = |&index: &usize| taken[self.position(index)].is_empty();
        let is_short = self.samples_left(self.final_level(), spent) >= LEAST_BATCH
            && self.able(taken).iter().any(is_new);
        self.is_over = self.finals.has_winner(taken) || self.is_resumed || !is_short;
        self.is_resumed = true;
        if !self.is_over {
            self.screen(0, taken, spent);
        }
    }
}

impl Schedule for Race {
    fn wanted(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) -> &[usize] {
        self.advance(taken, spent);
        if !self.is_in_final() || self.is_over {
            self.wanted = vec![0; taken.len()];
        }
        for &(candidate, until) in self.batch.iter().filter(|_| !self.is_over) {
            let position = self.position(candidate);
            self.wanted[position] = usize::from(counted(&taken[position]) < until);
        }
        &self.wanted
    }

    fn decisions(&self, taken: &[Vec<SampleSummary>], targets: &[PlannedTarget]) -> Vec<Decision> {
        self.finals.decisions(taken, targets)
    }

    fn added(&mut self) -> Vec<PlannedCase> {
        let added = self.finals.added();
        self.cases
            .extend(added.iter().map(|planned| planned.case.clone()));
        added
    }
}

#[cfg(test)]
mod tests;
