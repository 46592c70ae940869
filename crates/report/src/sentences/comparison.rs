use writebench_stats::Verdict;

use crate::numbers::{ComparedCase, Comparison, ObservationUnit, Side, grouped};
use crate::sentences::words::{counted, list};

/// More runs than these are counted. A side often has four.
const NAMED_RUNS: usize = 5;

pub(crate) fn side_line(side: &Side) -> String {
    let names: Vec<String> = side.runs.iter().map(|run| run.name.clone()).collect();
    let started = match side.runs.as_slice() {
        [one] => format!(" of {}", one.run.started),
        several => format!(" ({})", counted(several.len(), "run")),
    };
    let label = if side.name == names.join(",") {
        String::new()
    } else {
        format!("{}: ", side.name)
    };
    format!("{label}{}{started}", list(&names, NAMED_RUNS))
}

pub(crate) fn only_in(comparison: &Comparison) -> Vec<String> {
    [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)]
        .into_iter()
        .filter(|(_, cases)| !cases.is_empty())
        .map(|(side, cases)| {
            let names: Vec<String> = cases.iter().map(ToString::to_string).collect();
            format!("Only in {side}: {}", list(&names, NAMED_RUNS))
        })
        .collect()
}

/// The excluded cases, with a line for all that have the same runs and reason.
pub(crate) fn excluded(comparison: &Comparison) -> Vec<String> {
    let by_case = grouped(&comparison.excluded, |excluded| {
        (&excluded.case, &excluded.reason)
    });
    let with_runs = by_case.into_iter().map(|((case, reason), all)| {
        let runs: Vec<&str> = all.iter().map(|excluded| excluded.run.as_str()).collect();
        (case, reason, runs)
    });
    grouped(with_runs, |(_, reason, runs)| (runs.clone(), *reason))
        .into_iter()
        .map(|((runs, reason), cases)| {
            let cases: Vec<&str> = cases.iter().map(|(case, ..)| case.as_str()).collect();
            format!(
                "Excluded from {}: {}: {reason}",
                list(&runs, NAMED_RUNS),
                list(&cases, NAMED_RUNS)
            )
        })
        .collect()
}

/// A line for each cause, with the runs that had it.
pub(crate) fn obstacles(comparison: &Comparison) -> Vec<String> {
    grouped(&comparison.obstacles, |(_, obstacle)| obstacle.text())
        .into_iter()
        .map(|(text, all)| {
            let runs: Vec<&str> = all.iter().map(|(run, _)| run.as_str()).collect();
            format!("{}: {text}", list(&runs, NAMED_RUNS))
        })
        .collect()
}

/// How a comparison counts its observations, in words.
struct UnitInWords {
    /// The reason for a missing verdict.
    too_few: &'static str,
    sentence: String,
    /// The least number of observations for a verdict at 95 %.
    least: Option<&'static str>,
}

impl UnitInWords {
    fn of(comparison: &Comparison) -> Self {
        match comparison.unit {
            ObservationUnit::Round => Self {
                too_few: "too few rounds",
                sentence: "Both sides are from one run, compared round by round.".to_owned(),
                least: Some("95 % needs at least 6 rounds."),
            },
            ObservationUnit::Run if comparison.is_of_single_runs() => Self {
                too_few: "one run per side",
                sentence: format!(
                    "Two single runs also differ by drift between them. {FOUR_RUNS}: compare 1,3,5,7 2,4,6,8."
                ),
                least: None,
            },
            ObservationUnit::Run => Self {
                too_few: "too few runs",
                sentence: "The unit is the run: runs differ by more than their samples do."
                    .to_owned(),
                least: Some("95 % needs at least 4 runs per side, or 3 and 5, or 2 and 8."),
            },
        }
    }
}

/// The verdict on a case, or the reason why it has none.
pub(crate) fn verdict(case: &ComparedCase, comparison: &Comparison) -> String {
    let name = case.verdict.name();
    if case.speed_ratio.is_sure() {
        name.to_owned()
    } else {
        format!("{name}: {}", UnitInWords::of(comparison).too_few)
    }
}

pub(crate) fn notes(comparison: &Comparison) -> Vec<String> {
    let unit = UnitInWords::of(comparison);
    let mut notes = vec![unit.sentence];
    if comparison.too_few() > 0 {
        notes.extend(unit.least.map(str::to_owned));
    }
    let differences = comparison.count(Verdict::Faster) + comparison.count(Verdict::Slower);
    if differences > 0 && comparison.cases.len() > 1 {
        notes.push(
            "Each verdict is at 95 %: one in 20 unchanged cases is called faster or slower by chance."
                .to_owned(),
        );
    }
    notes
}

pub const FOUR_RUNS: &str = "Take four runs of each side in turns (A B A B …)";

/// `3 faster, 1 slower, 50 same, 6 inconclusive`.
pub(crate) fn counts(comparison: &Comparison) -> String {
    if comparison.is_of_single_runs() {
        return "inconclusive: one run per side".to_owned();
    }
    [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Same,
        Verdict::Inconclusive,
    ]
    .map(|verdict| format!("{} {}", comparison.count(verdict), verdict.name()))
    .join(", ")
}
