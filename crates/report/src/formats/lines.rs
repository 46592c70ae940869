use writebench_stats::distinct;

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

/// A wider first column is a list of its own, with numbers that stand for its texts in the other columns.
const MOST_KEY: usize = 32;

/// All columns. Those that do not fit beside the first one follow in further parts.
pub(super) fn with_all_columns(table: &Table, width: Option<usize>) -> WrappedTable {
    let shown: Vec<usize> = (0..table.columns.len()).collect();
    let all = lines(table, &shown);
    if width.is_none_or(|width| widest(&all) <= width) {
        let bars = table.bars.as_ref().filter(|_| width.is_some());
        let drawn = bars.and_then(|bars| with_bars(all.clone(), bars, width));
        let lines = drawn.unwrap_or(all);
        return WrappedTable {
            lines,
            shown,
            is_cut: false,
        };
    }
    let is_long = |&index: &usize| {
        table.columns[index].is_text && index > 0 && column_width(table, index) > MOST_KEY
    };
    let (long, short): (Vec<usize>, Vec<usize>) = shown.into_iter().partition(is_long);
    if column_width(table, 0) <= MOST_KEY {
        return WrappedTable {
            lines: parts(table, &short, width),
            shown: short,
            is_cut: false,
        };
    }
    let digits = table.rows.len().to_string().len();
    let mut numbered = table.clone();
    numbered.columns[0].heading = String::new();
    let mut lines = Vec::new();
    for (number, row) in (1..).zip(&mut numbered.rows) {
        let name = std::mem::replace(&mut row[0], format!("{number:>digits$}"));
        // A case may have one name for all columns.
        let more = long.iter().map(|&index| row[index].as_str());
        let texts = distinct([name.as_str()].into_iter().chain(more), |text| *text);
        let room = width.map(|width| width.saturating_sub(digits + GAP));
        let broken = texts.iter().flat_map(|text| broken_lines(text, room));
        for (place, text) in broken.enumerate() {
            let key = if place == 0 { row[0].as_str() } else { "" };
            lines.push(format!("{key:digits$}{:GAP$}{text}", ""));
        }
    }
    lines.push(String::new());
    lines.extend(parts(&numbered, &short, width));
    WrappedTable {
        lines,
        shown: (0..table.columns.len()).collect(),
        is_cut: false,
    }
}

/// The table in parts, one below the other, with its columns that are always shown.
fn in_parts(table: &Table, width: Option<usize>) -> WrappedTable {
    let shown = columns_up_to(table, 0);
    let is_cut = shown.len() < table.columns.len() || table.bars.is_some();
    WrappedTable {
        lines: parts(table, &shown, width),
        shown,
        is_cut,
    }
}

/// Parts of the table, each with the first column, and as many others as fit.
fn parts(table: &Table, shown: &[usize], width: Option<usize>) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = &shown[1..];
    while let Some(&first) = rest.first() {
        // A single column is shown even if it is too wide.
        let count = count_fitting(table, rest, width).max(1);
        let (now, later) = rest.split_at(count);
        if !parts.is_empty() {
            parts.push(String::new());
        }
        let mut part = table.clone();
        part.columns[first].group = group_of(table, first);
        let room = width.map(|width| width.saturating_sub(column_width(table, 0) + GAP));
        if room.is_some_and(|room| column_width(table, first) > room) {
            break_column(&mut part, first, room);
        }
        parts.extend(lines(&part, &[&[0], now].concat()));
        rest = later;
    }
    parts
}

/// Breaks the texts of a column. Its rows become several.
fn break_column(table: &mut Table, index: usize, room: Option<usize>) {
    let rows = std::mem::take(&mut table.rows);
    for row in rows {
        for (place, line) in broken_lines(&row[index], room).into_iter().enumerate() {
            let mut cells = if place == 0 {
                row.clone()
            } else {
                vec![String::new(); row.len()]
            };
            cells[index] = line;
            table.rows.push(cells);
        }
    }
}

/// The text in lines of this width, broken at spaces, or where a word is too long.
fn broken_lines(text: &str, width: Option<usize>) -> Vec<String> {
    let folded = folded(text, width.unwrap_or(usize::MAX), 0);
    let broken = unbroken(&folded, width);
    broken.lines().map(str::to_owned).collect()
}

/// The common heading above the column, such as `ms:`, which only the first one of its group has.
fn group_of(table: &Table, index: usize) -> String {
    let own = &table.columns[index];
    let stands_alone = |column: &Column| {
        column.is_text || [table::SAMPLES, table::INTERVAL].contains(&column.heading.as_str())
    };
    if !own.group.is_empty() || stands_alone(own) {
        return own.group.clone();
    }
    let before = table.columns[..index].iter().rev();
    before
        .take_while(|column| !stands_alone(column))
        .find(|column| !column.group.is_empty())
        .map(|column| column.group.clone())
        .filter(|group| group.ends_with(':'))
        .unwrap_or_default()
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

/// The words between spaces. A percent sign is of the word before.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let spaces = text.match_indices(' ').map(|(place, _)| place);
        let mut ends = spaces.filter(|&place| !text[place + 1..].starts_with('%'));
        let end = ends.next();
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// Breaks lines at spaces, and indents all but the first. A number keeps its percent sign.
pub fn folded(line: &str, width: usize, indent: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for (index, word) in words(line).enumerate() {
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

/// The lines, those that are too long broken after a comma or a slash, or else anywhere. A terminal would break them at its
/// edge.
pub(super) fn unbroken(text: &str, width: Option<usize>) -> String {
    const LEAST_WIDTH: usize = 8;
    let Some(width) = width.filter(|&width| width >= LEAST_WIDTH) else {
        return text.to_owned();
    };
    let mut broken = String::new();
    for line in text.lines() {
        let own_indent = line.len() - line.trim_start().len();
        let indent = (own_indent + GAP).min(width / 2);
        let mut rest = line.to_owned();
        while display_width(&rest) > width {
            let later = rest.split_off(place_to_break(&rest, width, indent));
            broken += &format!("{rest}\n");
            rest = format!("{:indent$}{later}", "");
        }
        broken += &format!("{rest}\n");
    }
    broken
}

/// The byte after the indent at which a line of this width ends.
fn place_to_break(line: &str, width: usize, indent: usize) -> usize {
    let ends = line
        .char_indices()
        .map(|(start, character)| start + character.len_utf8());
    let fitting: Vec<usize> = ends
        .take_while(|&end| display_width(&line[..end]) <= width)
        .collect();
    let after_sign = |&&end: &&usize| end > indent + GAP && line[..end].ends_with([',', '/', ' ']);
    let end = fitting.iter().rev().find(after_sign).or(fitting.last());
    end.copied().unwrap_or(line.len())
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

    #[test]
    fn a_list_of_cases_names_each_once_and_two_different_names_below_each_other() {
        let column = |heading: &str, is_text| Column {
            group: String::new(),
            heading: heading.to_owned(),
            is_text,
            rank: 0,
            wraps: false,
        };
        let columns = vec![
            column(table::CASE, true),
            column("complete name", true),
            column("MB/s", false),
        ];
        let row = |case: &str, complete: &str, speed: &str| {
            [case, complete, speed].map(str::to_owned).to_vec()
        };
        let (write, direct) = ("write,size=64MiB,chunk=16MiB,sync=fsync", "cache=direct");
        let both = format!("{write},{direct}");
        let rows = vec![row(write, write, "512"), row(direct, &both, "480")];
        let wrapped = with_all_columns(&Table::from_rows("", columns, rows), Some(44));
        let expected = [
            "1  write,size=64MiB,chunk=16MiB,sync=fsync",
            "2  cache=direct",
            "   write,size=64MiB,chunk=16MiB,sync=fsync,",
            "     cache=direct",
            "",
            "   MB/s",
            "1   512",
            "2   480",
        ];
        assert_eq!(wrapped.lines, expected);
    }

    #[test]
    fn a_number_keeps_its_percent_sign() {
        assert_eq!(folded("at most 95 % of it", 10, 0), "at most\n95 % of it\n");
        assert_eq!(folded("  a b", 4, 2), "  a\n  b\n");
    }

    #[test]
    fn a_word_longer_than_a_line_is_broken_after_a_comma() {
        let name = "  write,chunk=4KiB,prepare=fallocate";
        assert_eq!(
            unbroken(name, Some(24)),
            "  write,chunk=4KiB,\n    prepare=fallocate\n"
        );
        assert_eq!(unbroken("a/long/path", Some(8)), "a/long/\n  path\n");
        assert_eq!(unbroken("0123456789", Some(8)), "01234567\n  89\n");
        assert_eq!(unbroken(name, None), name);
    }

    proptest! {
        #[test]
        fn no_line_is_longer_than_the_terminal(text in "[a-z, /値]{0,60}", width in 8_usize..40) {
            let broken = unbroken(&text, Some(width));
            prop_assert!(broken.lines().all(|line| display_width(line) <= width), "{broken}");
        }

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
