//! A comparison in a terminal, and as the JSON of `docs/reference/json.md`.

use anstyle::Style;
use serde::Serialize;
use serde_json::{Value, json};
use writebench_stats::Verdict;

use super::lines::folded;
use super::styles::{FAULT, HEADING, QUIET, WARNING};
use super::terminal::{Detail, styled, table_text};
use super::width::{display_width, padded};
use crate::numbers::{CaseOn, ComparedCase, ComparedRun, Comparison, Obstacle, Side};
use crate::sentences::comparison::{counts, excluded, notes, obstacles, only_in, side_line};
use crate::sentences::{Change, visible};
use crate::tables::comparison::table;

pub const SCHEMA: u32 = 4;

/// A longer table shows only different rows, unless `--all` or no row can differ.
const MOST_ROWS: usize = 20;

/// The comparison as styled text. It has all columns if there is no `width`.
pub fn terminal(comparison: &Comparison, detail: Detail, width: Option<usize>) -> String {
    let is_all = detail == Detail::All;
    let mut heading = format!("B vs. A: {}", counts(comparison));
    if comparison.cases.is_empty() {
        heading += &format!(", {FAULT}no case has results on both sides{FAULT:#}");
    }
    let heading = folded(&heading, width.unwrap_or(usize::MAX), 0);
    let mut text = format!("{HEADING}{}{HEADING:#}\n", heading.trim_end());
    for (letter, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        let line = format!("{letter}  {}", visible(&side_line(side)));
        let line = folded(&line, width.unwrap_or(usize::MAX), 3);
        text += &format!("{QUIET}{letter}{QUIET:#}{}", &line[letter.len()..]);
    }
    let is_long = comparison.cases.len() > MOST_ROWS && !is_all && !comparison.is_of_single_runs();
    let rows: Vec<&ComparedCase> = comparison
        .cases
        .iter()
        .filter(|case| !is_long || case.verdict.is_difference())
        .collect();
    let (table, is_cut) = table_text(table(rows.iter().copied(), comparison), width, is_all);
    text += &table;
    if !rows.is_empty() {
        text += "\n";
    }
    for line in only_in(comparison) {
        text += &styled(Style::new(), &line, width);
    }
    for line in excluded(comparison).iter().chain(&obstacles(comparison)) {
        text += &styled(WARNING, line, width);
    }
    let changes = comparison.changes();
    if !changes.is_empty() {
        text += &styled(WARNING, "Other changes, possible reasons:", None);
        for change in &changes {
            text += &change_lines(change, width.unwrap_or(usize::MAX));
        }
    }
    for note in notes(comparison) {
        text += &styled(Style::new(), &note, width);
    }
    if is_cut || is_long {
        text += &styled(QUIET, "`compare --all` has all rows and columns.", None);
    }
    text
}

/// The values of both sides. They are one below the other if they are too wide, such as mount options.
fn change_lines(change: &Change, width: usize) -> String {
    const NAME_WIDTH: usize = 16;
    const INDENT: usize = NAME_WIDTH + 5;
    let a = change.a.join(" and ");
    let a = visible(&a);
    let b = change.b.join(" and ");
    let b = visible(&b);
    let name = padded(&visible(&change.name), NAME_WIDTH);
    let one_line = format!("  {name} {a} → {b}");
    if display_width(&one_line) <= width {
        return one_line + "\n";
    }
    let before = folded(&format!("  {name} {a}"), width, INDENT);
    let after = folded(&format!("  {:<NAME_WIDTH$} → {b}", ""), width, INDENT);
    before + &after
}

fn names(cases: &[CaseOn]) -> Vec<String> {
    cases.iter().map(ToString::to_string).collect()
}

pub(crate) fn json(comparison: &Comparison) -> String {
    let document = json!({
        "comparison": SCHEMA,
        "observation_unit": comparison.unit,
        "a": side(&comparison.a),
        "b": side(&comparison.b),
        "cases": comparison.cases,
        "only_in_a": names(&comparison.only_in_a),
        "only_in_b": names(&comparison.only_in_b),
        "excluded": comparison.excluded,
        "obstacles": comparison.obstacles.iter().map(obstacle).collect::<Vec<_>>(),
        "changes": comparison.changes(),
        "summary": {
            "faster": comparison.count(Verdict::Faster),
            "slower": comparison.count(Verdict::Slower),
            "same": comparison.count(Verdict::Same),
            "inconclusive": comparison.count(Verdict::Inconclusive),
        },
    });
    format!("{document:#}\n")
}

/// What kept a run's excluded cases from a result, in numbers.
#[derive(Serialize)]
struct ObstacleOf<'c> {
    run: &'c str,
    #[serde(flatten)]
    obstacle: &'c Obstacle,
}

fn obstacle((run, obstacle): &(String, Obstacle)) -> ObstacleOf<'_> {
    ObstacleOf { run, obstacle }
}

fn side(side: &Side) -> Value {
    let runs: Vec<Value> = side.runs.iter().map(run).collect();
    json!({ "name": side.name, "runs": runs })
}

fn run(ComparedRun { name, run }: &ComparedRun) -> Value {
    json!({
        "name": name,
        "id": run.id,
        "label": run.label,
        "started": run.started,
        "version": run.version,
    })
}
