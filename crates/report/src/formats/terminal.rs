//! For people, in a terminal or a log.

use anstyle::Style;
use writebench_model::RunRecord;

use super::lines::{fitting, folded, padded};
pub use super::styles::STYLES;
use super::styles::{FAULT, HEADING, QUIET, WARNING};
use crate::sentences::machine::run_lines;
use crate::sentences::noise::NoiseReport;
use crate::sentences::report::Report;
use crate::sentences::visible::visible;
use crate::sentences::words::counted;
use crate::tables::table::Table;

/// What was measured on. Styled text; whoever prints it strips what the output cannot show. `width` is the terminal's;
/// none to leave lines as long as they are.
#[must_use]
pub fn head(number: Option<i64>, run: &RunRecord, width: Option<usize>) -> String {
    let number = number.map(|number| format!(" · run {number}")).unwrap_or_default();
    let mut text = format!(
        "{HEADING}writebench {}{HEADING:#}{number} · {} · seed {}\n",
        visible(&run.version),
        visible(&run.started),
        run.settings.seed
    );
    for (label, line) in run_lines(run) {
        let line = folded(&format!("{label:<12}{}", visible(&line)), width.unwrap_or(usize::MAX), 12);
        text += &format!("{QUIET}{label}{QUIET:#}{}", &line[label.len()..]);
    }
    text
}

/// The tables, what they come to, and the warnings; the three sentences that matter come last. `width` is the terminal's;
/// none for all columns.
#[must_use]
pub fn body(report: &Report, width: Option<usize>) -> String {
    let mut text = String::new();
    let mut cut = false;
    for table in report.tables() {
        let (shown, is_cut) = table_text(table, width);
        cut |= is_cut;
        text += &shown;
    }
    let (mut above, last) = words(report);
    if cut {
        above.push((QUIET, "A wider terminal shows more columns.".to_owned()));
    }
    for part in [above, last] {
        if !part.is_empty() {
            text += "\n";
        }
        text.extend(part.iter().map(|(style, line)| styled(*style, line, width)));
    }
    text
}

type Lines = Vec<(Style, String)>;

/// What is said below the tables; apart, the answer, how sure it is, and what weakens it most; or the advice.
fn words(report: &Report) -> (Lines, Lines) {
    let plain = |line: &String| (Style::new(), line.clone());
    let warning = |line: &String| (WARNING, line.clone());
    let read_back = report.read_back.iter().map(|line| (QUIET, line.clone()));
    let mut warnings = report.warnings.iter().map(warning);
    let Some(main) = report.main_answer() else {
        return (read_back.chain(warnings).collect(), report.conclusions.iter().map(plain).collect());
    };
    let first = warnings.next();
    let said_last = main.text();
    let above = report.conclusions.iter().filter(|line| **line != said_last).map(plain);
    let mut last = vec![(HEADING, main.sentence.clone())];
    if !main.certainty.is_empty() {
        let others = match report.answers.len() - 1 {
            0 => String::new(),
            others => format!(" Above: {} for what else can be wanted.", counted(others, "answer")),
        };
        last.push((Style::new(), format!("{}{others}", main.certainty)));
    }
    last.push(first.unwrap_or_else(|| (Style::new(), NO_WARNING.to_owned())));
    (read_back.chain(above).chain(warnings).collect(), last)
}

/// Each of it would be a warning.
const NO_WARNING: &str = "No sample was disturbed, and no case failed.";

/// A line that breaks at spaces where a terminal is narrower.
fn styled(style: Style, line: &str, width: Option<usize>) -> String {
    format!("{style}{}{style:#}\n", folded(&visible(line), width.unwrap_or(usize::MAX), 0).trim_end())
}

/// A table with its title and all that stands below it, and whether a wider terminal would show more of it.
pub(crate) fn table_text(table: Table, width: Option<usize>) -> (String, bool) {
    let table = table.made_visible();
    let mut text = format!("\n{HEADING}{}{HEADING:#}\n", table.title);
    let mut is_cut = false;
    if !table.rows.is_empty() {
        let fitted = fitting(&table, width);
        is_cut = fitted.is_cut;
        text += &format!("{}\n", fitted.text());
        if let Some(case) = names_of_labels(&table).filter(|case| !fitted.shown[*case]) {
            text += &legend(&table, case, width);
        }
    }
    for note in &table.notes {
        text += &styled(QUIET, note, width);
    }
    for sentence in &table.sentences {
        text += &styled(if sentence.is_fault { FAULT } else { WARNING }, &sentence.text, width);
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
    let beside = |row: &Vec<String>| format!("{}  {}", padded(&row[0], label_width), row[case]);
    let below = |row: &Vec<String>| format!("{}\n  {}", row[0], row[case]);
    let fits = |row: &Vec<String>| width.is_none_or(|width| beside(row).chars().count() <= width);
    let all_fit = table.rows.iter().all(fits);
    let line = |row| if all_fit { beside(row) } else { below(row) };
    table.rows.iter().map(|row| format!("{QUIET}{}{QUIET:#}\n", line(row))).collect()
}

/// What a machine's noise lets be told, and what to do about it.
#[must_use]
pub fn noise(report: &NoiseReport, width: Option<usize>) -> String {
    let table = report.table();
    let mut text = format!("{HEADING}{}{HEADING:#}\n{}\n", table.title, fitting(&table, width).text());
    for note in &table.notes {
        text += &styled(WARNING, note, width);
    }
    text += "\n";
    for sentence in report.verdicts.iter().chain(&report.advice) {
        text += &styled(Style::new(), sentence, width);
    }
    text
}
