//! GitHub's Markdown, for READMEs, issues and comments.

use crate::numbers::Comparison;
use crate::sentences::comparison::{counts, excluded, notes, obstacles, only_in, side_line};
use crate::sentences::{Change, Report, percent, run_lines};
use crate::tables::comparison::table;
use crate::tables::sections::Rows;
use crate::tables::table::{self, Column, Table};

pub(super) fn render(report: &Report) -> String {
    let run = &report.run;
    let mut text = format!("# writebench {}, {}\n\n", run.version, run.started);
    text.extend(report.requirements.iter().map(|line| item(line)));
    if !report.requirements.is_empty() {
        text += "\n";
    }
    for (label, line) in run_lines(run) {
        text += &format!("- {label}: {}\n", escape(&line));
    }
    text += &format!("- seed: {}\n", run.settings.seed);
    for table in report.tables(Rows::Compared) {
        text += &format!("\n## {}\n\n", escape(&table.title));
        text += &rows(&table);
        let sentences = table.sentences.iter().map(|(_, text)| text);
        let lines: String = table
            .notes
            .iter()
            .chain(sentences)
            .map(|line| item(line))
            .collect();
        if !lines.is_empty() && !text.ends_with("\n\n") {
            text += "\n";
        }
        text += &lines;
    }
    let checks = report.smallest_difference.iter().chain(&report.read_back);
    let sentences: String = report
        .conclusions
        .iter()
        .skip(report.requirements.len())
        .chain(checks)
        .chain(&report.warnings)
        .map(|sentence| item(sentence))
        .collect();
    if !sentences.is_empty() {
        text += "\n";
    }
    text + &sentences
}

/// A comparison, such as for a comment on a pull request.
pub(super) fn comparison(comparison: &Comparison) -> String {
    let mut text = format!("## writebench: B vs. A: {}\n\n", counts(comparison));
    if let Some(limit_ppm) = comparison.limit_ppm {
        let names: Vec<String> = comparison
            .slower()
            .iter()
            .map(|case| format!("`{}`", case.case))
            .collect();
        let limit = percent(limit_ppm);
        let slower = if names.is_empty() {
            "no case".to_owned()
        } else {
            format!("**{}**", names.join(", "))
        };
        text += &format!("Slower by more than {limit}: {slower}.\n\n");
    }
    for (letter, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        text += &item(&format!("{letter}: {}", side_line(side)));
    }
    text += &format!("\n{}\n", rows(&table(comparison.cases.iter(), comparison)));
    let mut lines = only_in(comparison);
    lines.extend(excluded(comparison));
    lines.extend(obstacles(comparison));
    lines.extend(comparison.changes().iter().map(change_line));
    lines.extend(notes(comparison));
    text.extend(lines.iter().map(|line| item(line)));
    text
}

fn change_line(change: &Change) -> String {
    let before = change.a.join(" and ");
    let after = change.b.join(" and ");
    format!("{}: {before} → {after}", change.name)
}

fn rows(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let headings: Vec<String> = table.columns.iter().map(heading).collect();
    let alignments: String = table.columns.iter().map(alignment).collect();
    let mut text = format!("| {} |\n|{alignments}\n", headings.join(" | "));
    for row in &table.rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&table.columns)
            .map(|(text, column)| cell(text, column))
            .collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

fn heading(column: &Column) -> String {
    format!("{} {}", column.group, column.heading)
        .trim()
        .to_owned()
}

/// Words begin at the left, numbers end at the right.
fn alignment(column: &Column) -> &'static str {
    if column.is_text { "---|" } else { "---:|" }
}

fn cell(text: &str, column: &Column) -> String {
    if column.heading == table::CASE {
        format!("`{text}`")
    } else {
        escape(text)
    }
}

/// An item, and below it one for each name or command in a line of its own.
fn item(text: &str) -> String {
    text.lines()
        .map(|line| match line.strip_prefix("  ") {
            Some(name) => format!("  - `{}`\n", name.trim().replace('`', "'")),
            None => format!("- {}\n", escape(line)),
        })
        .collect()
}

/// The text with its special characters escaped, so that foreign text, such as mount points and errors, cannot become
/// markup.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' => {
                escaped.extend(['\\', character]);
            }
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
