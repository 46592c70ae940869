//! Two sides of runs: for people in a terminal, and for programs. `docs/json.md` describes the document.

use serde::Serialize;

use super::lines::{fitting, folded};
use super::terminal::{FAULT, HEADING, QUIET, WARNING};
use crate::counted;
use crate::numbers::comparison::{Change, ComparedCase, ComparedRun, Comparison, LeftOut, Side, Unit, Verdict};
use crate::sentences::number::gigabytes_per_s;
use crate::tables::{Column, Table};
use crate::visible;

/// The version of the document's form.
pub const SCHEMA: u32 = 1;

/// In a table of more rows the few that matter are named again below.
const FEW: usize = 10;

/// How many names are shown before the rest is counted.
const NAMED: usize = 5;

/// Styled text; `width` is the terminal's, none for all columns.
#[must_use]
pub fn terminal(comparison: &Comparison, width: Option<usize>) -> String {
    let mut text = format!("{HEADING}B compared with A{HEADING:#}\n");
    for (letter, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        text += &format!("{QUIET}{letter}{QUIET:#}  {}\n", visible(&side_line(side)));
    }
    text += "\n";
    let table = table(comparison).made_visible();
    let mut is_cut = false;
    if !comparison.cases.is_empty() {
        let fitted = fitting(&table, width);
        is_cut = fitted.is_cut(&table);
        text += &fitted.text();
        text += "\n\n";
    }
    let width = width.unwrap_or(usize::MAX);
    let fold = |line: String| folded(&visible(&line), width, 0);
    for (side, cases) in [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)] {
        if !cases.is_empty() {
            let names: Vec<String> = cases.iter().map(ToString::to_string).collect();
            text += &fold(format!("Only in {side}: {}", list(&names)));
        }
    }
    for line in left_out(comparison) {
        text += &format!("{WARNING}{}{WARNING:#}\n", fold(line).trim_end());
    }
    if !comparison.changes.is_empty() {
        text +=
            &format!("{WARNING}Not the only difference; this changed too, and may be the reason:{WARNING:#}\n");
        comparison.changes.iter().for_each(|change| text += &change_lines(change, width));
    }
    for note in notes(comparison) {
        text += &fold(note);
    }
    if comparison.cases.len() > FEW {
        for (word, of) in [("Faster", Verdict::Faster), ("Slower", Verdict::Slower)] {
            let cases = comparison.cases.iter().filter(|case| case.verdict == of);
            let names: Vec<String> =
                cases.map(|case| format!("{} ({:.3})", case.case, case.speed_ratio.estimate)).collect();
            if !names.is_empty() {
                text += &fold(format!("{word}: {}", list(&names)));
            }
        }
    }
    if is_cut {
        text += &format!("{QUIET}A wider terminal shows more columns.{QUIET:#}\n");
    }
    text + &format!("{HEADING}{}{HEADING:#}\n", summary(comparison))
}

/// The run or runs that a side is.
fn side_line(side: &Side) -> String {
    let names: Vec<String> = side.runs.iter().map(|it| it.name.clone()).collect();
    let started = match side.runs.as_slice() {
        [one] => format!(" of {}", one.run.started),
        several => format!(" ({})", counted(several.len(), "run")),
    };
    let label = if side.name == names.join(",") { String::new() } else { format!("{}: ", side.name) };
    format!("{label}{}{started}", list(&names))
}

fn list(names: &[String]) -> String {
    match names.len() {
        ..=NAMED => names.join(", "),
        many => format!("{} and {} more", names[..NAMED].join(", "), many - NAMED),
    }
}

fn table(comparison: &Comparison) -> Table {
    let row = |case: &ComparedCase| {
        vec![
            case.case.to_string(),
            gigabytes_per_s(case.a_bytes_per_s),
            gigabytes_per_s(case.b_bytes_per_s),
            format!("{:.3}", case.speed_ratio.estimate),
            format!("{:.3} – {:.3}", case.speed_ratio.low, case.speed_ratio.high),
            verdict(case.verdict, comparison.unit).to_owned(),
            format!("{} / {}", case.a_count, case.b_count),
        ]
    };
    Table {
        title: String::new(),
        notes: Vec::new(),
        columns: vec![
            Column::text("case", 0),
            Column::figure("", "A GB/s", 1),
            Column::figure("", "B GB/s", 1),
            Column::figure("", "B / A", 0),
            Column::figure("", "interval", 0),
            Column::text("B is", 0),
            Column::figure("", if comparison.unit == Unit::Run { "runs A / B" } else { "samples A / B" }, 2),
        ],
        rows: comparison.cases.iter().map(row).collect(),
        sentences: Vec::new(),
        bars: None,
    }
}

/// A line for all cases that are left out of the same runs for the same reason.
pub(super) fn left_out(comparison: &Comparison) -> Vec<String> {
    let all = &comparison.left_out;
    let mut of_runs: Vec<(Vec<String>, &str, Vec<String>)> = Vec::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for LeftOut { case, why, .. } in all {
        if seen.contains(&(case, why)) {
            continue;
        }
        seen.push((case, why));
        let same = all.iter().filter(|it| it.case == *case && it.why == *why);
        let runs: Vec<String> = same.map(|it| it.run.clone()).collect();
        match of_runs.iter_mut().find(|(others, reason, _)| *others == runs && reason == why) {
            Some((_, _, cases)) => cases.push(case.clone()),
            None => of_runs.push((runs, why, vec![case.clone()])),
        }
    }
    let line = |(runs, why, cases): (Vec<String>, &str, Vec<String>)| {
        format!("Left out of {}: {}: {why}", list(&runs), list(&cases))
    };
    of_runs.into_iter().map(line).collect()
}

fn verdict(verdict: Verdict, unit: Unit) -> &'static str {
    match (verdict, unit) {
        (Verdict::Faster, _) => "faster",
        (Verdict::Slower, _) => "slower",
        (Verdict::NoDifference, _) => "no difference",
        (Verdict::TooFew, Unit::Sample) => "too few samples",
        (Verdict::TooFew, Unit::Run) => "too few runs",
    }
}

/// Old and new beside each other, or below each other where that is too wide, as two lists of mount options are.
fn change_lines(change: &Change, width: usize) -> String {
    const NAME_WIDTH: usize = 16;
    let [a, b] = [&change.a, &change.b].map(|values| visible(&values.join(" and ")).into_owned());
    let name = visible(&change.what);
    let one = format!("  {name:<NAME_WIDTH$} {a} → {b}\n");
    if one.trim_end().chars().count() <= width {
        return one;
    }
    let below = |text: String| folded(&text, width, NAME_WIDTH + 5);
    below(format!("  {name:<NAME_WIDTH$} {a}")) + &below(format!("  {:<NAME_WIDTH$} → {b}", ""))
}

/// How to read the figures.
pub(super) fn notes(comparison: &Comparison) -> Vec<String> {
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

/// `3 faster, 1 slower, 56 no difference`.
pub(super) fn counts(comparison: &Comparison) -> String {
    let count = |verdict| comparison.count(verdict);
    let mut text = format!(
        "{} faster, {} slower, {} no difference",
        count(Verdict::Faster),
        count(Verdict::Slower),
        count(Verdict::NoDifference)
    );
    if count(Verdict::TooFew) > 0 {
        text += &format!(", {} {}", count(Verdict::TooFew), verdict(Verdict::TooFew, comparison.unit));
    }
    text
}

fn summary(comparison: &Comparison) -> String {
    let mut text = counts(comparison);
    if comparison.cases.is_empty() {
        text += &format!("; {FAULT}no case has figures on both sides{FAULT:#}");
    }
    text
}

#[derive(Serialize)]
struct Document<'c> {
    comparison: u32,
    unit: Unit,
    a: SideOf<'c>,
    b: SideOf<'c>,
    cases: Vec<CaseOf<'c>>,
    only_in_a: Vec<String>,
    only_in_b: Vec<String>,
    left_out: &'c [LeftOut],
    changes: &'c [Change],
    summary: Summary,
}

#[derive(Serialize)]
struct SideOf<'c> {
    name: &'c str,
    runs: Vec<RunOf<'c>>,
}

#[derive(Serialize)]
struct RunOf<'c> {
    name: &'c str,
    id: &'c str,
    label: Option<&'c str>,
    started: &'c str,
    version: &'c str,
}

#[derive(Serialize)]
struct CaseOf<'c> {
    id: &'c str,
    target: Option<&'c str>,
    a_bytes_per_s: f64,
    b_bytes_per_s: f64,
    a_count: usize,
    b_count: usize,
    speed_ratio: RatioOf,
    verdict: Verdict,
}

#[derive(Serialize)]
struct RatioOf {
    estimate: f64,
    low: f64,
    high: f64,
    confidence: f64,
}

#[derive(Serialize)]
struct Summary {
    faster: usize,
    slower: usize,
    no_difference: usize,
    too_few: usize,
}

/// For programs.
///
/// # Errors
/// Never in practice: every key is a text.
pub fn json(comparison: &Comparison) -> Result<String, serde_json::Error> {
    let document = Document {
        comparison: SCHEMA,
        unit: comparison.unit,
        a: side_of(&comparison.a),
        b: side_of(&comparison.b),
        cases: comparison.cases.iter().map(case_of).collect(),
        only_in_a: comparison.only_in_a.iter().map(ToString::to_string).collect(),
        only_in_b: comparison.only_in_b.iter().map(ToString::to_string).collect(),
        left_out: &comparison.left_out,
        changes: &comparison.changes,
        summary: Summary {
            faster: comparison.count(Verdict::Faster),
            slower: comparison.count(Verdict::Slower),
            no_difference: comparison.count(Verdict::NoDifference),
            too_few: comparison.count(Verdict::TooFew),
        },
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn side_of<'c>(side: &'c Side) -> SideOf<'c> {
    let run = |ComparedRun { name, run }: &'c ComparedRun| RunOf {
        name,
        id: &run.id,
        label: run.label.as_deref(),
        started: &run.started,
        version: &run.version,
    };
    SideOf { name: &side.name, runs: side.runs.iter().map(run).collect() }
}

fn case_of(case: &ComparedCase) -> CaseOf<'_> {
    let ratio = &case.speed_ratio;
    CaseOf {
        id: &case.case.case,
        target: case.case.target.as_deref(),
        a_bytes_per_s: case.a_bytes_per_s,
        b_bytes_per_s: case.b_bytes_per_s,
        a_count: case.a_count,
        b_count: case.b_count,
        speed_ratio: RatioOf {
            estimate: ratio.estimate,
            low: ratio.low,
            high: ratio.high,
            confidence: ratio.confidence,
        },
        verdict: case.verdict,
    }
}
