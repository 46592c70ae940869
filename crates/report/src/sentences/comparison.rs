//! The result of a comparison, in words.

use writebench_stats::Verdict;

use crate::numbers::comparison::{Comparison, Unit};
use crate::numbers::grouped::grouped;
use crate::numbers::sides::Side;
use crate::sentences::words::{counted, list};

/// How many names are shown before the rest is counted.
pub(crate) const NAMED: usize = 5;

/// The run or runs that a side is.
pub(crate) fn side_line(side: &Side) -> String {
    let names: Vec<String> = side.runs.iter().map(|it| it.name.clone()).collect();
    let started = match side.runs.as_slice() {
        [one] => format!(" of {}", one.run.started),
        several => format!(" ({})", counted(several.len(), "run")),
    };
    let label = if side.name == names.join(",") { String::new() } else { format!("{}: ", side.name) };
    format!("{label}{}{started}", list(&names, NAMED))
}

/// A line for all cases that are left out of the same runs for the same reason.
pub(crate) fn left_out(comparison: &Comparison) -> Vec<String> {
    let of_cases = grouped(&comparison.left_out, |it| (&it.case, &it.why)).into_iter();
    let of_cases = of_cases.map(|((case, why), all)| {
        let runs: Vec<&str> = all.iter().map(|it| it.run.as_str()).collect();
        (case, why, runs)
    });
    let line = |((runs, why), cases): ((Vec<&str>, &String), Vec<(&String, _, _)>)| {
        let cases: Vec<&str> = cases.iter().map(|(case, ..)| case.as_str()).collect();
        format!("Left out of {}: {}: {why}", list(&runs, NAMED), list(&cases, NAMED))
    };
    grouped(of_cases, |(_, why, runs)| (runs.clone(), *why)).into_iter().map(line).collect()
}

pub(crate) fn verdict(verdict: Verdict, unit: Unit) -> &'static str {
    match (verdict, unit) {
        (Verdict::Faster, _) => "faster",
        (Verdict::Slower, _) => "slower",
        (Verdict::AsFast, _) => "as fast",
        (Verdict::NotDistinguishable, _) => "not distinguishable",
        (Verdict::TooFew, Unit::Sample) => "too few samples",
        (Verdict::TooFew, Unit::Run) => "too few runs",
    }
}

/// How to read the figures.
pub(crate) fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    match comparison.unit {
        Unit::Sample if comparison.is_of_one_run() => notes.push(
            "Both were measured in the same run, side by side in its rounds; the unit is the sample.".to_owned(),
        ),
        Unit::Sample => notes.push(
            "One run on each side, so the unit is the sample: what drifted between the two runs is in no interval. \
             Several runs of each, taken in turns (A B A B …), take care of it: compare 1,3,5,7 2,4,6,8."
                .to_owned(),
        ),
        Unit::Run => notes.push(
            "Several runs on a side, so the unit is the run (its median): runs differ by more than their samples do."
                .to_owned(),
        ),
    }
    if comparison.count(Verdict::TooFew) > 0 {
        let what = if comparison.unit == Unit::Run { "runs" } else { "samples" };
        notes.push(format!("For 95 % it takes at least 4 {what} on each side, or 3 and 5, or 2 and 8."));
    }
    let told = comparison.count(Verdict::Faster) + comparison.count(Verdict::Slower);
    if told > 0 && comparison.cases.len() > 1 {
        notes.push(
            "Each case is judged at 95 %: of those that did not change, one in 20 is called faster or slower by chance."
                .to_owned(),
        );
    }
    notes
}

/// `3 faster, 1 slower, 50 as fast, 6 not distinguishable`.
pub(crate) fn counts(comparison: &Comparison) -> String {
    let always = [Verdict::Faster, Verdict::Slower, Verdict::AsFast, Verdict::NotDistinguishable];
    let few = Some(Verdict::TooFew).filter(|few| comparison.count(*few) > 0);
    let text = |it: Verdict| format!("{} {}", comparison.count(it), verdict(it, comparison.unit));
    always.into_iter().chain(few).map(text).collect::<Vec<_>>().join(", ")
}
