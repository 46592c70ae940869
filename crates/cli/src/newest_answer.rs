//! The answer of the newest run to a goal, for `code` and for `--case GOAL`. An older run may be about another file, so
//! its answer is never taken instead.

use anyhow::Result;
use writebench_model::Goal;
use writebench_report::{GoalAnswer, Report, counted, quoted, visible};
use writebench_stats::{distinct, grouped};

use crate::database;
use crate::exit::usage;
use crate::global::Global;

/// What distinguishes one of several answers in a command.
pub(crate) enum Choice<'a> {
    Goal(Goal),
    Case(&'a str),
}

/// The only answer of the newest run, or its only one to the goal. A note says where it is from. If there are several, notes
/// list the `command` for each, such as `code --for stream --lang c`.
pub(crate) fn newest_answer(
    wanted: Option<Goal>,
    command: impl Fn(Choice<'_>) -> String,
    global: &Global,
) -> Result<GoalAnswer> {
    let none = || {
        let goal = name_or_placeholder(wanted);
        usage!(
            "there is no run yet. Name a case, or let `writebench advise --for {goal}` recommend one first"
        )
    };
    let path = database::path(global.db.as_deref())?;
    let store = database::open_if_there(&path)?.ok_or_else(none)?;
    let number = store.newest_run()?.ok_or_else(none)?;
    let report = Report::from_run(Some(number), store.run(number)?);
    let mut answers = report.goal_answers();
    answers.retain(|answer| wanted.is_none_or(|wanted| answer.goal == wanted));
    let different = distinct(answers, |answer| (answer.goal, answer.case.clone()));
    match different.as_slice() {
        [] => Err(no_answer(wanted, number, &report)),
        [answer] => {
            let GoalAnswer { goal, target, case } = answer;
            global
                .output
                .note(&format!("From run {number}, {goal} on {target}: {case}"));
            Ok(answer.clone())
        }
        several => {
            let writebench = format!("writebench{}", database::option(&store));
            list(
                several,
                |choice| format!("{writebench} {}", command(choice)),
                global,
            );
            Err(several_answers(several, number))
        }
    }
}

/// A note for each answer with the command that takes it. Of several answers to a goal, each is named by its case.
fn list(answers: &[GoalAnswer], command: impl Fn(Choice<'_>) -> String, global: &Global) {
    for (goal, of_goal) in grouped(answers, |answer| answer.goal) {
        if of_goal.len() == 1 {
            global.output.note(&command(Choice::Goal(goal)));
            continue;
        }
        for answer in of_goal {
            let command = command(Choice::Case(&answer.case));
            let target = &answer.target;
            // The shell ignores a comment that is copied with the command.
            global
                .output
                .note(&format!("{command}  # {goal} on {target}"));
        }
    }
}

fn several_answers(answers: &[GoalAnswer], number: i64) -> anyhow::Error {
    let goals = distinct(answers.iter().map(|answer| answer.goal), |goal| *goal);
    match goals.as_slice() {
        [goal] => usage!(
            "run {number} has {} for {goal}. Name one of the cases",
            counted(answers.len(), "answer")
        ),
        goals => usage!(
            "run {number} has answers for {}. Name one of them by --for GOAL",
            counted(goals.len(), "goal")
        ),
    }
}

/// Names the command of the run, because its target and goal may not be those that the user remembers.
fn no_answer(wanted: Option<Goal>, number: i64, report: &Report) -> anyhow::Error {
    let words = report.run.arguments.iter().skip(1);
    let words: Vec<String> = words.map(|word| quoted(word)).collect();
    let command = format!("writebench {}", words.join(" "));
    let goals = report.goals();
    let only = match goals.as_slice() {
        [goal] => Some(*goal),
        _ => None,
    };
    let meant = wanted.or(only);
    let of_goal = meant.map_or(String::new(), |goal| format!(" for {goal}"));
    let goal = name_or_placeholder(meant);
    usage!(
        "run {number}, the newest ({}), has no recommendation{of_goal}. {} Name a case, or search with `writebench advise \
         --for {goal}`",
        visible(&command),
        report.why_no_answer(wanted).trim()
    )
}

fn name_or_placeholder(goal: Option<Goal>) -> &'static str {
    goal.map_or("GOAL", Goal::name)
}
