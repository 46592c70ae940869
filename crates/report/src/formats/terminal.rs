//! For people, in a terminal or a log.

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, presets};

use crate::machine::run_lines;
use crate::noise::NoiseReport;
use crate::report::Report;
use crate::table::{Column, Sentence, Table};

pub(super) const HEADING: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const FAULT: Style = AnsiColor::Red.on_default();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();

/// What was measured on. Styled text; whoever prints it strips what the output cannot show.
#[must_use]
pub fn head(report: &Report) -> String {
    let run = &report.run;
    let number = report.number.map(|number| format!(" · run {number}")).unwrap_or_default();
    let mut text = format!(
        "{HEADING}writebench {}{HEADING:#}{number} · {} · seed {}\n",
        run.version, run.started, run.settings.seed
    );
    for (label, line) in run_lines(run) {
        text += &format!("{QUIET}{label:<12}{QUIET:#}{line}\n");
    }
    text
}

/// The tables, what they come to, and the warnings. `width` is the terminal's; none for all columns.
#[must_use]
pub fn body(report: &Report, width: Option<usize>) -> String {
    let mut text = String::new();
    let mut cut = false;
    for table in report.tables() {
        let (shown, columns) = table_text(&table, width);
        cut |= columns < table.columns.len();
        text += &shown;
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

/// A table with its title and all that stands below it, and how many of its columns there are.
pub(crate) fn table_text(table: &Table, width: Option<usize>) -> (String, usize) {
    let mut text = format!("\n{HEADING}{}{HEADING:#}\n", table.title);
    let mut columns = table.columns.len();
    if !table.rows.is_empty() {
        let (lines, shown) = fitting(table, width);
        columns = shown;
        text += &format!("{lines}\n");
    }
    for note in &table.notes {
        text += &format!("{QUIET}{note}{QUIET:#}\n");
    }
    for sentence in &table.sentences {
        text += &sentence_line(sentence);
    }
    (text, columns)
}

fn sentence_line(sentence: &Sentence) -> String {
    let style = if sentence.is_fault { FAULT } else { WARNING };
    format!("{style}{}{style:#}\n", sentence.text)
}

/// What a machine's noise lets be told, and what to do about it.
#[must_use]
pub fn noise(report: &NoiseReport, width: Option<usize>) -> String {
    let table = report.table();
    let mut text = format!("{HEADING}{}{HEADING:#}\n{}\n", table.title, fitting(&table, width).0);
    for note in &table.notes {
        text += &format!("{WARNING}{note}{WARNING:#}\n");
    }
    text += "\n";
    for sentence in report.verdicts.iter().chain(&report.advice) {
        text += &format!("{sentence}\n");
    }
    text
}

/// The table with all columns, or with as many ranks of them as fit the width, and their number. What is too wide
/// even without all that can be left out is shown in parts, one below the other.
pub(super) fn fitting(table: &Table, width: Option<usize>) -> (String, usize) {
    let highest = table.columns.iter().map(|column| column.rank).max().unwrap_or(0);
    let fits = |text: &str| width.is_none_or(|width| text.lines().all(|line| line.chars().count() <= width));
    for most in (0..=highest).rev() {
        let shown: Vec<bool> = table.columns.iter().map(|column| column.rank <= most).collect();
        let text = lines(table, &shown);
        if fits(&text) {
            return (text, shown.iter().filter(|shown| **shown).count());
        }
    }
    let needed: Vec<usize> = (1..table.columns.len()).filter(|&index| table.columns[index].rank == 0).collect();
    let part = |columns: &[usize]| {
        let is_shown = |index| index == 0 || columns.contains(&index);
        lines(table, &(0..table.columns.len()).map(is_shown).collect::<Vec<bool>>())
    };
    let mut parts = Vec::new();
    let mut rest = needed.as_slice();
    while !rest.is_empty() {
        // A single column is shown whether it fits or not.
        let most = (2..=rest.len()).rev().find(|&count| fits(&part(&rest[..count]))).unwrap_or(1);
        let (now, later) = rest.split_at(most);
        parts.push(part(now));
        rest = later;
    }
    (parts.join("\n\n"), needed.len() + 1)
}

fn lines(table: &Table, shown: &[bool]) -> String {
    let align = |column: &Column, text: String| {
        let side = if column.is_text { CellAlignment::Left } else { CellAlignment::Right };
        Cell::new(text).set_alignment(side)
    };
    let is_shown = |(index, _): &(usize, &Column)| shown[*index];
    let columns: Vec<(usize, &Column)> = table.columns.iter().enumerate().filter(is_shown).collect();
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(presets::NOTHING);
    // One line of headings where no column is in a group.
    let grouped = table.columns.iter().any(|column| !column.group.is_empty());
    drawn.set_header(columns.iter().map(|(_, column)| {
        let heading =
            if grouped { format!("{}\n{}", column.group, column.heading) } else { column.heading.clone() };
        align(column, heading)
    }));
    for row in &table.rows {
        drawn.add_row(columns.iter().map(|(index, column)| align(column, row[*index].clone())));
    }
    // Every cell is padded by a space on either side.
    let trimmed = |line: String| line.trim_end().get(1..).unwrap_or_default().to_owned();
    drawn.lines().map(trimmed).collect::<Vec<_>>().join("\n")
}
