//! For people, in a terminal or a log.

use anstyle::{AnsiColor, Style};

use super::lines::fitting;
use crate::machine::run_lines;
use crate::noise::NoiseReport;
use crate::report::Report;
use crate::table::{Sentence, Table};

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
        let (shown, is_cut) = table_text(&table, width);
        cut |= is_cut;
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

/// A table with its title and all that stands below it, and whether a wider terminal would show more of it.
pub(crate) fn table_text(table: &Table, width: Option<usize>) -> (String, bool) {
    let mut text = format!("\n{HEADING}{}{HEADING:#}\n", table.title);
    let mut is_cut = false;
    if !table.rows.is_empty() {
        let fitted = fitting(table, width);
        is_cut = fitted.is_cut(table);
        text += &format!("{}\n", fitted.text());
        if let Some(case) = names_of_labels(table).filter(|case| !fitted.shows(*case)) {
            text += &legend(table, case, width);
        }
    }
    for note in &table.notes {
        text += &format!("{QUIET}{note}{QUIET:#}\n");
    }
    for sentence in &table.sentences {
        text += &sentence_line(sentence);
    }
    (text, is_cut)
}

/// The column with the names of cases, where rows begin with a label alone.
fn names_of_labels(table: &Table) -> Option<usize> {
    let begins_with_label =
        table.columns.first().is_some_and(|first| first.heading.is_empty() && first.is_text);
    let case = table.columns.iter().position(|column| column.heading == "case")?;
    (begins_with_label && table.columns[1..case].iter().all(|column| !column.is_text)).then_some(case)
}

/// What each label means, to be run again, where there is no room for it beside the figures.
fn legend(table: &Table, case: usize, width: Option<usize>) -> String {
    let label_width = table.rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
    let beside = |row: &Vec<String>| format!("{:<label_width$}  {}", row[0], row[case]);
    let below = |row: &Vec<String>| format!("{}\n  {}", row[0], row[case]);
    let fits = |row: &Vec<String>| width.is_none_or(|width| beside(row).chars().count() <= width);
    let all_fit = table.rows.iter().all(fits);
    let line = |row| if all_fit { beside(row) } else { below(row) };
    table.rows.iter().map(|row| format!("{QUIET}{}{QUIET:#}\n", line(row))).collect()
}

fn sentence_line(sentence: &Sentence) -> String {
    let style = if sentence.is_fault { FAULT } else { WARNING };
    format!("{style}{}{style:#}\n", sentence.text)
}

/// What a machine's noise lets be told, and what to do about it.
#[must_use]
pub fn noise(report: &NoiseReport, width: Option<usize>) -> String {
    let table = report.table();
    let mut text = format!("{HEADING}{}{HEADING:#}\n{}\n", table.title, fitting(&table, width).text());
    for note in &table.notes {
        text += &format!("{WARNING}{note}{WARNING:#}\n");
    }
    text += "\n";
    for sentence in report.verdicts.iter().chain(&report.advice) {
        text += &format!("{sentence}\n");
    }
    text
}
