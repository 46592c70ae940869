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
    let mut cut = false;
    for rows in report.tables() {
        let first = &rows[0].record;
        text += &format!("\n{HEADING}{} · {}{HEADING:#}\n", first.suite, first.section);
        if rows.iter().any(|row| row.estimate.is_some()) {
            let (table, columns) = fitting_table(rows, width);
            cut |= columns < COLUMNS.len();
            text += &table;
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
    if cut {
        text += &format!("{QUIET}A wider terminal shows more columns.{QUIET:#}\n");
    }
    text
}

/// The table with all columns, or with as many ranks of them as fit the width, and their number.
fn fitting_table(rows: &[CaseReport], width: Option<usize>) -> (String, usize) {
    let highest = COLUMNS.iter().map(|column| column.rank).max().unwrap_or(0);
    let fits = |text: &str| width.is_none_or(|width| text.lines().all(|line| line.chars().count() <= width));
    for most in (0..=highest).rev() {
        let columns: Vec<&Column> = COLUMNS.iter().filter(|column| column.rank <= most).collect();
        let text = table(rows, &columns);
        if most == 0 || fits(&text) {
            return (text, columns.len());
        }
    }
    (String::new(), 0)
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
