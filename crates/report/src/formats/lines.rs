use super::styles::QUIET;
use super::width::{display_width, padded};
use crate::tables::table::{self, Bar, Bars, Column, Table};

/// The shortest and the longest bar, in cells of the terminal.
const LEAST_BAR: usize = 8;
const MOST_BAR: usize = 24;

/// The cells between two columns.
const GAP: usize = 2;

/// A table as the lines of a terminal.
pub(super) struct WrappedTable {
    pub(super) lines: Vec<String>,
    /// The indices of the columns that are shown.
    pub(super) shown: Vec<usize>,
    /// A wider terminal would show more.
    pub(super) is_cut: bool,
}

/// All columns, or as many ranks as fit. Long names of cases are above their values. A table that is still too
/// wide is shown in parts.
pub(super) fn fitting(table: &Table, width: Option<usize>) -> WrappedTable {
    let begins_with_case = table.columns[0].heading == table::CASE;
    fitting_ranks(table, width)
        .or_else(|| wrapped(table, width))
        .or_else(|| named_above(table, width).filter(|_| begins_with_case))
        .unwrap_or_else(|| in_parts(table, width))
}

/// The table with words in several lines. It is None without such columns, or if it is still too wide.
fn wrapped(table: &Table, width: Option<usize>) -> Option<WrappedTable> {
    let shown = columns_up_to(table, 0);
    let widths = shrunk_widths(table, &shown, width)?;
    let mut narrow = table.clone();
    narrow.rows = table
        .rows
        .iter()
        .flat_map(|row| in_lines(row, &widths, table))
        .collect();
    for (column, width) in narrow.columns.iter_mut().zip(&widths) {
        if display_width(&column.heading) > *width {
            break_heading(column);
        }
    }
    let lines = lines(&narrow, &shown);
    Some(WrappedTable {
        lines,
        shown,
        is_cut: true,
    })
}

/// The widths of all columns, after those that wrap shrank until the shown ones fit. The widest shrinks first, down to
/// its longest word.
fn shrunk_widths(table: &Table, shown: &[usize], width: Option<usize>) -> Option<Vec<usize>> {
    let mut widths: Vec<usize> = (0..table.columns.len())
        .map(|index| column_width(table, index))
        .collect();
    while needed_width(shown, &widths) > width? {
        let widest = shown
            .iter()
            .copied()
            .filter(|&index| table.columns[index].wraps)
            .filter(|&index| widths[index] > longest_word(table, index))
            .max_by_key(|&index| widths[index])?;
        widths[widest] -= 1;
    }
    Some(widths)
}

fn needed_width(shown: &[usize], widths: &[usize]) -> usize {
    let with_gaps: usize = shown.iter().map(|&index| widths[index] + GAP).sum();
    with_gaps.saturating_sub(GAP)
}

/// A heading has at most two lines.
fn break_heading(column: &mut Column) {
    if let Some((first, last)) = column.heading.rsplit_once(' ') {
        column.group = first.to_owned();
        column.heading = last.to_owned();
    }
}

fn longest_word(table: &Table, index: usize) -> usize {
    let Column { heading, .. } = &table.columns[index];
    let heading_width = match heading.rsplit_once(' ') {
        Some((first, last)) => display_width(first).max(display_width(last)),
        None => display_width(heading),
    };
    let words = table.rows.iter().flat_map(|row| row[index].split(' '));
    words
        .map(display_width)
        .max()
        .unwrap_or(0)
        .max(heading_width)
}

/// The row as several rows, with words broken where their column wraps.
fn in_lines(row: &[String], widths: &[usize], table: &Table) -> Vec<Vec<String>> {
    let cells: Vec<Vec<String>> = row
        .iter()
        .zip(&table.columns)
        .zip(widths)
        .map(|((text, column), &width)| {
            let width = if column.wraps { width } else { usize::MAX };
            folded(text, width, 0).lines().map(str::to_owned).collect()
        })
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    (0..height)
        .map(|number| {
            cells
                .iter()
                .map(|cell| cell.get(number).cloned().unwrap_or_default())
                .collect()
        })
        .collect()
}

fn columns_up_to(table: &Table, rank: u8) -> Vec<usize> {
    (0..table.columns.len())
        .filter(|&index| table.columns[index].rank <= rank)
        .collect()
}

/// The table with as many ranks as fit. It is None if even the columns of the lowest rank are too wide.
fn fitting_ranks(table: &Table, width: Option<usize>) -> Option<WrappedTable> {
    let column_ranks = table.columns.iter().map(|column| column.rank);
    let highest = column_ranks
        .chain(table.bars.iter().map(|bars| bars.rank))
        .max()
        .unwrap_or(0);
    (0..=highest)
        .rev()
        .find_map(|rank| up_to_rank(rank, table, width))
}

/// The table with the columns and bars of this rank and lower ones. It is None if they are too wide.
fn up_to_rank(rank: u8, table: &Table, width: Option<usize>) -> Option<WrappedTable> {
    let shown = columns_up_to(table, rank);
    let mut lines = lines(table, &shown);
    // Bars are noise in a pipe or file.
    let bars = table
        .bars
        .as_ref()
        .filter(|bars| bars.rank <= rank && width.is_some());
    match bars {
        Some(bars) => lines = with_bars(lines, bars, width)?,
        None if width.is_some_and(|width| widest(&lines) > width) => return None,
        None => {}
    }
    let lacks_bars = table.bars.is_some() && bars.is_none() && width.is_some();
    let is_cut = shown.len() < table.columns.len() || lacks_bars;
    Some(WrappedTable {
        lines,
        shown,
        is_cut,
    })
}

fn widest(lines: &[String]) -> usize {
    lines
        .iter()
        .map(|line| display_width(line))
        .max()
        .unwrap_or(0)
}

/// The lines of a table with a text below each row. Wide first cells are above. It is None if the table does not fit.
pub(super) fn with_text_below(
    table: &Table,
    below: &[impl AsRef<str>],
    width: Option<usize>,
) -> Option<Vec<String>> {
    const INDENT: usize = 2;
    // A long name must not cost the row its interval.
    const NEEDED: u8 = 1;
    let needed = columns_up_to(table, NEEDED).len();
    let beside = fitting_ranks(table, width).filter(|beside| beside.shown.len() >= needed);
    let (mut lines, lines_per_row) = match beside {
        Some(beside) => (beside.lines, 1),
        None => (named_above(table, width)?.lines, 2),
    };
    let rows = lines.split_off(lines.len() - lines_per_row * table.rows.len());
    for (row, text) in rows.chunks(lines_per_row).zip(below) {
        lines.extend_from_slice(row);
        if text.as_ref().is_empty() {
            continue;
        }
        let text_width = width.unwrap_or(usize::MAX).saturating_sub(INDENT);
        let text = folded(text.as_ref(), text_width, 0);
        lines.extend(text.lines().map(|line| format!("{:INDENT$}{line}", "")));
    }
    Some(lines)
}

/// The table with the name of each row above its values, because names may be as wide as a terminal.
fn named_above(table: &Table, width: Option<usize>) -> Option<WrappedTable> {
    let mut nameless = table.clone();
    nameless.columns[0].heading = String::new();
    for row in &mut nameless.rows {
        row[0] = "  ".to_owned();
    }
    let mut fitted = fitting_ranks(&nameless, width)?;
    let rows = fitted
        .lines
        .split_off(fitted.lines.len() - table.rows.len());
    for (row, line) in table.rows.iter().zip(rows) {
        fitted.lines.extend([row[0].clone(), line]);
    }
    Some(fitted)
}

/// The table in parts, one below the other. Each has the first column, and as many others as fit.
fn in_parts(table: &Table, width: Option<usize>) -> WrappedTable {
    let shown = columns_up_to(table, 0);
    let mut parts: Vec<String> = Vec::new();
    let mut rest = &shown[1..];
    while !rest.is_empty() {
        // A single column is shown even if it is too wide.
        let count = count_fitting(table, rest, width).max(1);
        let (now, later) = rest.split_at(count);
        if !parts.is_empty() {
            parts.push(String::new());
        }
        parts.extend(lines(table, &[&[0], now].concat()));
        rest = later;
    }
    let is_cut = shown.len() < table.columns.len() || table.bars.is_some();
    WrappedTable {
        lines: parts,
        shown,
        is_cut,
    }
}

/// How many of these columns fit beside the first one.
fn count_fitting(table: &Table, columns: &[usize], width: Option<usize>) -> usize {
    let Some(width) = width else {
        return columns.len();
    };
    let mut needed = column_width(table, 0);
    columns
        .iter()
        .take_while(|&&index| {
            needed += GAP + column_width(table, index);
            needed <= width
        })
        .count()
}

fn column_width(table: &Table, index: usize) -> usize {
    let column = &table.columns[index];
    let headings = [column.group.as_str(), &column.heading];
    let cells = table.rows.iter().map(|row| row[index].as_str());
    headings
        .into_iter()
        .chain(cells)
        .map(display_width)
        .max()
        .unwrap_or(0)
}

/// The lines with bars beside them. They are None if there is no space for bars.
fn with_bars(mut lines: Vec<String>, bars: &Bars, width: Option<usize>) -> Option<Vec<String>> {
    let start = widest(&lines) + GAP;
    let room = width.map_or(MOST_BAR, |width| width.saturating_sub(start).min(MOST_BAR));
    let scale = display_width(&bars.full) + GAP;
    if room < LEAST_BAR.max(scale) {
        return None;
    }
    let first_row = lines.len() - bars.by_row.len();
    let headings = &mut lines[first_row - 1];
    let rest = room - 1;
    *headings = format!("{}0{:>rest$}", padded(headings, start), bars.full);
    for (line, by_row) in lines[first_row..].iter_mut().zip(&bars.by_row) {
        let Some(Bar {
            share,
            all_disturbed,
        }) = *by_row
        else {
            continue;
        };
        let drawn = if all_disturbed {
            format!("{QUIET}{}{QUIET:#}", bar(share, room))
        } else {
            bar(share, room)
        };
        *line = padded(line, start) + &drawn;
    }
    Some(lines)
}

/// A column that is shown.
struct ShownColumn<'t> {
    index: usize,
    width: usize,
    column: &'t Column,
}

/// The lines of the shown columns: headings and rows. A library would hold ten thousand rows several times.
fn lines(table: &Table, shown: &[usize]) -> Vec<String> {
    let columns: Vec<ShownColumn<'_>> = shown
        .iter()
        .map(|&index| ShownColumn {
            index,
            width: column_width(table, index),
            column: &table.columns[index],
        })
        .collect();
    let mut lines = Vec::new();
    if columns.iter().any(|shown| !shown.column.group.is_empty()) {
        lines.push(line(&columns, |shown| &shown.column.group));
    }
    lines.push(line(&columns, |shown| &shown.column.heading));
    for row in &table.rows {
        lines.push(line(&columns, |shown| &row[shown.index]));
    }
    lines
}

/// A line with a text for each column. Words begin at the left, numbers end at the right.
fn line<'t>(columns: &[ShownColumn<'t>], text: impl Fn(&ShownColumn<'t>) -> &'t String) -> String {
    let mut line = String::new();
    for shown in columns {
        let text = text(shown);
        let space = " ".repeat(shown.width.saturating_sub(display_width(text)));
        let [first, last] = if shown.column.is_text {
            [text, &space]
        } else {
            [&space, text]
        };
        line += &format!("{first}{last}{:GAP$}", "");
    }
    line.truncate(line.trim_end().len());
    line
}

/// Breaks lines at spaces, and indents all but the first.
pub fn folded(line: &str, width: usize, indent: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for (index, word) in line.split(' ').enumerate() {
        let length = display_width(word);
        if index == 0 {
            column = length;
        } else if column + 1 + length > width && column > indent {
            text += "\n";
            text += &" ".repeat(indent);
            column = indent + length;
        } else {
            text.push(' ');
            column += 1 + length;
        }
        text += word;
    }
    text + "\n"
}

/// Parts of a cell, from one eighth to seven.
const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar of so many cells, of which the share is filled. A positive share is always visible.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "up to eight times a few cells"
)]
fn bar(share: f64, cells: usize) -> String {
    let least = f64::from(u8::from(share > 0.0));
    let eighths = (share.clamp(0.0, 1.0) * cells as f64 * 8.0)
        .round()
        .max(least) as usize;
    let mut text = "█".repeat(eighths / 8);
    text.extend((eighths % 8).checked_sub(1).map(|part| PARTS[part]));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn eighths(text: &str) -> usize {
        let length = |block| {
            PARTS
                .iter()
                .position(|part| *part == block)
                .map_or(8, |part| part + 1)
        };
        text.chars().map(length).sum()
    }

    #[test]
    fn zero_has_no_bar_and_the_maximum_a_full_one() {
        assert_eq!(
            (bar(0.0, 8), bar(1.0, 8)),
            (String::new(), "████████".to_owned())
        );
        assert_eq!(
            (bar(0.5, 3), bar(1e-9, 8)),
            ("█▌".to_owned(), "▏".to_owned())
        );
        assert_eq!(
            (bar(f64::NAN, 8), bar(f64::INFINITY, 2)),
            (String::new(), "██".to_owned())
        );
    }

    proptest! {
        #[test]
        fn a_bar_is_as_long_as_its_share_and_fits(share in 0.0..=1.0, cells in 1_usize..40) {
            let text = bar(share, cells);
            prop_assert!(text.chars().count() <= cells);
            let (drawn, exact) = (eighths(&text) as f64, share * cells as f64 * 8.0);
            prop_assert!((drawn - exact).abs() <= 0.5 || (exact < 0.5 && drawn == 1.0), "{text}");
        }

        #[test]
        fn a_larger_share_has_no_shorter_bar(a in 0.0..=1.0, b in 0.0..=1.0, cells in 1_usize..40) {
            let (less, more) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!(eighths(&bar(less, cells)) <= eighths(&bar(more, cells)));
        }
    }
}
