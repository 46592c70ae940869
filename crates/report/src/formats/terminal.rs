use anstyle::Style;
use writebench_stats::LimitVerdict;

use super::first_screen::{self, goals_table};
use super::lines::{fitting, folded, unbroken, with_all_columns};
pub use super::styles::STYLES;
use super::styles::{FAULT, HEADING, QUIET, WARNING};
use super::width::{display_width, padded};
use crate::numbers::grouped;
use crate::sentences::{Report, counted, missing, one_line, run_lines, visible};
use crate::tables::notes::is_of_limit;
use crate::tables::sections::Rows;
use crate::tables::table::{self, Table};

/// How much of a run a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The answers, and tables of the named suites.
    Usual,
    /// The answers, and all tables, without the cases that a contest tried once or twice.
    Tables,
    /// Everything, in as many parts as the width needs.
    All,
}

/// The report as styled text. The caller strips unsupported styles. Lines are not broken if there is no `width`.
pub fn report(report: &Report, detail: Detail, width: Option<usize>) -> String {
    let is_all = detail == Detail::All;
    let shows_tables = detail != Detail::Usual || !report.is_brief();
    let goals = goals_table(report, width);
    let mut text = requirements(report, width);
    text += &match &goals {
        _ if is_all => head(report, width),
        Some(_) => first_screen::head(report, width),
        None => styled(QUIET, &one_line(report), width),
    };
    let mut is_cut = false;
    if shows_tables {
        let (tables, notes) = tables(report, is_all);
        for table in tables {
            let (shown, cut) = table_text(table, width, is_all);
            is_cut |= cut;
            text += &shown;
        }
        if !notes.is_empty() {
            text += "\n";
        }
        text.extend(notes.iter().map(|note| styled(QUIET, note, width)));
    }
    match goals {
        Some(table) => {
            text += &format!("\n{table}\n");
            let notes = report.first_notes();
            text.extend(notes.iter().map(|note| styled(QUIET, note, width)));
        }
        None => {
            let findings = Some(report.findings_table());
            for table in [findings, report.targets_table()].into_iter().flatten() {
                if !table.rows.is_empty() {
                    text += &table_text(table, width, false).0;
                }
            }
            text += "\n";
        }
    }
    for (style, line) in &sentences(report, shows_tables, is_cut) {
        text += &styled(*style, line, width);
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// The tables, and the notes that several of them would have.
fn tables(report: &Report, is_all: bool) -> (Vec<Table>, Vec<String>) {
    let rows = if is_all { Rows::All } else { Rows::Compared };
    let mut tables = report.tables(rows);
    let notes = tables.iter().flat_map(|table| &table.notes);
    let mut shared: Vec<String> = grouped(notes.cloned(), Clone::clone)
        .into_iter()
        .filter(|(_, same)| same.len() > 1)
        .map(|(note, _)| note)
        .collect();
    let limits = if tables.len() > 1 {
        report.limit_notes(rows)
    } else {
        Vec::new()
    };
    for table in &mut tables {
        table
            .notes
            .retain(|note| !shared.contains(note) && (limits.is_empty() || !is_of_limit(note)));
    }
    shared.retain(|note| limits.is_empty() || !is_of_limit(note));
    shared.extend(limits);
    (tables, shared)
}

/// The verdicts of `--require` come first, because the exit code is about them.
fn requirements(report: &Report, width: Option<usize>) -> String {
    let lines = report.required.iter().zip(&report.requirements);
    let mut text: String = lines
        .map(|(required, line)| {
            let style = match required.judged.verdict {
                LimitVerdict::Met => HEADING,
                LimitVerdict::Missed if required.is_recommended => WARNING,
                LimitVerdict::Missed => FAULT,
                LimitVerdict::Undecided => WARNING,
            };
            styled(style, line, width)
        })
        .collect();
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn head(report: &Report, width: Option<usize>) -> String {
    let run = &report.run;
    let number = report
        .number
        .map(|number| format!(" · run {number}"))
        .unwrap_or_default();
    let version = format!("writebench {}", visible(&run.version));
    let started = visible(&run.started);
    let first = format!("{version}{number} · {started} · seed {}", run.settings.seed);
    let first = folded(&first, width.unwrap_or(usize::MAX), 2);
    let mut text = first.replacen(&version, &format!("{HEADING}{version}{HEADING:#}"), 1);
    const LABEL: usize = 12;
    for (label, line) in run_lines(run) {
        let line = format!("{label:<LABEL$}{}", visible(&line));
        let line = unbroken(&folded(&line, width.unwrap_or(usize::MAX), LABEL), width);
        let (label, rest) = line.split_at(LABEL);
        text += &format!("{QUIET}{label}{QUIET:#}{rest}");
    }
    text
}

/// The most warnings below answers without tables.
const FEW_WARNINGS: usize = 2;

/// The sentences below the tables. Answers without tables have only those that weaken them.
fn sentences(report: &Report, shows_tables: bool, is_cut: bool) -> Vec<(Style, String)> {
    let mut sentences: Vec<(Style, String)> = Vec::new();
    if report.advice.is_some() || report.findings.is_empty() {
        let conclusions = report.conclusions.iter().skip(report.requirements.len());
        sentences.extend(in_style(Style::new(), conclusions));
    } else if shows_tables {
        sentences.extend(in_style(Style::new(), &certainties(report)));
        // The first screen of goals has them above.
        if !report.is_of_goals() {
            sentences.extend(in_style(Style::new(), &report.notes_of_answers()));
        }
        sentences.extend(in_style(Style::new(), &report.run_notes));
        sentences.extend(in_style(QUIET, &report.read_back));
    }
    // The first screen has a bound for each goal.
    if shows_tables || !report.is_of_goals() {
        sentences.extend(in_style(QUIET, &report.smallest_difference));
    }
    sentences.extend(missing(&report.run).map(|line| (WARNING, format!("Missing: {line}"))));
    let most_warnings = if shows_tables {
        report.warnings.len()
    } else {
        FEW_WARNINGS
    };
    sentences.extend(in_style(WARNING, &report.warnings).take(most_warnings));
    if let more @ 1.. = report.warnings.len().saturating_sub(most_warnings) {
        let more = counted(more, "more warning");
        sentences.push((WARNING, format!("{more} with `show --all`.")));
    }
    if is_cut {
        sentences.push((QUIET, "`show --all` has all columns.".to_owned()));
    }
    sentences
}

fn in_style<'l>(
    style: Style,
    lines: impl IntoIterator<Item = &'l String>,
) -> impl Iterator<Item = (Style, String)> {
    lines.into_iter().map(move |line| (style, line.clone()))
}

/// The certainty of each answer, after its goal.
fn certainties(report: &Report) -> Vec<String> {
    report
        .answers
        .iter()
        .filter(|answer| !answer.certainty.is_empty())
        .map(|answer| format!("{}: {}", answer.finding.heading(), answer.certainty))
        .collect()
}

/// Lines in a style, broken at spaces. A command continues with a backslash.
pub(super) fn styled(style: Style, text: &str, width: Option<usize>) -> String {
    let mut styled = String::new();
    for line in text.lines() {
        let line = visible(line);
        let indent = line.len() - line.trim_start().len();
        let broken = if line.trim_start().starts_with("writebench ") && indent > 0 {
            command(&line, indent, width)
        } else {
            unbroken(&folded(&line, width.unwrap_or(usize::MAX), indent), width)
        };
        for line in broken.lines() {
            styled += &format!("{style}{}{style:#}\n", line.trim_end());
        }
    }
    styled
}

/// A command in lines that a shell takes for one.
fn command(line: &str, indent: usize, width: Option<usize>) -> String {
    const CONTINUED: &str = " \\";
    let width = width.unwrap_or(usize::MAX);
    if display_width(line) <= width {
        return format!("{line}\n");
    }
    let folded = folded(line, width - CONTINUED.len(), indent + 2);
    folded.trim_end().replace('\n', &format!("{CONTINUED}\n")) + "\n"
}

/// The table as styled text, and whether a wider terminal would show more. With all columns, those that do not fit
/// follow in further parts.
pub(crate) fn table_text(table: Table, width: Option<usize>, is_all: bool) -> (String, bool) {
    let table = table.made_visible();
    let mut text = "\n".to_owned();
    if !table.title.is_empty() {
        text += &styled(HEADING, &table.title, width);
    }
    let mut is_cut = false;
    if !table.rows.is_empty() {
        let fitted = if is_all {
            with_all_columns(&table, width)
        } else {
            fitting(&table, width)
        };
        is_cut = fitted.is_cut;
        text += &format!("{}\n", fitted.lines.join("\n"));
        if let Some(case) = names_of_labels(&table).filter(|case| !fitted.shown.contains(case)) {
            text += &legend(&table, case, width);
        }
    }
    for note in &table.notes {
        text += &styled(QUIET, note, width);
    }
    for (is_fault, sentence) in &table.sentences {
        text += &styled(if *is_fault { FAULT } else { WARNING }, sentence, width);
    }
    (text, is_cut)
}

/// The column of names, if rows begin with labels.
fn names_of_labels(table: &Table) -> Option<usize> {
    let begins_with_label = table
        .columns
        .first()
        .is_some_and(|first| first.heading.is_empty() && first.is_text);
    let case = table
        .columns
        .iter()
        .position(|column| column.heading == table::CASE)?;
    (begins_with_label && table.columns[1..case].iter().all(|column| !column.is_text))
        .then_some(case)
}

/// The case of each label, if it does not fit next to the values.
fn legend(table: &Table, case: usize, width: Option<usize>) -> String {
    let label_width = table
        .rows
        .iter()
        .map(|row| display_width(&row[0]))
        .max()
        .unwrap_or(0);
    let beside: Vec<String> = table
        .rows
        .iter()
        .map(|row| format!("{}  {}", padded(&row[0], label_width), row[case]))
        .collect();
    let all_fit = beside
        .iter()
        .all(|line| width.is_none_or(|width| display_width(line) <= width));
    let lines = if all_fit {
        beside
    } else {
        table
            .rows
            .iter()
            .map(|row| format!("{}\n  {}", row[0], row[case]))
            .collect()
    };
    lines
        .iter()
        .map(|line| styled(QUIET, line, width))
        .collect()
}
