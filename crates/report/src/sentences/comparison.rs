use writebench_stats::Verdict;

use crate::numbers::{CaseOn, ComparedCase, Comparison, ObservationUnit, Obstacle, Side, grouped};
use crate::sentences::words::{counted, list};

/// A side often has four runs.
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
    let sides = [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)].into_iter();
    let line = |(side, cases): (&str, &Vec<CaseOn>)| {
        let names: Vec<String> = cases.iter().map(ToString::to_string).collect();
        format!("Only in {side}: {}", list(&names, NAMED_RUNS))
    };
    sides
        .filter(|(_, cases)| !cases.is_empty())
        .map(line)
        .collect()
}

/// One line for the same runs and reason.
pub(crate) fn excluded(comparison: &Comparison) -> Vec<String> {
    let of_cases = grouped(&comparison.excluded, |excluded| {
        (&excluded.case, &excluded.reason)
    })
    .into_iter();
    let of_cases = of_cases.map(|((case, why), all)| {
        let runs: Vec<&str> = all.iter().map(|excluded| excluded.run.as_str()).collect();
        (case, why, runs)
    });
    let line = |((runs, why), cases): ((Vec<&str>, &String), Vec<(&String, _, _)>)| {
        let cases: Vec<&str> = cases.iter().map(|(case, ..)| case.as_str()).collect();
        format!(
            "Excluded from {}: {}: {why}",
            list(&runs, NAMED_RUNS),
            list(&cases, NAMED_RUNS)
        )
    };
    grouped(of_cases, |(_, why, runs)| (runs.clone(), *why))
        .into_iter()
        .map(line)
        .collect()
}

/// A line for each cause, with the runs that had it.
pub(crate) fn obstacles(comparison: &Comparison) -> Vec<String> {
    let by_text = grouped(&comparison.obstacles, |(_, obstacle)| obstacle.text());
    let line = |(text, all): (String, Vec<&(String, Obstacle)>)| {
        let runs: Vec<&str> = all.iter().map(|(run, _)| run.as_str()).collect();
        format!("{}: {text}", list(&runs, NAMED_RUNS))
    };
    by_text.into_iter().map(line).collect()
}

/// A missing verdict, the unit, and the least number for 95 %.
fn words(comparison: &Comparison) -> (&'static str, String, Option<&'static str>) {
    match comparison.unit {
        ObservationUnit::Round => (
            "too few rounds",
            "Both sides are from one run, compared round by round.".to_owned(),
            Some("95 % needs at least 6 rounds."),
        ),
        ObservationUnit::Run if comparison.is_of_single_runs() => (
            "one run per side",
            format!(
                "Two single runs also differ by drift between them. {FOUR_RUNS}: compare 1,3,5,7 2,4,6,8."
            ),
            None,
        ),
        ObservationUnit::Run => (
            "too few runs",
            "The unit is the run: runs differ by more than their samples do.".to_owned(),
            Some("95 % needs at least 4 runs per side, or 3 and 5, or 2 and 8."),
        ),
    }
}

/// Also the reason for a missing verdict.
pub(crate) fn verdict(case: &ComparedCase, comparison: &Comparison) -> String {
    let name = case.verdict.name();
    if case.speed_ratio.is_sure() {
        name.to_owned()
    } else {
        format!("{name}: {}", words(comparison).0)
    }
}

pub(crate) fn notes(comparison: &Comparison) -> Vec<String> {
    let (_, unit, needed) = words(comparison);
    let mut notes = vec![unit];
    notes.extend(
        needed
            .filter(|_| comparison.too_few() > 0)
            .map(str::to_owned),
    );
    let told = comparison.count(Verdict::Faster) + comparison.count(Verdict::Slower);
    if told > 0 && comparison.cases.len() > 1 {
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
    let all = [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Same,
        Verdict::Inconclusive,
    ];
    let text = |verdict: Verdict| format!("{} {}", comparison.count(verdict), verdict.name());
    all.map(text).join(", ")
}
