use anstyle::Style;

use super::lines::{fitting, folded, with_text_below};
pub use super::styles::STYLES;
use super::styles::{FAULT, HEADING, QUIET, WARNING};
use super::width::{display_width, padded};
use crate::sentences::finding::Finding;
use crate::sentences::{Report, counted, missing, one_line, run_lines, visible};
use crate::tables::sections::Rows;
use crate::tables::table::{self, Table};

/// How much of a run a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The answers, and tables of the named suites.
    Usual,
    /// The answers, and all tables, without the cases that a contest tried once or twice.
    Tables,
    /// Everything, however wide.
    All,
}

/// The report as styled text. The caller strips unsupported styles. Lines are not broken if there is no `width`.
pub fn report(report: &Report, detail: Detail, width: Option<usize>) -> String {
    let is_all = detail == Detail::All;
    let width = width.filter(|_| !is_all);
    let shows_tables = detail != Detail::Usual || !report.is_brief();
    let mut text = if is_all {
        head(report)
    } else {
        styled(QUIET, &one_line(report), width)
    };
    let mut is_cut = false;
    if shows_tables {
        let rows = if is_all { Rows::All } else { Rows::Compared };
        for table in report.tables(rows) {
            let (shown, cut) = table_text(table, width);
            is_cut |= cut;
            text += &shown;
        }
    }
    let goals = goals_text(report, width);
    text += goals.as_deref().unwrap_or_default();
    let findings = goals.is_none().then(|| report.findings_table(true));
    for table in [findings, report.targets_table()].into_iter().flatten() {
        if !table.rows.is_empty() {
            text += &table_text(table, width).0;
        }
    }
    let sentences = sentences(report, shows_tables, is_cut);
    if !sentences.is_empty() {
        text += "\n";
    }
    for (style, line) in &sentences {
        text += &styled(*style, line, width);
    }
    text
}

/// The goals with their values. Recommended methods have separate lines, because they may be long. Plain write needs
/// none.
fn goals_text(report: &Report, width: Option<usize>) -> Option<String> {
    if report.findings.is_empty() {
        return None;
    }
    if width.is_none() || !report.is_brief() || report.advice.is_some() || report.compares_targets()
    {
        return None;
    }
    let table = report.findings_table(false).made_visible();
    let methods: Vec<String> = report.findings.iter().map(method_line).collect();
    let lines = with_text_below(&table, &methods, width)?;
    Some(format!("\n{}\n", lines.join("\n")))
}

fn method_line(finding: &Finding) -> String {
    if finding.is_baseline && finding.target.is_none() {
        return String::new();
    }
    let target = finding
        .target
        .as_ref()
        .map_or(String::new(), |target| format!("{target}: "));
    visible(&(target + &finding.description)).into_owned()
}

fn head(report: &Report) -> String {
    let run = &report.run;
    let number = report
        .number
        .map(|number| format!(" · run {number}"))
        .unwrap_or_default();
    let mut text = format!(
        "{HEADING}writebench {}{HEADING:#}{number} · {} · seed {}\n",
        visible(&run.version),
        visible(&run.started),
        run.settings.seed
    );
    for (label, line) in run_lines(run) {
        text += &format!("{QUIET}{label:<12}{QUIET:#}{}\n", visible(&line));
    }
    text
}

/// The most warnings below answers without tables.
const FEW_WARNINGS: usize = 2;

/// The sentences below the tables. Answers without tables have only those that weaken them.
fn sentences(report: &Report, shows_tables: bool, is_cut: bool) -> Vec<(Style, String)> {
    let mut sentences: Vec<(Style, String)> = Vec::new();
    if report.advice.is_some() || report.findings.is_empty() {
        sentences.extend(in_style(Style::new(), &report.conclusions));
    } else if shows_tables {
        sentences.extend(in_style(Style::new(), &certainties(report)));
        sentences.extend(in_style(Style::new(), &report.run_notes));
        sentences.extend(in_style(QUIET, &report.read_back));
    }
    sentences.extend(in_style(QUIET, &report.smallest_difference));
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

/// The line in a style, broken at spaces.
pub(super) fn styled(style: Style, line: &str, width: Option<usize>) -> String {
    format!(
        "{style}{}{style:#}\n",
        folded(&visible(line), width.unwrap_or(usize::MAX), 0).trim_end()
    )
}

/// The table as styled text, and whether a wider terminal would show more.
pub(crate) fn table_text(table: Table, width: Option<usize>) -> (String, bool) {
    let table = table.made_visible();
    let mut text = "\n".to_owned();
    if !table.title.is_empty() {
        text += &styled(HEADING, &table.title, width);
    }
    let mut is_cut = false;
    if !table.rows.is_empty() {
        let fitted = fitting(&table, width);
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
        .map(|line| format!("{QUIET}{line}{QUIET:#}\n"))
        .collect()
}
