//! A simulated machine, on which the true time of each case is known.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use writebench_model::{Case, Decision, Experience, Goal, Settings, nanoseconds};
use writebench_runner::{
    Contest, Contests, PlannedTarget, Rule, SampleSummary, Schedule as _, Spent,
};
use writebench_stats::FEWEST_COMPARED;
use writebench_testkit::TestRng;

/// The cases of a goal.
pub(super) struct Entrants {
    pub(super) goal: Goal,
    /// The baseline is the first.
    pub(super) entrants: Vec<Entrant>,
    /// Their places. They are measured first, beside the baseline.
    pub(super) portfolio: Vec<usize>,
    /// What a search knows from other environments.
    pub(super) experience: Experience,
}

pub(super) struct Entrant {
    pub(super) case: Case,
    /// The time of a sample without noise.
    pub(super) seconds: f64,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// `writebench run`, which has several goals.
    Run,
    /// The same without a search.
    PortfolioOnly,
    /// `writebench advise`, which has one goal.
    Search,
}

/// An answer, and the truth about it. A loss is the time over that of the fastest case, less 1.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) case: Case,
    /// The names of the cases that its contest could not tell from it.
    pub(super) as_good: Vec<String>,
    pub(super) seconds: f64,
    pub(super) loss: f64,
    /// The loss among the cases that the contest compared.
    pub(super) loss_of_compared: f64,
    /// What the contest says of that loss.
    pub(super) bound: f64,
}

/// One of so many deviations is larger by the factor: the standard deviation of recorded noise is 1.9 times the
/// robust one.
const OUTLIERS: usize = 10;
const OUTLIER_FACTOR: f64 = 5.0;

pub(super) struct Machine<'e> {
    goals: &'e [Entrants],
    /// The robust standard deviation of a sample's logarithm. Half of the variance is common to a block.
    noise: f64,
    /// The time of the work around a sample.
    around: Duration,
    random: TestRng,
    /// The goal and the place of each position in the plan.
    plan: Vec<(usize, usize)>,
    /// The samples of each position.
    taken: Vec<Vec<SampleSummary>>,
    spent: Spent,
}

impl<'e> Machine<'e> {
    pub(super) fn new(goals: &'e [Entrants], noise: f64, around: Duration, seed: u64) -> Self {
        Self {
            goals,
            noise,
            around,
            random: TestRng::new(seed),
            plan: Vec::new(),
            taken: Vec::new(),
            spent: Spent::default(),
        }
    }

    /// Holds the contests of a run, or of a search for the only goal. Returns the answer to each goal, if there is one.
    pub(super) fn answers(&mut self, budget: Duration, rules: Rules) -> Vec<Option<Answer>> {
        let settings = Settings {
            samples: writebench_stats::FEWEST_FOR_INTERVAL,
            budget_ns: Some(nanoseconds(budget)),
            ..Settings::default()
        };
        let contests: Vec<Contest> = (0..self.goals.len())
            .map(|goal| self.contest(goal, rules))
            .collect();
        let mut contests = if rules == Rules::Search {
            Contests::search(contests, &settings)
        } else {
            Contests::new(
                contests.into_iter().map(|contest| vec![contest]).collect(),
                &settings,
            )
        };
        self.measure(&mut contests, budget);
        let decisions = contests.decisions(&self.taken, &[PlannedTarget::default()]);
        (0..self.goals.len())
            .map(|goal| self.answer(goal, &decisions))
            .collect()
    }

    /// Plans the first cases of a goal.
    fn contest(&mut self, goal: usize, rules: Rules) -> Contest {
        let entrants = &self.goals[goal].entrants;
        let is_first = |place: &usize| *place == 0 || self.goals[goal].portfolio.contains(place);
        let (first, others): (Vec<usize>, Vec<usize>) = (0..entrants.len()).partition(is_first);
        let position = self.plan.len();
        self.plan.extend(first.iter().map(|&place| (goal, place)));
        self.taken.resize(self.plan.len(), Vec::new());
        let case = |place: usize| entrants[place].case.clone();
        let contest = Contest::new(
            0,
            (position..).zip(first.into_iter().map(case)).collect(),
            only_known(entrants),
        );
        if rules == Rules::PortfolioOnly {
            contest
        } else {
            contest.searching(
                others.into_iter().map(case).collect(),
                &self.goals[goal].experience,
            )
        }
    }

    fn measure(&mut self, contests: &mut Contests, budget: Duration) {
        for round in 0.. {
            let wanted = contests.wanted(&self.taken, self.spent).to_vec();
            let added = contests.added();
            if !added.is_empty() {
                for planned in added {
                    self.join(&planned.case);
                }
                continue;
            }
            if wanted.iter().all(|&wanted| wanted == 0) {
                return;
            }
            let common = self.deviation();
            for position in (0..wanted.len()).filter(|&position| wanted[position] > 0) {
                if self.spent.elapsed >= budget {
                    return;
                }
                self.sample(position, round, common);
            }
        }
    }

    fn join(&mut self, case: &Case) {
        let place = self.goals.iter().enumerate().find_map(|(goal, entrants)| {
            let place = entrants.place(case)?;
            Some((goal, place))
        });
        self.plan.push(place.expect("only known cases join"));
        self.taken.push(Vec::new());
    }

    fn sample(&mut self, position: usize, round: u32, common: f64) {
        let (goal, place) = self.plan[position];
        let deviation = (common + self.deviation()) * 0.5f64.sqrt();
        let seconds = self.goals[goal].entrants[place].seconds * deviation.exp();
        let time = Duration::from_secs_f64(seconds);
        self.spent.elapsed += time + self.around;
        self.taken[position].push(SampleSummary {
            total_ns: nanoseconds(time),
            timed_ns: nanoseconds(time),
            round,
            is_ok: true,
            is_accident: false,
            is_disturbed: false,
            shares_blocks: false,
        });
    }

    /// A deviation of a logarithm, with heavy tails. The sum of twelve uniform numbers is nearly normal.
    fn deviation(&mut self) -> f64 {
        const UNITS: usize = 1 << 30;
        let uniform: f64 = (0..12)
            .map(|_| self.random.below(UNITS) as f64 / UNITS as f64)
            .sum();
        let factor = if self.random.below(OUTLIERS) == 0 {
            OUTLIER_FACTOR
        } else {
            1.0
        };
        self.noise * factor * (uniform - 6.0)
    }

    fn answer(&self, goal: usize, decisions: &[Decision]) -> Option<Answer> {
        let entrants = &self.goals[goal];
        let workload = entrants.baseline().case.workload();
        let decision = decisions
            .iter()
            .find(|decision| decision.workload == workload)?;
        let answer = decision.answer.as_ref()?;
        let case = Case::parse(&answer.case).expect("a case's name");
        let seconds = entrants.entrants[entrants.place(&case)?].seconds;
        let loss = |seconds_of_others: &mut dyn Iterator<Item = f64>| {
            seconds / seconds_of_others.fold(seconds, f64::min) - 1.0
        };
        let compared = self
            .plan
            .iter()
            .zip(&self.taken)
            .filter(|((of, _), taken)| *of == goal && taken.len() >= FEWEST_COMPARED);
        Some(Answer {
            loss: loss(&mut entrants.entrants.iter().map(|one| one.seconds)),
            loss_of_compared: loss(
                &mut compared.map(|((_, place), _)| entrants.entrants[*place].seconds),
            ),
            bound: answer.bound() - 1.0,
            as_good: answer.as_good.clone(),
            case,
            seconds,
        })
    }
}

impl Entrants {
    pub(super) fn baseline(&self) -> &Entrant {
        &self.entrants[0]
    }

    fn place(&self, case: &Case) -> Option<usize> {
        let case = case.canonical();
        self.entrants
            .iter()
            .position(|entrant| entrant.case.canonical() == case)
    }

    /// The times of the answer's simpler forms, and of plain write. Those that the grid lacks are left out. None for
    /// plain write.
    pub(super) fn simpler_seconds(&self, case: &Case) -> Option<Vec<f64>> {
        let plain = &self.baseline().case;
        if case.canonical() == plain.canonical() {
            return None;
        }
        let simpler = case.simplifications(plain);
        let seconds = [plain]
            .into_iter()
            .chain(&simpler)
            .filter_map(|case| Some(self.entrants[self.place(case)?].seconds));
        Some(seconds.collect())
    }
}

/// Nothing is known of the other simpler forms, so they do not join.
fn only_known(entrants: &[Entrant]) -> Rule {
    let known: HashSet<Case> = entrants
        .iter()
        .map(|entrant| entrant.case.canonical())
        .collect();
    Rule(Some(Arc::new(move |case: &Case, _: &Case| {
        known.contains(&case.canonical())
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND: Duration = Duration::from_millis(100);

    /// The second case is 30 % faster than plain write, and the last 60 %.
    fn entrants() -> Entrants {
        let entrant = |(name, seconds): (&str, f64)| Entrant {
            case: Case::parse(name).unwrap(),
            seconds,
        };
        let cases = [
            ("write", 0.08),
            ("write,prepare=fallocate", 0.0615),
            ("write,chunk=64KiB,prepare=fallocate", 0.0614),
            ("mmap", 0.05),
        ];
        Entrants {
            goal: Goal::Stream,
            entrants: cases.into_iter().map(entrant).collect(),
            portfolio: vec![2],
            experience: Experience::default(),
        }
    }

    #[test]
    fn a_first_answer_knows_only_the_portfolio_and_a_search_all_cases() {
        let goals = [entrants()];
        let first = Machine::new(&goals, 0.01, AROUND, 1)
            .answers(Duration::from_secs(20), Rules::PortfolioOnly);
        let first = first[0].as_ref().unwrap();
        assert!((first.loss - 0.229).abs() < 0.002, "{first:?}");
        assert!(
            first.loss_of_compared < 0.002 && first.bound < 0.03,
            "{first:?}"
        );
        let found =
            Machine::new(&goals, 0.01, AROUND, 1).answers(Duration::from_secs(20), Rules::Search);
        let found = found[0].as_ref().unwrap();
        assert_eq!((found.case.to_string().as_str(), found.loss), ("mmap", 0.0));
    }

    #[test]
    fn goals_without_time_have_no_answer() {
        let stream = entrants();
        let mut durable = entrants();
        for entrant in &mut durable.entrants {
            entrant.case = Case::parse(&format!("{},sync=fsync", entrant.case)).unwrap();
        }
        let goals = [stream, durable];
        let answers = |seconds| {
            let answers = Machine::new(&goals, 0.01, AROUND, 1)
                .answers(Duration::from_secs(seconds), Rules::PortfolioOnly);
            answers.iter().flatten().count()
        };
        assert_eq!([answers(30), answers(5), answers(0)], [2, 1, 0]);
    }

    #[test]
    fn simpler_forms_are_those_that_the_grid_has_and_plain_write() {
        let entrants = entrants();
        let case = |place: usize| &entrants.entrants[place].case;
        assert_eq!(entrants.simpler_seconds(case(0)), None);
        assert_eq!(entrants.simpler_seconds(case(2)), Some(vec![0.08, 0.0615]));
    }

    #[test]
    fn the_same_seed_draws_the_same_answer() {
        let goals = [entrants()];
        let answer = |seed| {
            let answers = Machine::new(&goals, 0.075, AROUND, seed)
                .answers(Duration::from_secs(9), Rules::PortfolioOnly);
            format!("{answers:?}")
        };
        assert_eq!(answer(1), answer(1));
        assert_ne!(answer(1), answer(2));
    }
}
