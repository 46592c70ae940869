//! The answers of a run by the names of their goals.

use writebench_model::{Case, Goal, RunStatus};

use crate::numbers::distinct;
use crate::sentences::answer::{WorkloadAnswer, left_out};
use crate::sentences::goal_word::word;
use crate::sentences::{Report, code};

/// The case that a run recommends for a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalAnswer {
    pub goal: Goal,
    /// The target on which the case was measured.
    pub target: String,
    pub case: String,
}

impl Report {
    /// The goals of the run in its order, also those without an answer. A search has one. A run of suites or cases has
    /// none, because it compares and recommends nothing.
    pub fn goals(&self) -> Vec<Goal> {
        let cases = self.cases.iter().map(|case| &case.record);
        // The candidates of a search may do more than its goal.
        let of_contests = cases.filter(|case| !self.is_search() || case.origin.is_baseline());
        distinct(
            of_contests.filter_map(|case| self.run.goal_of(case)),
            |goal| *goal,
        )
    }

    /// The answers in the order of the run. A goal can have several: on several targets, or for several sizes.
    pub fn goal_answers(&self) -> Vec<GoalAnswer> {
        if self.run.status == RunStatus::Running {
            return Vec::new();
        }
        let first = self.run.targets.first();
        let first = first.map_or(String::new(), |target| target.path.clone());
        if let (Some(advice), Some(&goal)) = (&self.advice, self.goals().first()) {
            return vec![GoalAnswer {
                goal,
                target: first,
                case: advice.recommended.clone(),
            }];
        }
        let answer = |answer: &WorkloadAnswer| {
            let finding = &answer.finding;
            Some(GoalAnswer {
                goal: finding.goal_name?,
                target: finding.target.clone().unwrap_or_else(|| first.clone()),
                case: finding.case.clone()?,
            })
        };
        self.answers.iter().filter_map(answer).collect()
    }

    /// The arguments of `code` that print an answer: `--for log --lang c`. None without an answer. Of several, it is the one
    /// with the largest gain.
    pub fn code_arguments(&self) -> Option<String> {
        let answers = self.goal_answers();
        let goal = self.goal_with_largest_gain().or_else(|| {
            let first = answers.first()?;
            Some(first.goal)
        })?;
        let answer = answers.iter().find(|answer| answer.goal == goal)?;
        let language = self.run.settings.language();
        let case = Case::parse(&answer.case).ok()?;
        let usual = code::usual_arguments(&case, language)?;
        Some(format!("--for {} {usual}", word(goal)))
    }

    /// The target and the goal of a search that would find more: the path of the first target that is still there, and
    /// the goal with the largest gain. None for searches and other runs.
    pub fn goal_to_search(&self) -> Option<(String, &'static str)> {
        if self.is_search() || !self.is_of_goals() {
            return None;
        }
        let goal = self.goal_with_largest_gain().or_else(|| {
            let goals = self.goals();
            goals.first().copied()
        })?;
        let mut targets = self.run.targets.iter();
        let target = targets.find(|target| target.made_filesystem.is_none())?;
        Some((target.path.clone(), word(goal)))
    }

    fn goal_with_largest_gain(&self) -> Option<Goal> {
        let gain = |answer: &WorkloadAnswer| {
            let finding = &answer.finding;
            Some((finding.goal_name?, finding.gain()?))
        };
        let gains = self.answers.iter().filter_map(gain);
        gains
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(goal, _)| goal)
    }

    /// Why the run has no answer for the goal, or none at all, and what would help.
    pub fn why_no_answer(&self, wanted: Option<Goal>) -> String {
        if self.run.status == RunStatus::Running {
            return "It is still in progress.".to_owned();
        }
        let goals = self.goals();
        if goals.is_empty() && !self.is_search() && !self.cases.is_empty() {
            return "A run of suites or cases compares, and recommends nothing.".to_owned();
        }
        if wanted.is_some_and(|wanted| !goals.contains(&wanted)) && !goals.is_empty() {
            let names: Vec<&str> = goals.iter().map(|goal| goal.name()).collect();
            return format!("It is about {}.", names.join(", "));
        }
        let of_goal = match wanted {
            Some(_) => {
                let mut answers = self.answers.iter();
                let found = answers.find(|answer| answer.finding.goal_name == wanted);
                found.map(|answer| answer.sentence.clone())
            }
            None => self.answers.first().map(WorkloadAnswer::text),
        };
        of_goal
            .or_else(|| wanted.and_then(|_| left_out(&self.run, &self.cases)))
            .or_else(|| {
                self.conclusions
                    .iter()
                    .chain(&self.warnings)
                    .next()
                    .cloned()
            })
            .unwrap_or_default()
    }
}
