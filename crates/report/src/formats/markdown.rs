//! GitHub's Markdown, for READMEs, issues and comments.

use crate::numbers::Comparison;
use crate::sentences::comparison::{counts, excluded, notes, obstacles, only_in, side_line};
use crate::sentences::{Change, Report, percent, run_lines};
use crate::tables::comparison::table;
use crate::tables::table::{self, Column, Table};

pub(super) fn render(report: &Report) -> String {
    let run = &report.run;
    let mut text = format!("# writebench {}, {}\n\n", run.version, run.started);
    for (label, line) in run_lines(run) {
        text += &format!("- {label}: {}\n", escape(&line));
    }
    text += &format!("- seed: {}\n", run.settings.seed);
    for table in report.tables() {
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
    let sentences = report
        .conclusions
        .iter()
        .chain(checks)
        .chain(&report.warnings);
    let sentences: String = sentences.map(|sentence| item(sentence)).collect();
    text + if sentences.is_empty() { "" } else { "\n" } + &sentences
}

/// For a comment on a pull request.
pub(super) fn comparison(comparison: &Comparison) -> String {
    let mut text = format!("## writebench: B vs. A: {}\n\n", counts(comparison));
    if let Some(limit_ppm) = comparison.limit_ppm {
        let names: Vec<String> = comparison
            .slower()
            .iter()
            .map(|case| format!("`{}`", case.case))
            .collect();
        let (limit, none) = (percent(limit_ppm), names.is_empty());
        let slower = if none {
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
    let change = |change: Change| {
        format!(
            "{}: {} → {}",
            change.name,
            change.a.join(" and "),
            change.b.join(" and ")
        )
    };
    let changes = comparison.changes().into_iter().map(change);
    let unranked = excluded(comparison)
        .into_iter()
        .chain(obstacles(comparison));
    let lines = only_in(comparison)
        .into_iter()
        .chain(unranked)
        .chain(changes)
        .chain(notes(comparison));
    text + &lines.map(|line| item(&line)).collect::<String>()
}

fn rows(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let heading = |column: &Column| {
        format!("{} {}", column.group, column.heading)
            .trim()
            .to_owned()
    };
    let headings: Vec<String> = table.columns.iter().map(heading).collect();
    let line = |column: &Column| if column.is_text { "---|" } else { "---:|" };
    let lines: String = table.columns.iter().map(line).collect();
    let mut text = format!("| {} |\n|{lines}\n", headings.join(" | "));
    for row in &table.rows {
        let cells = row.iter().zip(&table.columns);
        let cells = cells.map(|(cell, column)| match column.heading.as_str() {
            table::CASE => format!("`{cell}`"),
            _ => escape(cell),
        });
        text += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

fn item(text: &str) -> String {
    format!("- {}\n", escape(text))
}

/// Foreign text, such as mount points and errors, cannot become markup.
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
