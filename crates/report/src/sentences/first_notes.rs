//! The notes of the first screen: how sure the answers are, and what they are compared with.

use writebench_model::{Case, Durability, Goal, Method};
use writebench_stats::distinct;

use crate::sentences::Report;
use crate::sentences::answer::WorkloadAnswer;
use crate::sentences::finding::Bound;
use crate::sentences::goal_rows::other_sizes;
use crate::sentences::goal_word::{label, word};
use crate::sentences::recommended::bound_percent;
use crate::sentences::words::counted;

/// A first screen of more goals leaves out what their tables say, too.
pub(crate) const FEW_GOALS: usize = 5;

/// A goal with a larger bound is named with its own.
const MOST_COMMON_BOUND: f64 = 1.10;

impl Report {
    /// The notes below the table of the goals.
    pub(crate) fn first_notes(&self) -> Vec<String> {
        let is_side_by_side = self.run.is_side_by_side();
        let ratios = is_side_by_side
            .then(|| "1.50x: times plain on that target (≈ same, ? inconclusive).".to_owned());
        let mut notes: Vec<String> = self.not_durable_targets();
        notes.extend(bounds(&self.answers));
        notes.extend(ratios);
        notes.extend(plain(&self.answers));
        notes.extend(self.notes_of_answers());
        if self.goals_on_screen().len() <= FEW_GOALS {
            notes.extend(other_sizes(&self.answers));
        }
        notes.extend(self.names_of_goals());
        notes
    }

    /// What else to know about the methods of the answers.
    pub(crate) fn notes_of_answers(&self) -> Vec<String> {
        let notes = self.answers.iter().flat_map(|answer| &answer.finding.notes);
        distinct(notes.cloned(), Clone::clone)
    }

    /// Why targets have no durable goals, if others have some.
    fn not_durable_targets(&self) -> Vec<String> {
        let mut durable = self
            .answers
            .iter()
            .filter(|answer| answer.workload.durability == Durability::Durable);
        if durable.next().is_none() {
            return Vec::new();
        }
        let losing = self.run.targets.iter().filter_map(|target| {
            let why = target.loses_data()?;
            Some(format!("No durable goals on {}: {why}.", target.name))
        });
        losing.collect()
    }

    /// `37 methods, 734 samples`.
    pub(crate) fn extent(&self) -> String {
        let measured = distinct(
            self.cases
                .iter()
                .filter(|case| !case.record.samples.is_empty()),
            |case| (&case.record.target, case.record.case.name()),
        );
        let methods = distinct(measured.iter(), |case| case.record.case.name()).len();
        let samples = measured.iter().map(|case| case.record.samples.len()).sum();
        format!(
            "{}, {}",
            counted(methods, "method"),
            counted(samples, "sample")
        )
    }

    /// The words for `--for`, in the order of the screen, unless the screen has them.
    fn names_of_goals(&self) -> Option<String> {
        let goals = self.goals_on_screen();
        let are_on_screen = goals.iter().all(|&goal| word(goal) == label(goal));
        let words: Vec<&str> = goals.into_iter().map(word).collect();
        (!are_on_screen).then(|| format!("Names for --for: {}.", words.join(", ")))
    }

    fn goals_on_screen(&self) -> Vec<Goal> {
        let (cached, durable): (Vec<&WorkloadAnswer>, Vec<&WorkloadAnswer>) = self
            .answers
            .iter()
            .partition(|answer| answer.workload.durability != Durability::Durable);
        let goals = cached.into_iter().chain(durable);
        distinct(
            goals.filter_map(|answer| answer.finding.goal_name),
            |goal| *goal,
        )
    }
}

/// `No other of the 23 methods compared is more than 4 % faster (95 %), except 62 % for log.`
fn bounds(answers: &[WorkloadAnswer]) -> Option<String> {
    let bounds: Vec<(&WorkloadAnswer, Bound)> = answers
        .iter()
        .filter_map(|answer| Some((answer, answer.finding.bound?)))
        .collect();
    if bounds.is_empty() {
        return None;
    }
    let compared: u32 = bounds.iter().map(|(_, bound)| bound.compared).sum();
    let (close, wide): (Vec<_>, Vec<_>) = bounds
        .iter()
        .partition(|(_, bound)| bound.ratio <= MOST_COMMON_BOUND);
    let wide = exceptions(&wide);
    let Some(most) = close.iter().map(|(_, bound)| bound.ratio).reduce(f64::max) else {
        return Some(format!(
            "No other of the {compared} methods compared is faster (95 %) by more than {wide}."
        ));
    };
    let except = if wide.is_empty() {
        String::new()
    } else {
        format!(", except {wide}")
    };
    Some(format!(
        "No other of the {compared} methods compared is more than {} % faster (95 %){except}.",
        bound_percent(most)
    ))
}

/// `62 % for log`, or only the largest one of many.
fn exceptions(bounds: &[(&WorkloadAnswer, Bound)]) -> String {
    const MOST_NAMED: usize = 5;
    if bounds.len() > MOST_NAMED {
        let most = bounds
            .iter()
            .map(|(_, bound)| bound.ratio)
            .fold(1.0, f64::max);
        let most = bound_percent(most);
        return format!("up to {most} % for {} answers", bounds.len());
    }
    let named: Vec<String> = bounds
        .iter()
        .map(|(answer, bound)| format!("{} % for {}", bound_percent(bound.ratio), name(answer)))
        .collect();
    named.join(", ")
}

/// The goal, and its target if it has several.
fn name(answer: &WorkloadAnswer) -> String {
    let finding = &answer.finding;
    let goal = finding.goal_name.map(word);
    let goal = goal.unwrap_or(finding.goal.as_str());
    match &finding.target {
        Some(target) => format!("{goal} on {target}"),
        None => goal.to_owned(),
    }
}

/// `Plain means read(2) and write(2) in 1 MiB chunks, and on the disk fsync(2), for a log after each record.`
fn plain(answers: &[WorkloadAnswer]) -> Option<String> {
    let goals: Vec<Goal> = answers
        .iter()
        .filter_map(|answer| answer.finding.goal_name)
        .collect();
    let baselines: Vec<&Case> = goals.iter().map(|goal| goal.baseline()).collect();
    if baselines.is_empty() {
        return None;
    }
    let copies = baselines.iter().filter(|case| case.method().copies());
    let pages = goals.iter().filter(|goal| goal.has_pages()).count();
    let calls = match (copies.count(), pages) {
        (0, 0) => "write(2)",
        (all, _) if all == baselines.len() => "read(2) and write(2)",
        (_, all) if all == baselines.len() => "pwrite(2)",
        (0, _) => "write(2), for pages pwrite(2),",
        (_, 0) => "write(2), for a copy also read(2),",
        _ => "write(2), for a copy also read(2), for pages pwrite(2),",
    };
    let has_large_files = baselines.iter().any(|case| {
        !matches!(case.method(), Method::WriteFiles)
            && case.workload().durable_every_bytes.is_none()
    });
    let chunks = if has_large_files {
        " in 1 MiB chunks"
    } else {
        ""
    };
    let durable: Vec<Goal> = goals
        .iter()
        .copied()
        .filter(|goal| goal.is_durable())
        .collect();
    let sync = match durable.as_slice() {
        [] => String::new(),
        durable => {
            let whose = if durable.len() == goals.len() {
                ", then"
            } else {
                ", and on the disk"
            };
            let each = [
                (durable.contains(&Goal::Records), "record"),
                (durable.iter().any(|goal| goal.has_pages()), "commit"),
                (durable.contains(&Goal::DurableFiles), "file"),
            ];
            let each: Vec<&str> = each
                .iter()
                .filter_map(|&(is_there, what)| is_there.then_some(what))
                .collect();
            let each = match each.as_slice() {
                [] => String::new(),
                each => format!(" of each {}", each.join(" or ")),
            };
            let of_journal = if durable.contains(&Goal::UntornPages) {
                ", and of the journal of untorn pages"
            } else {
                ""
            };
            format!("{whose} fsync(2){each}{of_journal}")
        }
    };
    Some(format!("Plain means {calls}{chunks}{sync}."))
}
