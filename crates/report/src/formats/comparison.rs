//! A comparison in a terminal, and as the JSON of `docs/reference/json.md`.

use anstyle::Style;
use serde_json::{Value, json};
use writebench_model::RunRecord;
use writebench_stats::Verdict;

use super::lines::folded;
use super::styles::{FAULT, HEADING, QUIET, WARNING};
use super::terminal::{Detail, styled, table_text};
use super::width::{display_width, padded};
use crate::numbers::{CaseOn, ComparedRun, Comparison, Obstacle, Side};
use crate::sentences::comparison::{counts, excluded, notes, obstacles, only_in, side_line};
use crate::sentences::{Change, visible};
use crate::tables::comparison::table;

pub const SCHEMA: u32 = 3;

/// A longer table shows only different rows, unless `--all` or no row can differ.
const FEW: usize = 20;

/// Styled text. Without a `width`, all columns.
pub fn terminal(comparison: &Comparison, detail: Detail, width: Option<usize>) -> String {
    let is_all = detail == Detail::All;
    let width = width.filter(|_| !is_all);
    let mut heading = format!("B vs. A: {}", counts(comparison));
    if comparison.cases.is_empty() {
        heading += &format!(", {FAULT}no case has results on both sides{FAULT:#}");
    }
    let heading = folded(&heading, width.unwrap_or(usize::MAX), 0);
    let mut text = format!("{HEADING}{}{HEADING:#}\n", heading.trim_end());
    for (letter, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        text += &format!("{QUIET}{letter}{QUIET:#}  {}\n", visible(&side_line(side)));
    }
    let is_long = comparison.cases.len() > FEW && !is_all && !comparison.is_of_single_runs();
    let rows = || {
        comparison
            .cases
            .iter()
            .filter(|case| !is_long || case.verdict.is_difference())
    };
    let (table, is_cut) = table_text(table(rows(), comparison), width);
    text += &table;
    if rows().next().is_some() {
        text += "\n";
    }
    text.extend(
        only_in(comparison)
            .iter()
            .map(|line| styled(Style::new(), line, width)),
    );
    let unranked = excluded(comparison)
        .into_iter()
        .chain(obstacles(comparison));
    text.extend(unranked.map(|line| styled(WARNING, &line, width)));
    let changes = comparison.changes();
    if !changes.is_empty() {
        text += &styled(WARNING, "Other changes, possible reasons:", None);
        text.extend(
            changes
                .iter()
                .map(|change| change_lines(change, width.unwrap_or(usize::MAX))),
        );
    }
    text.extend(
        notes(comparison)
            .iter()
            .map(|note| styled(Style::new(), note, width)),
    );
    if is_cut || is_long {
        text += &styled(QUIET, "`compare --all` has all rows and columns.", None);
    }
    text
}

/// One below the other if too wide, such as mount options.
fn change_lines(change: &Change, width: usize) -> String {
    const NAME_WIDTH: usize = 16;
    let [a, b] = [&change.a, &change.b].map(|values| visible(&values.join(" and ")).into_owned());
    let name = padded(&visible(&change.name), NAME_WIDTH);
    let one = format!("  {name} {a} → {b}");
    if display_width(&one) <= width {
        return one + "\n";
    }
    let below = |text: String| folded(&text, width, NAME_WIDTH + 5);
    below(format!("  {name} {a}")) + &below(format!("  {:<NAME_WIDTH$} → {b}", ""))
}

pub(crate) fn json(comparison: &Comparison) -> String {
    let names = |cases: &[CaseOn]| cases.iter().map(ToString::to_string).collect::<Vec<_>>();
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

fn obstacle((run, obstacle): &(String, Obstacle)) -> Value {
    let (kind, cause, remedy) = (obstacle.name(), obstacle.cause(), obstacle.remedy());
    json!({ "run": run, "kind": kind, "cause": cause, "remedy": remedy })
}

fn side(side: &Side) -> Value {
    let run = |ComparedRun { name, run }: &ComparedRun| {
        let RunRecord {
            id,
            label,
            started,
            version,
            ..
        } = run;
        json!({ "name": name, "id": id, "label": label, "started": started, "version": version })
    };
    json!({ "name": side.name, "runs": side.runs.iter().map(run).collect::<Vec<_>>() })
}
