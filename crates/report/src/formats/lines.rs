use super::styles::QUIET;
use super::width::{display_width, padded};
use crate::tables::table::{self, Bars, Column, Table};

/// Cells of the shortest and the longest bar.
const LEAST_BAR: usize = 8;
const MOST_BAR: usize = 24;

const GAP: usize = 2;

pub(super) struct WrappedTable {
    pub(super) lines: Vec<String>,
    pub(super) shown: Vec<usize>,
    /// A wider terminal would show more.
    pub(super) is_cut: bool,
}

/// All columns, or as many ranks as fit. Long names of cases are above their values. A table that is still too
/// wide is shown in parts.
pub(super) fn fitting(table: &Table, width: Option<usize>) -> WrappedTable {
    let above = || {
        (table.columns[0].heading == table::CASE)
            .then(|| named_above(table, width))
            .flatten()
    };
    let fitted = ranks(table, width).or_else(|| wrapped(table, width));
    fitted.or_else(above).unwrap_or_else(|| parts(table, width))
}

/// Words in several lines. None without such columns, or if still too wide.
fn wrapped(table: &Table, width: Option<usize>) -> Option<WrappedTable> {
    let shown = columns_up_to(table, 0);
    let mut widths: Vec<usize> = (0..table.columns.len())
        .map(|index| column_width(table, index))
        .collect();
    let needed = |widths: &[usize]| -> usize {
        shown
            .iter()
            .map(|&index| widths[index] + GAP)
            .sum::<usize>()
            .saturating_sub(GAP)
    };
    // The widest column shrinks first, down to its longest word.
    while needed(&widths) > width? {
        let can_shrink = |&index: &usize| {
            table.columns[index].wraps && widths[index] > longest_word(table, index)
        };
        let widest = shown
            .iter()
            .copied()
            .filter(can_shrink)
            .max_by_key(|&index| widths[index])?;
        widths[widest] -= 1;
    }
    let mut narrow = table.clone();
    narrow.rows = table
        .rows
        .iter()
        .flat_map(|row| in_lines(row, &widths, table))
        .collect();
    narrow
        .columns
        .iter_mut()
        .zip(&widths)
        .for_each(|(column, width)| {
            // A heading has at most two lines.
            if let Some((group, heading)) = column
                .heading
                .rsplit_once(' ')
                .filter(|_| display_width(&column.heading) > *width)
            {
                (column.group, column.heading) = (group.to_owned(), heading.to_owned());
            }
        });
    let lines = lines(&narrow, &shown);
    Some(WrappedTable {
        lines,
        shown,
        is_cut: true,
    })
}

fn longest_word(table: &Table, index: usize) -> usize {
    let Column { heading, .. } = &table.columns[index];
    let heading = heading
        .rsplit_once(' ')
        .map_or(display_width(heading), |(group, word)| {
            display_width(group).max(display_width(word))
        });
    let words = table.rows.iter().flat_map(|row| row[index].split(' '));
    words.map(display_width).max().unwrap_or(0).max(heading)
}

fn in_lines(row: &[String], widths: &[usize], table: &Table) -> Vec<Vec<String>> {
    let cell = |(index, text): (usize, &String)| -> Vec<String> {
        let width = if table.columns[index].wraps {
            widths[index]
        } else {
            usize::MAX
        };
        folded(text, width, 0).lines().map(str::to_owned).collect()
    };
    let cells: Vec<Vec<String>> = row.iter().enumerate().map(cell).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |number: usize| {
        cells
            .iter()
            .map(|cell| cell.get(number).cloned().unwrap_or_default())
            .collect()
    };
    (0..height).map(line).collect()
}

fn columns_up_to(table: &Table, rank: u8) -> Vec<usize> {
    (0..table.columns.len())
        .filter(|&index| table.columns[index].rank <= rank)
        .collect()
}

/// None if even the columns of the lowest rank are too wide.
fn ranks(table: &Table, width: Option<usize>) -> Option<WrappedTable> {
    let of_columns = table.columns.iter().map(|column| column.rank);
    let highest = of_columns
        .chain(table.bars.iter().map(|bars| bars.rank))
        .max()
        .unwrap_or(0);
    (0..=highest).rev().find_map(|most| {
        let shown = columns_up_to(table, most);
        let mut lines = lines(table, &shown);
        // Bars are noise in a pipe or file.
        let bars = table
            .bars
            .as_ref()
            .filter(|bars| bars.rank <= most && width.is_some());
        match bars {
            Some(bars) => lines = with_bars(lines, bars, width)?,
            None if width.is_some_and(|width| widest(&lines) > width) => return None,
            None => {}
        }
        let is_cut = shown.len() < table.columns.len()
            || (table.bars.is_some() && bars.is_none() && width.is_some());
        Some(WrappedTable {
            lines,
            shown,
            is_cut,
        })
    })
}

fn widest(lines: &[String]) -> usize {
    lines
        .iter()
        .map(|line| display_width(line))
        .max()
        .unwrap_or(0)
}

/// Some text is below each row, and wide first cells are above. None if it does not fit.
pub(super) fn with_text_below(
    table: &Table,
    below: &[impl AsRef<str>],
    width: Option<usize>,
) -> Option<Vec<String>> {
    const INDENT: usize = 2;
    let (mut lines, height) = match ranks(table, width) {
        Some(fitted) => (fitted.lines, 1),
        None => (named_above(table, width)?.lines, 2),
    };
    let rows = lines.split_off(lines.len() - height * table.rows.len());
    for (row, text) in rows.chunks(height).zip(below) {
        lines.extend_from_slice(row);
        if text.as_ref().is_empty() {
            continue;
        }
        let text = folded(
            text.as_ref(),
            width.unwrap_or(usize::MAX).saturating_sub(INDENT),
            0,
        );
        lines.extend(text.lines().map(|line| format!("{:INDENT$}{line}", "")));
    }
    Some(lines)
}

/// Names may be as wide as a terminal.
fn named_above(table: &Table, width: Option<usize>) -> Option<WrappedTable> {
    let mut figures = table.clone();
    figures.columns[0].heading = String::new();
    figures
        .rows
        .iter_mut()
        .for_each(|row| row[0] = "  ".to_owned());
    let mut fitted = ranks(&figures, width)?;
    let rows = fitted
        .lines
        .split_off(fitted.lines.len() - table.rows.len());
    for (row, line) in table.rows.iter().zip(rows) {
        fitted.lines.extend([row[0].clone(), line]);
    }
    Some(fitted)
}

fn parts(table: &Table, width: Option<usize>) -> WrappedTable {
    let shown = columns_up_to(table, 0);
    let (mut parts, mut rest): (Vec<String>, _) = (Vec::new(), &shown[1..]);
    while !rest.is_empty() {
        let mut all = column_width(table, 0);
        let fits = |&&index: &&usize| {
            all += GAP + column_width(table, index);
            width.is_none_or(|width| all <= width)
        };
        // A single column is shown even if too wide.
        let (now, later) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        parts.extend((!parts.is_empty()).then(String::new));
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

/// None without space.
fn with_bars(mut lines: Vec<String>, bars: &Bars, width: Option<usize>) -> Option<Vec<String>> {
    let start = widest(&lines) + GAP;
    let room = width.map_or(MOST_BAR, |width| width.saturating_sub(start).min(MOST_BAR));
    let scale = display_width(&bars.full) + GAP;
    if room < LEAST_BAR.max(scale) {
        return None;
    }
    let headings = lines.len() - bars.of_rows.len();
    let rest = room - 1;
    lines[headings - 1] = format!(
        "{}0{:>rest$}",
        padded(&lines[headings - 1], start),
        bars.full
    );
    for (line, of_row) in lines[headings..].iter_mut().zip(&bars.of_rows) {
        let Some((share, all_disturbed)) = *of_row else {
            continue;
        };
        let drawn = bar(share, room);
        let drawn = if all_disturbed {
            format!("{QUIET}{drawn}{QUIET:#}")
        } else {
            drawn
        };
        *line = padded(line, start) + &drawn;
    }
    Some(lines)
}

/// A library would hold ten thousand rows several times.
fn lines<'t>(table: &'t Table, shown: &[usize]) -> Vec<String> {
    let widths: Vec<usize> = shown
        .iter()
        .map(|&index| column_width(table, index))
        .collect();
    let line = |cell: &dyn Fn(usize) -> &'t String| {
        let mut line = String::new();
        for (&index, &width) in shown.iter().zip(&widths) {
            let text = cell(index);
            let space = " ".repeat(width.saturating_sub(display_width(text)));
            let [first, last] = if table.columns[index].is_text {
                [text, &space]
            } else {
                [&space, text]
            };
            line += &format!("{first}{last}{:GAP$}", "");
        }
        line.truncate(line.trim_end().len());
        line
    };
    // One line of headings without groups.
    let is_grouped = shown
        .iter()
        .any(|&index| !table.columns[index].group.is_empty());
    let groups = is_grouped.then(|| line(&|index| &table.columns[index].group));
    let headings = line(&|index| &table.columns[index].heading);
    let rows = table.rows.iter().map(|row| line(&|index| &row[index]));
    groups.into_iter().chain([headings]).chain(rows).collect()
}

/// Breaks lines at spaces, and indents all but the first.
pub fn folded(line: &str, width: usize, indent: usize) -> String {
    let (mut text, mut column) = (String::new(), 0);
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

/// From one eighth of a cell to seven.
const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A positive share is always visible.
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
