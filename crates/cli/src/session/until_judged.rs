//! Samples until it is known whether the requirements are met.

use std::time::Duration;

use writebench_model::{
    CaseRecord, Decision, Requirement, RunRecord, Sample, SelectedCase, Settings,
};
use writebench_report::{LimitVerdict, Watched};
use writebench_runner::{PlannedCase, PlannedTarget, SampleSummary, Schedule, Spent, is_given_up};

use super::adaptive_size::plain_of_goals;
use super::scheduled::ScheduledCases;
use crate::selection;

impl ScheduledCases {
    /// The same, but first it is found out whether plain write of each goal, or each named case, meets the requirements.
    /// `run` has the earlier samples of a resumed run.
    pub(crate) fn until_judged(
        self,
        rows: &[SelectedCase],
        settings: &Settings,
        run: &RunRecord,
    ) -> Self {
        if settings.requirements.is_empty() {
            return self;
        }
        let answers_goals = rows.iter().all(|row| row.origin.is_of_goal());
        let plain = if answers_goals {
            plain_of_goals(rows)
        } else {
            self.cases.clone()
        };
        let mut judged = Vec::new();
        for (index, case) in self.cases.iter().enumerate() {
            let row = rows.iter().find(|row| row.case == *case);
            let Some(row) = row.filter(|row| plain.contains(&row.case)) else {
                continue;
            };
            for (place, target) in run.targets.iter().enumerate() {
                let record = selection::record(row, &target.name);
                judged.push((index * run.targets.len() + place, record));
            }
        }
        let contest = Some(self.schedule).filter(|_| answers_goals && self.is_timed);
        let schedule = UntilJudged::new(judged, settings, run, contest);
        Self {
            schedule: Box::new(schedule),
            is_timed: true,
            ..self
        }
    }

    /// Records the other methods of goals only if plain write misses a requirement, so that they are measured.
    pub(crate) fn defer_contest(&mut self, rows: &[SelectedCase], run: &mut RunRecord) {
        if run.settings.requirements.is_empty() {
            return;
        }
        let plain = plain_of_goals(rows);
        let is_first = |row: &CaseRecord| {
            !row.origin.is_of_goal() || row.case.known().is_some_and(|case| plain.contains(case))
        };
        let (first, others): (_, Vec<CaseRecord>) = std::mem::take(&mut run.cases)
            .into_iter()
            .partition(is_first);
        run.cases = first;
        self.deferred
            .extend(Some(others).filter(|others| !others.is_empty()));
    }
}

/// The samples of the judged cases come first. If one misses a requirement, a contest of its goal uses the rest of the
/// time, because another way of writing may meet it.
pub(super) struct UntilJudged {
    judged: Vec<JudgedCase>,
    requirements: Vec<Requirement>,
    fewest: usize,
    most: usize,
    budget: Option<Duration>,
    contest: Option<Box<dyn Schedule>>,
    is_in_contest: bool,
    wanted: Vec<usize>,
}

struct JudgedCase {
    /// In the plan.
    position: usize,
    watched: Watched,
    verdicts: Vec<LimitVerdict>,
}

/// A loop over records ends after this share of the budget, because one long sample decides less than many short ones.
const LOOP_SHARE: f64 = 0.05;
/// A loop as long as this has a hundred records of 20 ms. With a larger budget there are more samples instead.
const LONGEST_LOOP: Duration = Duration::from_secs(2);

impl UntilJudged {
    /// The judged cases with their positions in the plan. `run` has the earlier samples of a resumed run.
    pub(super) fn new(
        judged: Vec<(usize, CaseRecord)>,
        settings: &Settings,
        run: &RunRecord,
        contest: Option<Box<dyn Schedule>>,
    ) -> Self {
        let requirements = settings.requirements.clone();
        let [fewest, most] =
            [settings.samples, settings.most_samples()].map(|samples| samples as usize);
        let of = judged.len() * requirements.len();
        let judged = judged
            .into_iter()
            .map(|(position, case)| {
                let watched = watched(case, run);
                let judge = |one: &Requirement| watched.judge(*one, of).verdict;
                JudgedCase {
                    position,
                    verdicts: requirements.iter().map(judge).collect(),
                    watched,
                }
            })
            .collect();
        Self {
            judged,
            requirements,
            fewest,
            most,
            budget: settings.budget_ns.map(Duration::from_nanos),
            contest,
            is_in_contest: false,
            wanted: Vec::new(),
        }
    }

    fn still_wanted(&self, case: &JudgedCase, taken: &[SampleSummary]) -> usize {
        let left = self.most.saturating_sub(taken.len());
        let good = case.watched.samples();
        if is_given_up(taken) {
            0
        } else if good < self.fewest {
            left.min(self.fewest - good)
        } else {
            left.min(usize::from(
                case.verdicts.contains(&LimitVerdict::Undecided),
            ))
        }
    }

    fn misses_any(&self) -> bool {
        self.judged
            .iter()
            .any(|case| case.verdicts.contains(&LimitVerdict::Missed))
    }

    /// The contest, once it has begun.
    fn begun(&self) -> Option<&dyn Schedule> {
        self.contest.as_deref().filter(|_| self.is_in_contest)
    }
}

fn watched(case: CaseRecord, run: &RunRecord) -> Watched {
    let is_same = |row: &&CaseRecord| row.case == case.case && row.target == case.target;
    let earlier = run.cases.iter().find(is_same).map(|row| &row.samples);
    let mut watched = Watched::new(case.without_samples());
    earlier
        .into_iter()
        .flatten()
        .for_each(|sample| watched.see(sample));
    watched
}

impl Schedule for UntilJudged {
    fn wanted(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) -> &[usize] {
        if !self.is_in_contest {
            self.wanted = vec![0; taken.len()];
            for case in &self.judged {
                self.wanted[case.position] = self.still_wanted(case, &taken[case.position]);
            }
            let is_over = self.wanted.iter().all(|&wanted| wanted == 0);
            self.is_in_contest = is_over && self.misses_any();
        }
        match &mut self.contest {
            Some(contest) if self.is_in_contest => contest.wanted(taken, spent),
            _ => &self.wanted,
        }
    }

    fn see(&mut self, position: usize, sample: &Sample) {
        let of = self.judged.len() * self.requirements.len();
        let mut judged = self.judged.iter_mut();
        let Some(case) = judged.find(|case| case.position == position) else {
            return;
        };
        case.watched.see(sample);
        // The first verdict counts, as in the report.
        for (requirement, verdict) in self.requirements.iter().zip(&mut case.verdicts) {
            if *verdict == LimitVerdict::Undecided
                && let Some(now) = case.watched.verdict_now(*requirement, of)
            {
                *verdict = now;
            }
        }
    }

    fn added(&mut self) -> Vec<PlannedCase> {
        self.contest
            .as_mut()
            .map_or(Vec::new(), |contest| contest.added())
    }

    fn decisions(&self, taken: &[Vec<SampleSummary>], targets: &[PlannedTarget]) -> Vec<Decision> {
        self.begun()
            .map_or(Vec::new(), |contest| contest.decisions(taken, targets))
    }

    fn loop_limit(&self) -> Option<Duration> {
        match self.begun() {
            Some(contest) => contest.loop_limit(),
            None => self
                .budget
                .map(|budget| budget.mul_f64(LOOP_SHARE).min(LONGEST_LOOP)),
        }
    }

    fn leaves_out_what_does_not_fit(&self) -> bool {
        self.begun()
            .is_some_and(|contest| contest.leaves_out_what_does_not_fit())
    }

    fn uses_part_of_round(&self) -> bool {
        self.begun()
            .is_none_or(|contest| contest.uses_part_of_round())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::Outcome;
    use writebench_testkit::{example_case, example_run};

    fn sample(round: u32, ms: u64) -> Sample {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        (sample.phases_ns.write, sample.bytes) = (ms * 1_000_000, 1 << 30);
        sample
    }

    /// A contest that wants one more sample of the second case.
    struct OneMore(Vec<usize>);

    impl Schedule for OneMore {
        fn wanted(&mut self, taken: &[Vec<SampleSummary>], _: Spent) -> &[usize] {
            self.0 = vec![0, 1usize.saturating_sub(taken[1].len())];
            &self.0
        }
    }

    /// How many samples of each case are taken, if those of the first take these times in turns.
    fn taken(require: &str, times_ms: &[u64]) -> [usize; 2] {
        let settings = Settings {
            samples: 6,
            requirements: vec![require.parse().unwrap()],
            ..Settings::default()
        };
        let row = example_case("test", "write,size=1MiB", Vec::new());
        let contest = Box::new(OneMore(Vec::new()));
        let mut schedule = UntilJudged::new(
            vec![(0, row.clone())],
            &settings,
            &example_run(),
            Some(contest),
        );
        let mut taken = vec![Vec::new(), Vec::new()];
        loop {
            let wanted = schedule.wanted(&taken, Spent::default()).to_vec();
            let Some(position) = wanted.iter().position(|&wanted| wanted > 0) else {
                return [taken[0].len(), taken[1].len()];
            };
            let round = u32::try_from(taken[position].len()).unwrap();
            let sample = sample(round, times_ms[round as usize % times_ms.len()]);
            schedule.see(position, &sample);
            let summary = SampleSummary::new(&sample, &row.workload, settings.objective);
            taken[position].push(summary);
        }
    }

    #[test]
    fn samples_end_with_the_verdict() {
        assert_eq!(taken("time<1s", &[9]), [12, 0], "met: no contest");
        assert_eq!(taken("time<1ms", &[9]), [12, 1], "missed: a contest");
        assert_eq!(taken("time<9ms", &[5, 12]), [120, 0], "undecided");
    }

    #[test]
    fn a_resumed_run_has_its_earlier_samples() {
        let settings = Settings {
            samples: 6,
            requirements: vec!["time<1s".parse().unwrap()],
            ..Settings::default()
        };
        let samples: Vec<Sample> = (0..12).map(|round| sample(round, 9)).collect();
        let row = example_case("test", "write,size=1MiB", samples.clone());
        let run = RunRecord {
            cases: vec![row.clone()],
            ..example_run()
        };
        let summary = |sample| SampleSummary::new(sample, &row.workload, settings.objective);
        let before = vec![samples.iter().map(summary).collect()];
        let mut schedule = UntilJudged::new(vec![(0, row.clone())], &settings, &run, None);
        assert_eq!(schedule.wanted(&before, Spent::default()), [0]);
    }
}
