//! Rounds that answer several goals at once. In each of them the cases that have lost are dropped, and the winner is
//! simplified as long as that costs nothing.
//!
//! Dropping losers is successive elimination (Even-Dar, Mannor and Mansour, *Action Elimination and Stopping
//! Conditions*, JMLR 2006). Taking choices from the winner one at a time is ablation (Fawcett and Hoos, *Analysing
//! Differences between Algorithm Configurations through Ablation*, Journal of Heuristics 2016).

use writebench_model::Case;
use writebench_stats::{Rounds, Verdict};

use crate::order::PlannedCase;
use crate::race::figures::{by_round, counted, is_clear_loss, verdict};
use crate::schedule::{SampleSummary, Schedule, Spent};

/// The cases of one contract on one target.
#[derive(Debug, Clone)]
pub struct Contest {
    pub target: usize,
    /// The cases with their positions in the plan, the baseline first.
    pub cases: Vec<(usize, Case)>,
}

/// A contest under way.
#[derive(Debug)]
struct Rivals {
    contest: Contest,
    // The places of the cases that are still measured.
    alive: Vec<usize>,
}

/// The schedule of such rounds.
#[derive(Debug)]
pub(crate) struct GoalRounds {
    contests: Vec<Rivals>,
    // The rounds that a verdict takes.
    rounds: usize,
    // The positions in the plan, and the samples that each of them needs for this round.
    batch: Vec<(usize, usize)>,
    cases: usize,
    added: Vec<PlannedCase>,
    wanted: Vec<usize>,
}

/// Cases within this ratio are equally good: the simplest of them wins.
const CLOSE: f64 = 1.03;
/// A contest without a verdict ends after this multiple of the rounds.
const MOST_ROUNDS_FACTOR: usize = 2;

impl GoalRounds {
    /// At least this many rounds of each contest.
    pub(crate) fn new(contests: Vec<Contest>, rounds: usize) -> Self {
        let rivals = |contest: Contest| Rivals { alive: (0..contest.cases.len()).collect(), contest };
        Self {
            contests: contests.into_iter().map(rivals).collect(),
            rounds,
            batch: Vec::new(),
            cases: 0,
            added: Vec::new(),
            wanted: Vec::new(),
        }
    }

    fn next_round(&mut self, taken: &[Vec<SampleSummary>]) {
        for rivals in &mut self.contests {
            let added = rivals.end_round(self.rounds, taken, self.cases);
            self.cases += added.len();
            self.added.extend(added);
        }
        let until = |&place: &usize, contest: &Contest| {
            let position = contest.cases[place].0;
            (position, taken.get(position).map_or(0, |samples| counted(samples)) + 1)
        };
        let batch = self.contests.iter().flat_map(|rivals| {
            rivals.alive.iter().map(|place| until(place, &rivals.contest)).collect::<Vec<_>>()
        });
        self.batch = batch.collect();
    }
}

impl Schedule for GoalRounds {
    fn wanted(&mut self, taken: &[Vec<SampleSummary>], _: Spent) -> &[usize] {
        self.cases = self.cases.max(taken.len());
        let is_wanted = |&(position, until): &(usize, usize)| {
            taken.get(position).is_none_or(|samples| counted(samples) < until && !has_failed(samples))
        };
        if !self.batch.iter().any(is_wanted) {
            self.next_round(taken);
        }
        self.wanted = vec![0; taken.len()];
        for &(position, until) in self.batch.iter().filter(|wanted| is_wanted(wanted)) {
            // A case that was just added has no place in the plan yet.
            if let Some(wanted) = self.wanted.get_mut(position) {
                *wanted = until - counted(&taken[position]);
            }
        }
        &self.wanted
    }

    fn added(&mut self) -> Vec<PlannedCase> {
        std::mem::take(&mut self.added)
    }
}

impl Rivals {
    /// Drops the losers of a complete round. Returns the cases that are new, with positions from `next` on.
    fn end_round(&mut self, rounds: usize, taken: &[Vec<SampleSummary>], next: usize) -> Vec<PlannedCase> {
        let samples = |place: usize| taken.get(self.contest.cases[place].0).map_or(&[][..], Vec::as_slice);
        let places = 0..self.contest.cases.len();
        let times = |place| if has_failed(samples(place)) { Vec::new() } else { by_round(samples(place)) };
        let model = Rounds::fit(&places.clone().map(times).collect::<Vec<_>>());
        let fastest = |among: Vec<usize>| {
            let with_value = among.into_iter().filter_map(|place| Some((model.value(place)?, place)));
            with_value.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, place)| place)
        };
        let mut alive = self.alive.clone();
        alive.retain(|&place| !has_failed(samples(place)));
        if alive.iter().all(|&place| samples(place).is_empty()) {
            self.alive = alive;
            return Vec::new();
        }
        let leader = fastest(alive.clone());
        alive.retain(|&place| {
            let is_loss = |leader| is_clear_loss(model.ratio(place, (&model, leader)));
            place == 0 || leader.is_none_or(|leader| place == leader || !is_loss(leader))
        });
        let is_full = |place: usize| counted(samples(place)) >= rounds && model.value(place).is_some();
        if !alive.iter().all(|&place| is_full(place)) {
            self.alive = alive;
            return Vec::new();
        }
        self.alive.clear();
        let Some(best) = fastest(places.clone().filter(|&place| is_full(place)).collect()) else {
            return Vec::new();
        };
        let is_close = |place: &usize| {
            is_full(*place) && model.ratio(*place, (&model, best)).is_some_and(|ratio| ratio.estimate <= CLOSE)
        };
        let winner = places.filter(is_close).min_by_key(|&place| self.contest.cases[place].1.complexity());
        let Some(winner) = winner.filter(|&winner| winner != 0) else { return Vec::new() };
        let gain = model.ratio(0, (&model, winner));
        if verdict(gain) != Verdict::Slower && counted(samples(0)) > 0 {
            // The gain may become clear.
            if alive.iter().any(|&place| counted(samples(place)) < MOST_ROUNDS_FACTOR * rounds) {
                self.alive = alive;
            }
            return Vec::new();
        }
        let mut simpler = self.contest.cases[winner].1.simplifications(&self.contest.cases[0].1);
        simpler.retain(|case| !self.contest.cases.iter().any(|(_, known)| known == case));
        if simpler.is_empty() {
            return Vec::new();
        }
        let mut measured = vec![0, winner, best];
        measured.dedup();
        self.alive = measured;
        for (position, case) in (next..).zip(&simpler) {
            self.alive.push(self.contest.cases.len());
            self.contest.cases.push((position, case.clone()));
        }
        simpler.into_iter().map(|case| PlannedCase { target: self.contest.target, case }).collect()
    }
}

/// Whether a sample failed, or has shared blocks instead of copying them.
fn has_failed(samples: &[SampleSummary]) -> bool {
    samples.iter().any(|sample| !sample.is_ok || sample.shares_blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the cases that were measured, with their samples, if each case takes that long.
    fn measured(names: &[&str], time: impl Fn(&Case) -> u64) -> Vec<(String, usize)> {
        let mut plan: Vec<Case> = names.iter().map(|name| Case::parse(name).unwrap()).collect();
        let cases = plan.iter().cloned().enumerate().collect();
        let mut schedule = GoalRounds::new(vec![Contest { target: 0, cases }], 6);
        let mut taken: Vec<Vec<SampleSummary>> = vec![Vec::new(); plan.len()];
        for round in 0..100 {
            let wanted = schedule.wanted(&taken, Spent::default()).to_vec();
            plan.extend(schedule.added().into_iter().map(|planned| planned.case));
            taken.resize(plan.len(), Vec::new());
            for index in (0..wanted.len()).filter(|&index| wanted[index] > 0) {
                taken[index].push(SampleSummary {
                    total_ns: time(&plan[index]),
                    round,
                    is_ok: true,
                    is_accident: false,
                    is_disturbed: false,
                    shares_blocks: false,
                });
            }
        }
        plan.iter().map(ToString::to_string).zip(taken.iter().map(Vec::len)).collect()
    }

    fn has(case: &Case, part: &str) -> bool {
        case.to_string().split(',').any(|own| own == part)
    }

    #[test]
    fn a_loser_is_dropped_after_three_rounds_and_the_baseline_never() {
        let time = |case: &Case| if has(case, "chunk=4MiB") { 1000 } else { 2000 };
        let measured = measured(&["write", "write,chunk=4MiB", "pwrite"], time);
        assert_eq!(measured, [("write".into(), 6), ("write,chunk=4MiB".into(), 6), ("pwrite".into(), 3)]);
    }

    #[test]
    fn choices_that_gain_nothing_are_taken_from_the_winner() {
        let time = |case: &Case| if has(case, "prepare=fallocate") { 1000 } else { 2000 };
        let measured = measured(&["write", "pwrite,chunk=4MiB,threads=2,prepare=fallocate"], time);
        let simplest = measured.iter().find(|(name, _)| name == "pwrite,prepare=fallocate");
        assert!(simplest.is_some_and(|(_, samples)| *samples >= 6), "{measured:?}");
        assert_eq!(measured.iter().filter(|(_, samples)| *samples == 0).count(), 0, "{measured:?}");
    }

    #[test]
    fn a_baseline_that_nothing_beats_ends_the_contest() {
        let measured = measured(&["write", "pwrite,threads=2"], |_| 1000);
        assert!(measured.iter().all(|(_, samples)| *samples == 6), "{measured:?}");
    }
}
