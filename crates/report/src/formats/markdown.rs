//! GitHub's Markdown, for READMEs and issues.

use crate::sentences::{Report, run_lines};
use crate::tables::table::{self, Column};

pub(super) fn render(report: &Report) -> String {
    let run = &report.run;
    let mut text = format!("# writebench {}, {}\n\n", run.version, run.started);
    for (label, line) in run_lines(run) {
        text += &format!("- {label}: {}\n", escape(&line));
    }
    text += &format!("- seed: {}\n", run.settings.seed);
    for table in report.tables() {
        text += &format!("\n## {}\n\n", escape(&table.title));
        if !table.rows.is_empty() {
            let heading = |column: &Column| format!("{} {}", column.group, column.heading).trim().to_owned();
            let headings: Vec<String> = table.columns.iter().map(heading).collect();
            let line = |column: &Column| if column.is_text { "---|" } else { "---:|" };
            let lines: String = table.columns.iter().map(line).collect();
            text += &format!("| {} |\n|{lines}\n", headings.join(" | "));
        }
        for row in &table.rows {
            let cells = row.iter().zip(&table.columns);
            let cells = cells.map(|(cell, column)| match column.heading.as_str() {
                table::CASE => format!("`{cell}`"),
                _ => escape(cell),
            });
            text += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        }
        let sentences = table.sentences.iter().map(|(_, text)| text);
        let lines: String = table.notes.iter().chain(sentences).map(|line| item(line)).collect();
        if !lines.is_empty() && !text.ends_with("\n\n") {
            text += "\n";
        }
        text += &lines;
    }
    let checks = report.smallest_difference.iter().chain(&report.read_back);
    let sentences = report.conclusions.iter().chain(checks).chain(&report.warnings);
    let sentences: String = sentences.map(|sentence| item(sentence)).collect();
    text + if sentences.is_empty() { "" } else { "\n" } + &sentences
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
