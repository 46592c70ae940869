//! Which of several cases reaches one goal on one target with the least time and effort.
//!
//! A contest proceeds in blocks of one sample for each live case, through three stages:
//!
//! 1. The first cases, which are the baseline and the portfolio.
//! 2. The search among further candidates, if there are any and while the limits pay for it, see [`Search`].
//! 3. The final, in which the answer's simpler forms join when it is decided: the same case with one choice less
//!    (ablation: Fawcett and Hoos, *Analysing Differences between Algorithm Configurations through Ablation*, Journal of
//!    Heuristics 2016).
//!
//! In the first and the last stage, cases that are clearly beaten get no samples, until the leader turns out to be slower
//! (after successive elimination: Even-Dar, Mannor and Mansour, *Action Elimination and Stopping Conditions*, JMLR 2006).
//! A contest without further candidates goes from the first stage to the last without a border between them.
//!
//! [`Standings`] decides, as it does in reports.

use std::fmt;
use std::sync::Arc;

use writebench_model::{Case, Content, ContestAnswer, Decision, Experience};
use writebench_stats::{ContestSample, Deciding, Standings, as_f64};

use self::known::Known;
use self::search::Search;
use crate::planned_target::PlannedTarget;
use crate::round_order::PlannedCase;
use crate::schedule::SampleSummary;

mod coordinates;
mod experience;
mod known;
mod search;

/// Whether a case may join, given the baseline. Without one, any may.
#[derive(Clone, Default)]
pub struct Rule(pub Option<Arc<Allows>>);

type Allows = dyn Fn(&Case, &Case) -> bool;

impl Rule {
    pub fn allows(&self, case: &Case, baseline: &Case) -> bool {
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
    target: usize,
    // The baseline is the first. In this file a `place` is an index here, and a position one in the plan.
    cases: Vec<Contestant>,
    // The places of those that get a sample in the next block.
    alive: Vec<usize>,
    rule: Rule,
    // The blocks of the first stage and of the final.
    blocks: usize,
    state: State,
    // None in the final, and without further candidates.
    search: Option<Search>,
}

#[derive(Debug, Clone)]
struct Contestant {
    /// The position in the plan. None before the case has joined it.
    position: Option<usize>,
    case: Case,
}

/// What more samples are for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum State {
    /// No case has the samples of an answer.
    Unknown,
    /// There is an answer, and others may be better. The loss is the one that the answer risks.
    Open {
        expected_loss: f64,
    },
    /// More samples only lower the bound on what a better case could gain.
    Decided {
        bound: f64,
    },
    Over,
}

/// What the limits still pay for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    /// The share of the limits that is used up.
    pub spent: f64,
    /// About how many more samples of the contest fit.
    pub samples: usize,
}

/// The blocks of the first cases before a search.
const FIRST_BLOCKS: usize = 3;
/// The share of the limits at which a search ends. The rest is for the final.
const SEARCH_SHARE: f64 = 0.6;
/// The baseline, and two cases that compete with it.
const FEWEST_ALIVE: usize = 3;
/// More blocks hardly narrow an interval.
const MOST_BLOCKS: usize = 100;
/// A bound of 2 % is as good as none.
const LOW_BOUND: f64 = 1.02;
/// The baseline's place.
const BASELINE: usize = 0;

impl Contest {
    /// Measures all cases. The baseline is first, and numbers are positions in the plan.
    pub fn new(target: usize, cases: Vec<(usize, Case)>, rule: Rule) -> Self {
        let contestant = |(position, case)| Contestant {
            position: Some(position),
            case,
        };
        let cases: Vec<Contestant> = cases.into_iter().map(contestant).collect();
        Self {
            target,
            alive: (0..cases.len()).collect(),
            cases,
            rule,
            blocks: 0,
            state: State::Unknown,
            search: None,
        }
    }

    /// The same with further candidates, which join the plan when they are measured. The experience says which are
    /// promising.
    pub fn searching(mut self, candidates: Vec<Case>, experience: &Experience) -> Self {
        if candidates.is_empty() {
            return self;
        }
        let unplanned = |case| Contestant {
            position: None,
            case,
        };
        self.cases.extend(candidates.into_iter().map(unplanned));
        let cases: Vec<&Case> = self.cases.iter().map(|one| &one.case).collect();
        self.search = Some(Search::among(&cases, experience));
        self
    }

    pub(crate) fn state(&self) -> State {
        if self.alive.is_empty() {
            State::Over
        } else {
            self.state
        }
    }

    /// How many blocks of the first stage and of the final were taken.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// The positions in the plan that get a sample in the next block.
    pub(crate) fn alive(&self) -> impl Iterator<Item = usize> + '_ {
        self.alive
            .iter()
            .filter_map(|&place| self.cases[place].position)
    }

    /// The mean of all cases.
    pub(crate) fn sample_bytes(&self) -> f64 {
        let bytes: u64 = self
            .cases
            .iter()
            .map(|one| one.case.bytes_written())
            .fold(0, u64::saturating_add);
        as_f64(bytes) / as_f64(self.cases.len().max(1) as u64)
    }

    /// What all samples so far say. None before the first sample.
    pub(crate) fn decision(
        &self,
        taken: &[Vec<SampleSummary>],
        targets: &[PlannedTarget],
    ) -> Option<Decision> {
        let target = targets.get(self.target)?;
        let plain = &self.cases.first()?.case;
        let places = 0..self.cases.len();
        if places
            .clone()
            .all(|place| self.samples(place, taken).is_empty())
        {
            return None;
        }
        let judged = Deciding::among(&self.able_samples(taken));
        let standings = Standings::of(&judged.by_round);
        let compared = places.filter(|&place| standings.is_compared(place)).count();
        let answer = self.answer(&standings, taken).and_then(|place| {
            let name = |place: usize| self.cases[place].case.to_string();
            let as_good = standings.as_good_as(place).into_iter().map(name).collect();
            Some(ContestAnswer::new(
                name(place),
                standings.bound(place)?,
                as_good,
            ))
        });
        Some(Decision {
            target: target.name.clone(),
            workload: plain.workload(),
            answer,
            compared: u32::try_from(compared).unwrap_or(u32::MAX),
            candidates: u32::try_from(self.cases.len()).unwrap_or(u32::MAX),
            counts_disturbed: judged.counts_disturbed,
        })
    }

    /// Ends a block: drops beaten cases, and lets others join. `next` is the position in the plan of the first case
    /// returned, and an answer needs at least `fewest` samples.
    pub(crate) fn end_block(
        &mut self,
        taken: &[Vec<SampleSummary>],
        next: usize,
        fewest: usize,
        left: Left,
    ) -> Vec<PlannedCase> {
        self.drop_failed(taken);
        let has_first = self.blocks + 1 >= FIRST_BLOCKS || left.spent >= SEARCH_SHARE;
        if self.search.is_some() && has_first {
            self.blocks = FIRST_BLOCKS;
            self.search_on(taken, left);
            if self.search.is_none() {
                self.keep_affordable(taken, fewest, left.samples);
            }
            return self.plan_alive(next);
        }
        self.blocks += 1;
        let standings = self.standings(taken);
        self.choose_alive(&standings);
        self.keep_affordable(taken, fewest, left.samples);
        let answer = self
            .answer(&standings, taken)
            .filter(|&answer| standings.count(answer) >= fewest);
        let Some(answer) = answer else {
            self.state = if self.blocks < MOST_BLOCKS {
                State::Unknown
            } else {
                State::Over
            };
            return Vec::new();
        };
        let mut added = Vec::new();
        let mut is_decided = false;
        if self.lacks_ratio(answer, &standings, taken) {
            self.measure_also(BASELINE);
            self.measure_also(answer);
        } else if standings.is_decided(answer) && !self.has_newcomer(&standings) {
            added = self.add_simpler(answer, next, &standings, taken);
            is_decided = !self.has_newcomer(&standings);
        }
        self.state = self.state_with(answer, is_decided, &standings);
        added
    }

    /// Whether a live case has too few samples to be the answer. It may be a better one.
    fn has_newcomer(&self, standings: &Standings) -> bool {
        self.alive.iter().any(|&place| !standings.can_answer(place))
    }

    fn state_with(&self, answer: usize, is_decided: bool, standings: &Standings) -> State {
        if self.blocks >= MOST_BLOCKS {
            return State::Over;
        }
        match standings.bound(answer) {
            Some(bound) if is_decided => {
                if bound <= LOW_BOUND || self.alive.len() < 2 {
                    State::Over
                } else {
                    State::Decided { bound }
                }
            }
            _ => State::Open {
                expected_loss: standings.expected_loss(answer),
            },
        }
    }

    /// The next block of the search, or the first one of the final.
    fn search_on(&mut self, taken: &[Vec<SampleSummary>], left: Left) {
        let Some(mut search) = self.search.take() else {
            return;
        };
        // A disturbed sample does not decide, but the search learns from it. Otherwise a busy machine would measure the
        // same few candidates again and again.
        let all = Deciding::all(&self.able_samples(taken));
        let standings = Standings::of(&all.by_round);
        let known: Vec<Known> = (0..search.candidates())
            .map(|place| self.known(place, &standings, taken))
            .collect();
        let newcomers = if left.spent < SEARCH_SHARE {
            search.newcomers(&known, left)
        } else {
            Vec::new()
        };
        if newcomers.is_empty() {
            self.alive = search.finalists(&known);
            if self.is_able(BASELINE, taken) {
                self.measure_also(BASELINE);
            }
            // The first cases have the samples to be beaten, and the limits may pay for few more.
            self.choose_alive(&self.standings(taken));
            return;
        }
        self.search = Some(search);
        self.alive = newcomers;
        // Neighbours in time show what the state of the machine did to the newcomers.
        if let Some(leader) = standings.leader(0..self.cases.len()) {
            self.measure_also(leader);
        }
    }

    fn known(&self, place: usize, standings: &Standings, taken: &[Vec<SampleSummary>]) -> Known {
        if !self.is_able(place, taken) {
            return Known::Failed;
        }
        match standings.log_time(place) {
            Some(log) => Known::Time {
                log,
                samples: standings.count(place),
            },
            None => Known::Nothing,
        }
    }

    fn standings(&self, taken: &[Vec<SampleSummary>]) -> Standings {
        Standings::of(&Deciding::among(&self.able_samples(taken)).by_round)
    }

    /// The good samples of each case, none of those that failed.
    fn able_samples(&self, taken: &[Vec<SampleSummary>]) -> Vec<Vec<ContestSample>> {
        let mut able = Vec::new();
        for place in 0..self.cases.len() {
            let samples = self.samples(place, taken).iter();
            let good = samples.filter_map(SampleSummary::in_contest);
            able.push(if self.is_able(place, taken) {
                good.collect()
            } else {
                Vec::new()
            });
        }
        able
    }

    /// The baseline is a rival, unless it failed or the user's program cannot have it.
    fn answer(&self, standings: &Standings, taken: &[Vec<SampleSummary>]) -> Option<usize> {
        let plain = &self.cases.first()?.case;
        let is_rival = self.is_able(BASELINE, taken) && self.rule.allows(plain, plain);
        let effort =
            |place: usize| (place != BASELINE).then(|| self.cases[place].case.complexity());
        let rivals = (0..self.cases.len()).filter(|&place| place != BASELINE || is_rival);
        standings.answer(
            &rivals
                .map(|place| (place, effort(place)))
                .collect::<Vec<_>>(),
        )
    }

    /// An answer that joined late has few rounds with the baseline, and readers ask how much it gains.
    fn lacks_ratio(
        &self,
        answer: usize,
        standings: &Standings,
        taken: &[Vec<SampleSummary>],
    ) -> bool {
        self.blocks < MOST_BLOCKS
            && answer != BASELINE
            && self.is_able(BASELINE, taken)
            && !standings.are_compared(answer, BASELINE)
    }

    fn measure_also(&mut self, place: usize) {
        if !self.alive.contains(&place) {
            self.alive.push(place);
        }
    }

    fn samples<'t>(&self, place: usize, taken: &'t [Vec<SampleSummary>]) -> &'t [SampleSummary] {
        self.cases[place]
            .position
            .and_then(|position| taken.get(position))
            .map_or(&[], Vec::as_slice)
    }

    fn is_able(&self, place: usize, taken: &[Vec<SampleSummary>]) -> bool {
        !has_failed(&self.cases[place].case, self.samples(place, taken))
    }

    fn drop_failed(&mut self, taken: &[Vec<SampleSummary>]) {
        let mut alive = std::mem::take(&mut self.alive);
        alive.retain(|&place| self.is_able(place, taken));
        self.alive = alive;
    }

    /// Drops cases that the leader beats, except that the baseline keeps the samples of its ratio to the answer.
    /// Cases return if later samples of the leader were slower: on a busy machine, the first ones may have been
    /// lucky.
    fn choose_alive(&mut self, standings: &Standings) {
        let Some(leader) = standings.leader(0..self.cases.len()) else {
            return;
        };
        let was_alive = std::mem::take(&mut self.alive);
        let is_alive = |&place: &usize| {
            let is_needed = place == BASELINE && !standings.can_answer(place);
            let may_win = !standings.is_beaten(place, leader);
            if was_alive.contains(&place) {
                is_needed || may_win
            } else {
                standings.is_compared(place) && may_win
            }
        };
        self.alive = (0..self.cases.len()).filter(is_alive).collect();
    }

    /// Keeps only the fastest so far, if the limits do not pay for `fewest` samples of all live cases. An answer among few
    /// is better than none among many.
    fn keep_affordable(&mut self, taken: &[Vec<SampleSummary>], fewest: usize, samples: usize) {
        let all = Deciding::all(&self.able_samples(taken));
        let standings = Standings::of(&all.by_round);
        let log_time = |place: usize| standings.log_time(place).unwrap_or(f64::INFINITY);
        let mut fastest = self.alive.clone();
        // The baseline is needed for the ratio of any answer.
        fastest.sort_by(|&a, &b| {
            let baseline_first = (b == BASELINE).cmp(&(a == BASELINE));
            baseline_first.then(log_time(a).total_cmp(&log_time(b)))
        });
        while fastest.len() > FEWEST_ALIVE {
            let counts = fastest.iter().map(|&place| standings.count(place));
            let missing = fewest.saturating_sub(counts.min().unwrap_or(0));
            if fastest.len() * missing <= samples {
                break;
            }
            fastest.pop();
        }
        self.alive.retain(|place| fastest.contains(place));
    }

    /// Lets the cases join that have one choice less than the answer. Returns those that the plan lacks.
    fn add_simpler(
        &mut self,
        answer: usize,
        next: usize,
        standings: &Standings,
        taken: &[Vec<SampleSummary>],
    ) -> Vec<PlannedCase> {
        let plain = self.cases[BASELINE].case.clone();
        for case in self.cases[answer].case.simplifications(&plain) {
            match self.cases.iter().position(|one| one.case == case) {
                Some(place) => {
                    let is_known =
                        standings.can_answer(place) || standings.is_beaten(place, answer);
                    if !is_known && self.is_able(place, taken) {
                        self.measure_also(place);
                    }
                }
                None if self.rule.allows(&case, &plain) => {
                    self.alive.push(self.cases.len());
                    self.cases.push(Contestant {
                        position: None,
                        case,
                    });
                }
                None => {}
            }
        }
        let added = self.plan_alive(next);
        if !added.is_empty() {
            self.measure_also(answer);
        }
        added
    }

    /// Gives the live cases that are not in the plan the positions from `next` on, and returns them in this order.
    fn plan_alive(&mut self, next: usize) -> Vec<PlannedCase> {
        let mut added = Vec::new();
        for &place in &self.alive {
            let contestant = &mut self.cases[place];
            if contestant.position.is_none() {
                contestant.position = Some(next + added.len());
                added.push(PlannedCase {
                    target: self.target,
                    case: contestant.case.clone(),
                });
            }
        }
        added
    }
}

/// Whether a sample failed, or shared blocks in place of a copy of bytes.
pub(crate) fn has_failed(case: &Case, samples: &[SampleSummary]) -> bool {
    let may_share = case.workload().content == Content::SharedCopy;
    samples
        .iter()
        .any(|sample| !sample.is_ok || sample.shares_blocks && !may_share)
}
