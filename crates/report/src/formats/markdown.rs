//! For READMEs and issues: the same tables in GitHub's Markdown.

use crate::formats::table::{COLUMNS, sentence};
use crate::machine::machine_lines;
use crate::report::Report;

/// The whole report.
#[must_use]
pub fn render(report: &Report) -> String {
    let run = &report.run;
    let mut text = format!("# writebench {}, {}\n\n", run.version, run.started);
    for (label, line) in machine_lines(&run.environment, &run.target) {
        text += &format!("- {label}: {}\n", escape(&line));
    }
    text += &format!("- seed: {}\n", run.settings.seed);
    for rows in report.tables() {
        let first = &rows[0].record;
        text += &format!("\n## {}: {}\n\n", first.suite, first.section);
        if rows.iter().any(|row| row.estimate.is_some()) {
            text += "| case |";
            for column in COLUMNS {
                text += &format!(" {} |", format!("{} {}", column.group, column.heading).trim());
            }
            text += &format!("\n|---|{}\n", "---:|".repeat(COLUMNS.len()));
        }
        for row in rows {
            let Some(estimate) = &row.estimate else { continue };
            text += &format!("| `{}` |", row.record.case);
            for column in COLUMNS {
                text += &format!(" {} |", (column.cell)(estimate));
            }
            text += "\n";
        }
        let sentences: Vec<String> = rows.iter().filter_map(sentence).collect();
        if !sentences.is_empty() && !text.ends_with("\n\n") {
            text += "\n";
        }
        for sentence in sentences {
            text += &format!("- {}\n", escape(&sentence));
        }
    }
    if !report.conclusions.is_empty() || !report.warnings.is_empty() {
        text += "\n";
    }
    for sentence in report.conclusions.iter().chain(&report.warnings) {
        text += &format!("- {}\n", escape(sentence));
    }
    text
}

/// Text of strangers (mount points, error messages) must not become markup.
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
