use anstyle::Style;

use super::lines::{fitting, folded, with_text_below};
pub use super::styles::STYLES;
use super::styles::{FAULT, HEADING, QUIET, WARNING};
use super::width::{display_width, padded};
use crate::sentences::finding::Finding;
use crate::sentences::{Report, counted, missing, one_line, run_lines, visible};
use crate::tables::table::{self, Table};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Answers, and tables of the named suites.
    Usual,
    /// Everything, however wide.
    All,
}

/// Styled text: the caller strips unsupported styles. Without a `width`, lines are not broken.
pub fn report(report: &Report, detail: Detail, width: Option<usize>) -> String {
    let is_all = detail == Detail::All;
    let (width, shows_tables) = (width.filter(|_| !is_all), is_all || !report.is_brief());
    let mut text = if is_all {
        head(report)
    } else {
        styled(QUIET, &one_line(report), width)
    };
    let mut is_cut = false;
    if shows_tables {
        for table in report.tables() {
            let (shown, cut) = table_text(table, width);
            is_cut |= cut;
            text += &shown;
        }
    }
    let goals = goals_text(report, width);
    text += goals.as_deref().unwrap_or_default();
    let found = [
        goals.is_none().then(|| report.findings_table(true)),
        report.targets_table(),
    ];
    for table in found
        .into_iter()
        .flatten()
        .filter(|table| !table.rows.is_empty())
    {
        text += &table_text(table, width).0;
    }
    let said = sentences(report, shows_tables, is_cut);
    if !said.is_empty() {
        text += "\n";
    }
    text.extend(said.iter().map(|(style, line)| styled(*style, line, width)));
    text
}

/// Recommended methods have separate lines, because they may be long. Plain write needs none.
fn goals_text(report: &Report, width: Option<usize>) -> Option<String> {
    if report.findings.is_empty() {
        return None;
    }
    if width.is_none() || !report.is_brief() || report.advice.is_some() || report.compares_targets()
    {
        return None;
    }
    let table = report.findings_table(false).made_visible();
    let way = |finding: &Finding| {
        if finding.is_baseline && finding.target.is_none() {
            return String::new();
        }
        let target = finding
            .target
            .as_ref()
            .map_or(String::new(), |target| format!("{target}: "));
        visible(&(target + &finding.description)).into_owned()
    };
    let ways: Vec<String> = report.findings.iter().map(way).collect();
    Some(format!(
        "\n{}\n",
        with_text_below(&table, &ways, width)?.join("\n")
    ))
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

/// Below answers without tables.
const FEW_WARNINGS: usize = 2;

/// Answers without tables have only those that weaken them.
fn sentences(report: &Report, shows_tables: bool, is_cut: bool) -> Vec<(Style, String)> {
    let plain = |line: &String| (Style::new(), line.clone());
    let mut said: Vec<(Style, String)> = Vec::new();
    if report.advice.is_some() || report.findings.is_empty() {
        said.extend(report.conclusions.iter().map(plain));
    } else if shows_tables {
        let certain = report
            .answers
            .iter()
            .filter(|answer| !answer.certainty.is_empty());
        let certain =
            certain.map(|answer| format!("{}: {}", answer.finding.goal, answer.certainty));
        said.extend(certain.map(|line| plain(&line)));
        said.extend(report.run_notes.iter().map(plain));
        said.extend(report.read_back.iter().map(|line| (QUIET, line.clone())));
    }
    said.extend(
        report
            .smallest_difference
            .iter()
            .map(|line| (QUIET, line.clone())),
    );
    said.extend(missing(&report.run).map(|line| (WARNING, format!("Missing: {line}"))));
    let most = if shows_tables {
        report.warnings.len()
    } else {
        FEW_WARNINGS
    };
    said.extend(
        report
            .warnings
            .iter()
            .take(most)
            .map(|line| (WARNING, line.clone())),
    );
    if let more @ 1.. = report.warnings.len().saturating_sub(most) {
        said.push((
            WARNING,
            format!("{} with `show --all`.", counted(more, "more warning")),
        ));
    }
    if is_cut {
        said.push((QUIET, "`show --all` has all columns.".to_owned()));
    }
    said
}

/// Breaks at spaces.
pub(super) fn styled(style: Style, line: &str, width: Option<usize>) -> String {
    format!(
        "{style}{}{style:#}\n",
        folded(&visible(line), width.unwrap_or(usize::MAX), 0).trim_end()
    )
}

/// Also whether a wider terminal would show more.
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
    let beside = |row: &Vec<String>| format!("{}  {}", padded(&row[0], label_width), row[case]);
    let below = |row: &Vec<String>| format!("{}\n  {}", row[0], row[case]);
    let fits = |row: &Vec<String>| width.is_none_or(|width| display_width(&beside(row)) <= width);
    let all_fit = table.rows.iter().all(fits);
    let line = |row| if all_fit { beside(row) } else { below(row) };
    table
        .rows
        .iter()
        .map(|row| format!("{QUIET}{}{QUIET:#}\n", line(row)))
        .collect()
}
