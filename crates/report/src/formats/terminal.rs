//! For people, in a terminal or a log.

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::formats::table::{COLUMNS, Column, sentence};
use crate::machine::machine_lines;
use crate::report::{CaseReport, Report};

const HEADING: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const FAULT: Style = AnsiColor::Red.on_default();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// What was measured on. Styled text; whoever prints it strips what the output cannot show.
#[must_use]
pub fn head(report: &Report) -> String {
    let run = &report.run;
    let number = report.number.map(|number| format!(" · run {number}")).unwrap_or_default();
    let mut text = format!(
        "{HEADING}writebench {}{HEADING:#}{number} · {} · seed {}\n",
        run.version, run.started, run.settings.seed
    );
    for (label, line) in machine_lines(&run.environment, &run.target) {
        text += &format!("{QUIET}{label:<12}{QUIET:#}{line}\n");
    }
    text
}

/// The tables, what they come to, and the warnings. `width` is the terminal's; none for all columns.
#[must_use]
pub fn body(report: &Report, width: Option<usize>) -> String {
    let mut text = String::new();
    let tables: Vec<&[CaseReport]> = report.tables().collect();
    let columns = fitting_columns(&tables, width);
    for rows in tables {
        let first = &rows[0].record;
        text += &format!("\n{HEADING}{} · {}{HEADING:#}\n", first.suite, first.section);
        if rows.iter().any(|row| row.estimate.is_some()) {
            text += &table(rows, &columns);
            text += "\n";
        }
        for row in rows {
            let style = if row.outcome == "not-run" || row.outcome == "unsupported" { WARNING } else { FAULT };
            if let Some(sentence) = sentence(row) {
                text += &format!("{style}{sentence}{style:#}\n");
            }
        }
    }
    text += "\n";
    for sentence in &report.conclusions {
        text += &format!("{sentence}\n");
    }
    for warning in &report.warnings {
        text += &format!("{WARNING}{warning}{WARNING:#}\n");
    }
    if columns.len() < COLUMNS.len() {
        text += &format!("{QUIET}A wider terminal shows more columns.{QUIET:#}\n");
    }
    text
}

/// All columns, or as many ranks of them as leave every table within the width.
fn fitting_columns(tables: &[&[CaseReport]], width: Option<usize>) -> Vec<&'static Column> {
    let ranked = |most: u8| COLUMNS.iter().filter(move |column| column.rank <= most).collect::<Vec<_>>();
    let highest = COLUMNS.iter().map(|column| column.rank).max().unwrap_or(0);
    let fits = |columns: &[&Column]| {
        width.is_none_or(|width| {
            tables.iter().all(|rows| table(rows, columns).lines().all(|line| line.chars().count() <= width))
        })
    };
    (0..=highest).rev().map(ranked).find(|columns| fits(columns)).unwrap_or_else(|| ranked(0))
}

fn table(rows: &[CaseReport], columns: &[&Column]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let headings = columns.iter().map(|column| {
        Cell::new(format!("{}\n{}", column.group, column.heading)).set_alignment(CellAlignment::Right)
    });
    table.set_header(std::iter::once(Cell::new("\ncase")).chain(headings));
    for row in rows {
        let Some(estimate) = &row.estimate else { continue };
        let cells =
            columns.iter().map(|column| Cell::new((column.cell)(estimate)).set_alignment(CellAlignment::Right));
        table.add_row(std::iter::once(Cell::new(&row.record.case)).chain(cells));
    }
    // Every cell is padded by a space on either side.
    let trimmed = |line: String| line.trim_end().get(1..).unwrap_or_default().to_owned();
    table.lines().map(trimmed).collect::<Vec<_>>().join("\n")
}
