//! The answer of the newest run. An older one may be about another file, so it is never taken instead.

use anyhow::Result;
use writebench_model::{Goal, RunStatus};
use writebench_report::{Report, WorkloadAnswer, counted, quoted, visible};

use crate::database;
use crate::exit::usage;
use crate::global::Global;
use crate::selection::SAMPLES;

struct Answer {
    goal: Goal,
    target: String,
    case: String,
}

/// Says whose answer it is. `options` complete a command for each goal.
pub(super) fn recommended(wanted: Option<Goal>, options: &str, global: &Global) -> Result<String> {
    let none = || {
        usage!(
            "there is no run yet. Name a case, or let `writebench advise --for GOAL` recommend one first"
        )
    };
    let path = database::path(global.db.as_deref())?;
    let store = database::open_if_there(&path)?.ok_or_else(none)?;
    let number = store.newest_run()?.ok_or_else(none)?;
    let report = Report::from_run(Some(number), store.run(number)?);
    let mut answers = answers(&report);
    if let Some(goal) = wanted {
        answers.retain(|answer| answer.goal == goal);
    }
    let Some(first) = answers.first() else {
        return Err(no_answer(wanted, number, &report));
    };
    let goals = writebench_stats::distinct(answers.iter().map(|answer| answer.goal), |goal| *goal);
    if goals.len() > 1 {
        let longest = goals
            .iter()
            .map(|goal| goal.name().len())
            .max()
            .unwrap_or(0);
        for Answer { goal, case, .. } in &answers {
            global.output.note(&format!(
                "writebench code --for {goal:longest$} {options}  {case}"
            ));
        }
        let count = counted(goals.len(), "goal");
        return Err(usage!(
            "run {number} has answers for {count}. Name one of them by --for GOAL"
        ));
    }
    let Answer { goal, target, case } = first;
    global
        .output
        .note(&format!("From run {number}, {goal} on {target}: {case}"));
    Ok(case.clone())
}

/// The answers in the order of the run. A run on several targets has one for each.
fn answers(report: &Report) -> Vec<Answer> {
    if report.run.status == RunStatus::Running {
        return Vec::new();
    }
    let first = report
        .run
        .targets
        .first()
        .map(|target| target.path.clone())
        .unwrap_or_default();
    if let (Some(advice), Some(goal)) = (&report.advice, searched_goal(report)) {
        return vec![Answer {
            goal,
            target: first,
            case: advice.recommended.clone(),
        }];
    }
    // A suite compares the cases of a workload, which is no recommendation.
    let of_goals = report.answers.iter().filter(|_| report.is_of_goals());
    let answer = |answer: &WorkloadAnswer| {
        let finding = &answer.finding;
        let case = finding
            .case
            .clone()
            .filter(|_| finding.samples >= SAMPLES as usize)?;
        let target = finding.target.clone().unwrap_or_else(|| first.clone());
        Some(Answer {
            goal: Goal::of_workload(&answer.workload)?,
            target,
            case,
        })
    };
    of_goals.filter_map(answer).collect()
}

fn searched_goal(report: &Report) -> Option<Goal> {
    let baseline = report
        .cases
        .iter()
        .find(|case| case.record.origin.is_baseline())?;
    Goal::of_workload(&baseline.record.workload)
}

/// Names the command of the run, because its target and goal may not be those that the user remembers.
fn no_answer(wanted: Option<Goal>, number: i64, report: &Report) -> anyhow::Error {
    let run = &report.run;
    let words: Vec<String> = run
        .arguments
        .iter()
        .skip(1)
        .map(|word| quoted(word))
        .collect();
    let command = format!("writebench {}", words.join(" "));
    let goal = wanted.map_or(String::new(), |goal| format!(" for {goal}"));
    let why = why_not(wanted, report);
    usage!(
        "run {number}, the newest ({}), has no recommendation{goal}. {} Name a case, or search with `writebench advise \
         --for GOAL`",
        visible(&command),
        why.trim()
    )
}

fn why_not(wanted: Option<Goal>, report: &Report) -> String {
    if report.run.status == RunStatus::Running {
        return "It is still in progress.".to_owned();
    }
    if report.is_search() {
        let searched = searched_goal(report);
        return match wanted.is_none() || wanted == searched || searched.is_none() {
            true => report.conclusions.first().cloned().unwrap_or_default(),
            false => "It searched for another goal.".to_owned(),
        };
    }
    if !report.is_of_goals() {
        return "A run of suites or cases compares, and recommends nothing.".to_owned();
    }
    let is_meant = |answer: &&WorkloadAnswer| {
        wanted.is_none_or(|wanted| Goal::of_workload(&answer.workload) == Some(wanted))
    };
    let answer = report
        .answers
        .iter()
        .find(is_meant)
        .map(WorkloadAnswer::text);
    answer.unwrap_or_else(|| "It did not measure this goal.".to_owned())
}
