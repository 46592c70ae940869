//! The answers of a run of goals: a row for each goal, below what a power loss does to its data. With several targets
//! there is a column for each of them.

use super::lines::folded;
use super::styles::{HEADING, QUIET};
use super::width::{display_width, padded};
use crate::sentences::finding::Finding;
use crate::sentences::first_notes::FEW_GOALS;
use crate::sentences::goal_rows::{Group, Row, file_sizes, groups};
use crate::sentences::machine::one_place;
use crate::sentences::{Report, visible};

const GAP: usize = 2;
const INDENT: usize = 2;
/// Longer labels take several lines.
const MOST_LABEL: usize = 20;
/// A method in a narrower column would have a word in each line.
const LEAST_METHOD: usize = 18;
/// A cell of a target, with a value and the beginning of a method.
const LEAST_TARGET: usize = 17;

/// The table of the goals. It is None for other runs.
pub(super) fn goals_table(report: &Report, width: Option<usize>) -> Option<String> {
    let is_of_goals = report.is_brief() && report.is_of_goals() && report.advice.is_none();
    if !is_of_goals || report.answers.is_empty() {
        return None;
    }
    let groups = groups(&report.answers, &report.run);
    Some(if report.run.is_side_by_side() {
        table_of_targets(&groups, report, width)
    } else {
        table_of_one(&groups, width)
    })
}

/// `/data: ext4 on vda (virtio_blk), 64 MiB files        37 methods, 734 samples`.
pub(super) fn head(report: &Report, width: Option<usize>) -> String {
    let mut place = one_place(report);
    if let Some(sizes) = file_sizes(&report.answers) {
        place += &format!(", {sizes}");
    }
    let place = visible(&place);
    let extent = report.extent();
    let both = display_width(&place) + GAP + display_width(&extent);
    let line = match width {
        Some(width) if both <= width => {
            padded(&place, width - display_width(&extent)) + &extent + "\n"
        }
        Some(width) => folded(&place, width, INDENT) + &folded(&extent, width, INDENT),
        None => format!("{place}  {extent}\n"),
    };
    styled_lines(QUIET, line.lines())
}

fn styled_lines<'l>(style: anstyle::Style, lines: impl Iterator<Item = &'l str>) -> String {
    lines
        .map(|line| format!("{style}{}{style:#}\n", line.trim_end()))
        .collect()
}

/// The texts of a goal's row.
struct Cells {
    label: String,
    method: String,
    number: String,
    unit: &'static str,
    versus: String,
    case: String,
    /// Why there is no answer, instead of the other cells, or below them.
    reason: Option<String>,
}

impl Cells {
    fn of(row: &Row<'_>, finding: &Finding) -> Self {
        let (number, unit) = value_of(finding);
        Self {
            label: visible(&row.label).into_owned(),
            method: visible(&method(finding)).into_owned(),
            number,
            unit,
            versus: versus(finding),
            case: finding.case.clone().unwrap_or_default(),
            reason: reason(finding),
        }
    }
}

fn value_of(finding: &Finding) -> (String, &'static str) {
    match finding.unit() {
        "records/s" => (finding.value(), "rec/s"),
        unit => (finding.value(), unit),
    }
}

/// Plain write needs no calls here, because a note below the table has them.
fn method(finding: &Finding) -> String {
    match &finding.measured {
        Some(_) if finding.is_baseline => "plain".to_owned(),
        _ => finding.short.clone(),
    }
}

fn versus(finding: &Finding) -> String {
    match (&finding.measured, &finding.unanswered) {
        (Some(_), Some(_)) => "no rank".to_owned(),
        (Some(_), None) if finding.is_alone() => "nothing compared".to_owned(),
        (Some(_), None) => finding.speed_ratio().replace(" – ", "–"),
        (None, _) => String::new(),
    }
}

fn reason(finding: &Finding) -> Option<String> {
    let why = finding.unanswered.as_ref()?.text();
    Some(visible(&why).into_owned())
}

/// The widths of the columns of one target.
struct Widths {
    label: usize,
    /// The width of the method, or None if it is below its row.
    method: Option<usize>,
    number: usize,
    unit: usize,
    /// The width of the ratio, or None if it is below its row.
    versus: Option<usize>,
    /// The width of the cases' names, or None if they do not fit.
    case: Option<usize>,
}

const GOAL: &str = "Goal";
const RECOMMENDED: &str = "Recommended";
const RESULT: &str = "Result";
const VERSUS: &str = "vs. plain (95 % CI)";
const CASE: &str = "Case";

impl Widths {
    fn of(rows: &[Cells], width: Option<usize>) -> Self {
        let widest = |text: fn(&Cells) -> &str| {
            let widths = rows.iter().map(|row| display_width(text(row)));
            widths.max().unwrap_or(0)
        };
        let label = (INDENT + widest(|row| &row.label).min(MOST_LABEL)).max(GOAL.len());
        let number = widest(|row| &row.number);
        let unit = widest(|row| row.unit).max(RESULT.len().saturating_sub(number + 1));
        let versus = widest(|row| &row.versus).max(VERSUS.len());
        let method = widest(|row| &row.method).max(RECOMMENDED.len());
        let case = widest(|row| &row.case);
        let value = label + GAP + number + 1 + unit;
        let rest = value + GAP + versus;
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(rest + GAP));
        let versus = Some(versus).filter(|_| width.is_none_or(|width| rest <= width));
        Self {
            label,
            method: Some(method.min(room)).filter(|_| room >= LEAST_METHOD.min(method)),
            number,
            unit,
            versus,
            case: Some(case).filter(|case| method.saturating_add(GAP + case) <= room),
        }
    }

    /// The columns between the label and the name of the case.
    fn beside_label(&self) -> usize {
        let method = self.method.map_or(0, |method| method + GAP);
        let versus = self.versus.map_or(0, |versus| GAP + versus);
        method + self.number + 1 + self.unit + versus
    }

    fn heading(&self) -> String {
        let result = self.number + 1 + self.unit;
        let mut line = padded(GOAL, self.label + GAP);
        if let Some(method) = self.method {
            line += &padded(RECOMMENDED, method + GAP);
        }
        line += &format!("{RESULT:>result$}");
        if let Some(versus) = self.versus {
            line += &format!("{:GAP$}{}", "", padded(VERSUS, versus));
        }
        if self.case.is_some() {
            line += &format!("{:GAP$}{CASE}", "");
        }
        line
    }
}

fn table_of_one(groups: &[Group<'_>], width: Option<usize>) -> String {
    let cells = |group: &Group<'_>| -> Vec<Cells> {
        let answers = |row: &Row<'_>| -> Vec<Cells> {
            let findings = row.answers.iter().map(|answer| &answer.finding);
            findings.map(|finding| Cells::of(row, finding)).collect()
        };
        group.rows.iter().flat_map(answers).collect()
    };
    let by_group: Vec<(&str, Vec<Cells>)> = groups
        .iter()
        .map(|group| (group.heading.as_str(), cells(group)))
        .collect();
    let count = by_group.iter().map(|(_, rows)| rows.len()).sum();
    let all: Vec<Cells> = groups.iter().flat_map(cells).collect();
    let widths = Widths::of(&all, width);
    let mut text = styled_lines(HEADING, [widths.heading().as_str()].into_iter());
    for (heading, rows) in &by_group {
        text += &styled_lines(QUIET, folded_at(heading, width).lines());
        for row in rows {
            text += &row_lines(row, &widths, most_lines(count), width);
        }
    }
    text
}

/// The lines of a method, so that all goals fit on a screen.
fn most_lines(goals: usize) -> usize {
    if goals <= FEW_GOALS { 2 } else { 1 }
}

fn folded_at(text: &str, width: Option<usize>) -> String {
    folded(text, width.unwrap_or(usize::MAX), INDENT)
}

fn row_lines(row: &Cells, widths: &Widths, most: usize, width: Option<usize>) -> String {
    let label = indented(&row.label, widths.label);
    if row.number.is_empty() {
        // The reason takes the place of all other columns.
        let reason = row.reason.as_deref().unwrap_or_default();
        let room = width.map_or(usize::MAX, |_| widths.beside_label());
        return beside_each_other(&[(label, widths.label), (fold(reason, room), room)]);
    }
    let value = format!(
        "{:>number$} {}",
        row.number,
        row.unit,
        number = widths.number
    );
    let mut columns = vec![(label, widths.label)];
    if let Some(method) = widths.method {
        columns.push((cut(&row.method, method, most), method));
    }
    columns.push((vec![value], widths.number + 1 + widths.unit));
    if let Some(versus) = widths.versus {
        columns.push((vec![row.versus.clone()], versus));
    }
    if let Some(case) = widths.case {
        columns.push((vec![row.case.clone()], case));
    }
    let mut text = beside_each_other(&columns);
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(2 * INDENT));
    let below = [
        widths.versus.is_none().then_some(&row.versus),
        widths.method.is_none().then_some(&row.method),
        row.reason.as_ref(),
    ];
    for line in below
        .into_iter()
        .flatten()
        .flat_map(|text| fold(text, room))
    {
        text += &format!("{:indent$}{line}\n", "", indent = 2 * INDENT);
    }
    text
}

/// The label in lines of a column, all but the first with a larger indent.
fn indented(label: &str, width: usize) -> Vec<String> {
    let lines = folded(label, width - INDENT, INDENT);
    lines
        .lines()
        .map(|line| format!("{:INDENT$}{line}", ""))
        .collect()
}

fn fold(text: &str, width: usize) -> Vec<String> {
    folded(text, width, 0).lines().map(str::to_owned).collect()
}

/// The text in one line. If it is longer, it ends after a word with an ellipsis.
pub fn shortened(text: &str, width: usize) -> String {
    cut(text, width, 1).concat()
}

/// The text in so many lines. If it is longer, it ends after a word with an ellipsis.
fn cut(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = fold(text, width);
    if lines.len() <= most {
        return lines;
    }
    let ends = text.rmatch_indices(' ').map(|(place, _)| &text[..place]);
    let beginning = ends
        .filter(|beginning| !is_dangling(beginning))
        .map(|beginning| fold(&format!("{beginning} …"), width))
        .find(|lines| lines.len() <= most);
    beginning.unwrap_or_else(|| {
        lines.truncate(most);
        lines
    })
}

/// Whether the last word needs another one: `in`, or the number of a size.
fn is_dangling(text: &str) -> bool {
    const NEED_ANOTHER: [&str; 12] = [
        "a", "after", "and", "each", "for", "in", "into", "of", "the", "then", "to", "with",
    ];
    let last = text.rsplit(' ').next().unwrap_or_default();
    NEED_ANOTHER.contains(&last) || last.chars().all(|character| character.is_ascii_digit())
}

/// Columns with lines of text, and their widths. The last one is as wide as its text.
fn beside_each_other(columns: &[(Vec<String>, usize)]) -> String {
    let height = columns.iter().map(|(lines, _)| lines.len()).max();
    let mut text = String::new();
    for number in 0..height.unwrap_or(0) {
        let part = |lines: &[String]| lines.get(number).cloned().unwrap_or_default();
        let mut line = String::new();
        if let Some(((last, _), before)) = columns.split_last() {
            for (lines, width) in before {
                line += &padded(&part(lines), width + GAP);
            }
            line += &part(last);
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A row for each goal, and a column for each target: its value, how many times that of plain write it is, and the method.
fn table_of_targets(groups: &[Group<'_>], report: &Report, width: Option<usize>) -> String {
    let labels = groups.iter().flat_map(|group| &group.rows);
    let label = labels.map(|row| display_width(&row.label)).max();
    let label = INDENT + label.unwrap_or(0).min(MOST_LABEL);
    let targets = report.target_columns();
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(label));
    let in_a_part = (room / (LEAST_TARGET + GAP)).clamp(1, targets.len().max(1));
    let column = (room / in_a_part).saturating_sub(GAP);
    let rows: usize = groups.iter().map(|group| group.rows.len()).sum();
    let mut parts = Vec::new();
    for targets in targets.chunks(in_a_part) {
        let widest = natural_width(groups, targets);
        let grid = Grid {
            targets,
            label,
            column: column.min(widest),
            most: most_lines(rows),
            width,
        };
        parts.push(grid.text(groups));
    }
    parts.join("\n")
}

/// The widest cell of these targets, if no method takes several lines.
fn natural_width(groups: &[Group<'_>], targets: &[[String; 2]]) -> usize {
    let rows = groups.iter().flat_map(|group| &group.rows);
    let cells = rows.flat_map(|row| {
        let findings = targets.iter().filter_map(|[name, _]| finding_on(row, name));
        findings.flat_map(|finding| cell(finding, usize::MAX, usize::MAX))
    });
    let headings = targets.iter().flatten().cloned();
    let widths = cells.chain(headings).map(|text| display_width(&text));
    widths.max().unwrap_or(0)
}

/// Some of the targets, as many as fit beside each other.
struct Grid<'t> {
    /// The name of each, and its filesystem.
    targets: &'t [[String; 2]],
    label: usize,
    column: usize,
    most: usize,
    width: Option<usize>,
}

impl Grid<'_> {
    fn text(&self, groups: &[Group<'_>]) -> String {
        let heading = |index: usize| {
            let texts = self.targets.iter().map(|target| {
                let name = cut_word(&visible(&target[index]), self.column);
                (vec![name], self.column)
            });
            let goal = if index == 0 { GOAL } else { "" };
            let columns: Vec<_> = [(vec![goal.to_owned()], self.label)]
                .into_iter()
                .chain(texts)
                .collect();
            beside_each_other(&columns)
        };
        let mut text = styled_lines(HEADING, heading(0).lines());
        text += &styled_lines(QUIET, heading(1).lines());
        for group in groups {
            text += &styled_lines(QUIET, folded_at(&group.heading, self.width).lines());
            for row in &group.rows {
                text += &self.row(row);
            }
        }
        text
    }

    fn row(&self, row: &Row<'_>) -> String {
        let mut columns = vec![(indented(&visible(&row.label), self.label), self.label)];
        for [name, _] in self.targets {
            let lines = finding_on(row, name).map_or_else(
                || vec!["–".to_owned()],
                |finding| cell(finding, self.column, self.most),
            );
            columns.push((lines, self.column));
        }
        beside_each_other(&columns)
    }
}

fn finding_on<'f>(row: &Row<'f>, target: &str) -> Option<&'f Finding> {
    let findings = row.answers.iter().map(|answer| &answer.finding);
    let mut on_target =
        findings.filter(|finding| finding.target.as_deref().is_none_or(|name| name == target));
    on_target.next()
}

/// `2.84 GB/s  1.33x`, and the method in so many lines.
fn cell(finding: &Finding, width: usize, most: usize) -> Vec<String> {
    let (number, unit) = value_of(finding);
    if number.is_empty() {
        return cut(
            &reason(finding).unwrap_or_default(),
            width,
            most.saturating_add(1),
        );
    }
    let value = format!("{number} {unit}");
    let versus = finding.short_ratio();
    let both = format!("{value}  {versus}");
    let first = if display_width(&both) <= width {
        vec![both.trim_end().to_owned()]
    } else {
        vec![value, versus]
    };
    let lines = first.into_iter().filter(|line| !line.is_empty());
    let method = cut(&visible(&method(finding)), width, most);
    lines.chain(method).collect()
}

/// The end of a path says more than its beginning.
fn cut_word(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut end = text;
    while display_width(end) >= width && !end.is_empty() {
        let mut characters = end.chars();
        characters.next();
        end = characters.as_str();
    }
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_after_a_word() {
        let text = "fallocate, then io_uring writes, 2 in flight";
        assert_eq!(cut(text, 60, 1), [text]);
        assert_eq!(
            cut(text, 25, 2),
            ["fallocate, then io_uring", "writes, 2 in flight"]
        );
        assert_eq!(cut(text, 36, 1), ["fallocate, then io_uring writes, …"]);
        assert_eq!(cut(text, 14, 1), ["fallocate, …"]);
        assert_eq!(cut("read and write", 10, 1), ["read …"]);
        assert_eq!(cut("write in 64 KiB chunks", 14, 1), ["write …"]);
    }

    #[test]
    fn a_long_path_keeps_its_end() {
        assert_eq!(cut_word("/mnt/scratch", 12), "/mnt/scratch");
        assert_eq!(cut_word("/mnt/scratch", 8), "…scratch");
    }
}
