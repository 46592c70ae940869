//! Rounds for several goals at once. Losers are dropped, and each winner is simplified while that costs
//! nothing.
//!
//! Dropping losers is successive elimination (Even-Dar, Mannor and Mansour, *Action Elimination and
//! Stopping Conditions*, JMLR 2006). Simplifying the winner by one choice at a time is ablation (Fawcett
//! and Hoos, *Analysing Differences between Algorithm Configurations through Ablation*, Journal of
//! Heuristics 2016).

use std::fmt;
use std::sync::Arc;

use writebench_model::{Case, Content};
use writebench_stats::{CLOSE, Interval, Rounds, Verdict, recommended};

use crate::figures::{by_round, counted, is_clear_loss, verdict};
use crate::order::PlannedCase;
use crate::schedule::{SampleSummary, Schedule, Spent};

/// Whether a case may join, given the baseline. Without one, any may.
#[derive(Clone, Default)]
pub struct Rule(pub Option<Arc<Allows>>);

type Allows = dyn Fn(&Case, &Case) -> bool;

impl Rule {
    fn allows(&self, case: &Case, baseline: &Case) -> bool {
        self.0.as_ref().is_none_or(|allows| allows(case, baseline))
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rule").field(&self.0.is_some()).finish()
    }
}

#[derive(Debug, Clone)]
pub struct Contest {
    pub target: usize,
    // With their positions in the plan, the baseline first.
    cases: Vec<(usize, Case)>,
    // The cases not yet dropped.
    alive: Vec<usize>,
    rule: Rule,
    // Whether rivals are measured until each is decided, instead of the gain alone.
    is_precise: bool,
    has_winner: bool,
}

#[derive(Debug, Default)]
pub(crate) struct GoalRounds {
    contests: Vec<Contest>,
    rounds: usize,
    batch: Vec<(usize, usize)>,
    cases: usize,
    added: Vec<PlannedCase>,
    wanted: Vec<usize>,
}

/// A contest without a verdict ends after this multiple of the rounds.
const MOST_ROUNDS_FACTOR: usize = 6;
/// More rounds hardly narrow an interval.
const MOST_ROUNDS: usize = 100;

impl Contest {
    /// Measures all cases. The baseline is first, and numbers are positions in the plan.
    pub fn new(target: usize, cases: Vec<(usize, Case)>, rule: Rule) -> Self {
        let alive = (0..cases.len()).collect();
        Self { target, alive, cases, rule, is_precise: false, has_winner: false }
    }

    /// The same with only these cases at first, until each is decided.
    pub(crate) fn among(self, finalists: Vec<usize>) -> Self {
        Self { alive: finalists, is_precise: true, ..self }
    }
}

impl GoalRounds {
    /// At least this many rounds of each contest.
    pub(crate) fn new(contests: Vec<Contest>, rounds: usize) -> Self {
        Self { contests, rounds, ..Self::default() }
    }

    pub(crate) fn has_winner(&self) -> bool {
        self.contests.first().is_some_and(|contest| contest.has_winner)
    }

    fn next_round(&mut self, taken: &[Vec<SampleSummary>]) {
        for contest in &mut self.contests {
            let added = contest.end_round(self.rounds, taken, self.cases);
            self.cases += added.len();
            self.added.extend(added);
        }
        let until = |position: usize| taken.get(position).map_or(0, |samples| counted(samples)) + 1;
        let alive =
            self.contests.iter().flat_map(|contest| contest.alive.iter().map(|&place| contest.cases[place].0));
        self.batch = alive.map(|position| (position, until(position))).collect();
    }
}

impl Schedule for GoalRounds {
    fn wanted(&mut self, taken: &[Vec<SampleSummary>], _: Spent) -> &[usize] {
        self.cases = self.cases.max(taken.len());
        let is_wanted = |&(position, until): &(usize, usize)| {
            let is_failed = |samples: &[SampleSummary]| samples.iter().any(|sample| !sample.is_ok);
            taken.get(position).is_none_or(|samples| counted(samples) < until && !is_failed(samples))
        };
        if !self.batch.iter().any(is_wanted) {
            self.next_round(taken);
        }
        self.wanted = vec![0; taken.len()];
        for &(position, until) in self.batch.iter().filter(|wanted| is_wanted(wanted)) {
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

impl Contest {
    /// Drops the losers of a complete round. Returns new cases, with positions from `next` on.
    fn end_round(&mut self, rounds: usize, taken: &[Vec<SampleSummary>], next: usize) -> Vec<PlannedCase> {
        if self.alive.is_empty() {
            return Vec::new();
        }
        let places = 0..self.cases.len();
        let samples = |place: usize| taken.get(self.cases[place].0).map_or(&[][..], Vec::as_slice);
        let is_able = |place: usize| !has_failed(&self.cases[place].1, samples(place));
        let times = |place| if is_able(place) { by_round(samples(place)) } else { Vec::new() };
        let model = Rounds::fit(&places.clone().map(times).collect::<Vec<_>>());
        let fastest = |among: &[usize]| {
            let with_value = among.iter().filter_map(|&place| Some((model.value(place)?, place)));
            with_value.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, place)| place)
        };
        let to = |place, other| model.ratio(place, (&model, other));
        self.alive.retain(|&place| is_able(place));
        let leader = fastest(&self.alive);
        // A choice's contribution needs all rounds.
        let needs_all = self.is_precise && self.has_winner;
        let is_loss = |ratio: Option<Interval>| {
            if needs_all { verdict(ratio) == Verdict::Slower } else { is_clear_loss(ratio) }
        };
        self.alive.retain(|&place| place == 0 || leader.is_none_or(|leader| !is_loss(to(place, leader))));
        let is_full = |place: usize| counted(samples(place)) >= rounds && model.value(place).is_some();
        if !self.alive.iter().all(|&place| is_full(place)) {
            return Vec::new();
        }
        let alive = std::mem::take(&mut self.alive);
        let full: Vec<usize> = places.filter(|&place| is_full(place)).collect();
        let Some(best) = fastest(&full) else { return Vec::new() };
        let way = |&place: &usize| Some((place, model.value(place)?, self.cases[place].1.complexity()));
        let ways: Vec<_> = full.iter().filter(|&&place| place != 0).filter_map(way).collect();
        let gain = |place| to(0, place);
        let is_open = |ratio| verdict(ratio) == Verdict::Inconclusive;
        let plain = &self.cases[0].1;
        let is_rival = model.value(0).is_some() && self.rule.allows(plain, plain);
        let winner = recommended(&ways, is_rival.then_some(0), gain).unwrap_or(0);
        let most = if self.is_precise { MOST_ROUNDS } else { MOST_ROUNDS_FACTOR * rounds };
        self.has_winner = winner != 0;
        if !self.has_winner {
            let is_open = |&place: &usize| {
                let may_be_worth_it = |gain: Interval| gain.estimate > CLOSE || is_open(Some(gain));
                place != 0 && counted(samples(place)) < most && gain(place).is_some_and(may_be_worth_it)
            };
            self.alive = if alive.iter().any(is_open) { alive } else { Vec::new() };
            return Vec::new();
        }
        let mut measured = vec![0, winner, best];
        let mut added = Vec::new();
        let simpler = self.cases[winner].1.simplifications(plain).into_iter();
        for case in simpler.filter(|case| self.rule.allows(case, plain)) {
            match self.cases.iter().position(|(_, known)| *known == case) {
                Some(place) if is_full(place) || !is_able(place) || is_clear_loss(to(place, best)) => {}
                Some(place) => measured.push(place),
                None => added.push(PlannedCase { target: self.target, case }),
            }
        }
        if measured.len() + added.len() == 3 {
            let is_rival = |place: &usize| *place != best && is_open(to(*place, best));
            let is_short = self.is_precise && counted(samples(best)) < most;
            measured.extend(full.into_iter().filter(|place| is_short && is_rival(place)));
            measured.truncate(if measured.len() == 3 { 0 } else { measured.len() });
        }
        measured.extend(self.cases.len()..self.cases.len() + added.len());
        self.cases.extend((next..).zip(added.iter().map(|planned| planned.case.clone())));
        measured.sort_unstable();
        measured.dedup();
        self.alive = measured;
        added
    }
}

/// Whether a sample failed, or shared blocks in place of a copy of bytes.
pub(crate) fn has_failed(case: &Case, samples: &[SampleSummary]) -> bool {
    let may_share = case.contract().content == Content::SharedCopy;
    samples.iter().any(|sample| !sample.is_ok || sample.shares_blocks && !may_share)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn measured(names: &[&str], time: impl Fn(&Case) -> u64) -> Vec<(String, usize)> {
        let mut plan: Vec<Case> = names.iter().map(|name| Case::parse(name).unwrap()).collect();
        let cases = plan.iter().cloned().enumerate().collect();
        let mut schedule = GoalRounds::new(vec![Contest::new(0, cases, Rule::default())], 6);
        let mut taken: Vec<Vec<SampleSummary>> = vec![Vec::new(); plan.len()];
        for round in 0..100 {
            let wanted = schedule.wanted(&taken, Spent::default()).to_vec();
            plan.extend(schedule.added().into_iter().map(|planned| planned.case));
            taken.resize(plan.len(), Vec::new());
            for index in (0..wanted.len()).filter(|&index| wanted[index] > 0) {
                taken[index].push(SampleSummary::good(round, time(&plan[index])));
            }
        }
        plan.iter().map(ToString::to_string).zip(taken.iter().map(Vec::len)).collect()
    }

    fn has(case: &Case, part: &str) -> bool {
        case.to_string().split(',').any(|own| own == part)
    }

    #[test]
    fn three_rounds_drop_a_loser_but_never_the_baseline() {
        let time = |case: &Case| if has(case, "chunk=4MiB") { 1000 } else { 2000 };
        let measured = measured(&["write", "write,chunk=4MiB", "pwrite"], time);
        assert_eq!(measured, [("write".into(), 6), ("write,chunk=4MiB".into(), 6), ("pwrite".into(), 3)]);
    }

    #[test]
    fn useless_choices_are_taken_from_the_winner() {
        let time = |case: &Case| if has(case, "prepare=fallocate") { 1000 } else { 2000 };
        let measured = measured(&["write", "pwrite,chunk=4MiB,threads=2,prepare=fallocate"], time);
        let simplest = measured.iter().find(|(name, _)| name == "pwrite,prepare=fallocate");
        assert!(simplest.is_some_and(|(_, samples)| *samples >= 6), "{measured:?}");
        assert_eq!(measured.iter().filter(|(_, samples)| *samples == 0).count(), 0, "{measured:?}");
    }

    #[test]
    fn a_contest_continues_while_noise_may_hide_a_gain() {
        let turn = Cell::new(0_usize);
        let time = |case: &Case| {
            turn.set(turn.get() + usize::from(has(case, "threads=2")));
            if has(case, "threads=2") { [700, 1400][turn.get() % 2] } else { 1000 }
        };
        let measured = measured(&["write", "pwrite,threads=2"], time);
        assert!(measured.iter().all(|(_, samples)| *samples == 6 * MOST_ROUNDS_FACTOR), "{measured:?}");
    }

    #[test]
    fn an_unbeaten_baseline_ends_the_contest() {
        let measured = measured(&["write", "pwrite,threads=2"], |_| 1000);
        assert!(measured.iter().all(|(_, samples)| *samples == 6), "{measured:?}");
    }
}
