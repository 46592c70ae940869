//! Wide characters take two columns, combining ones none.

use unicode_width::UnicodeWidthStr;

/// The columns that a line without styles takes in a terminal.
pub fn display_width(line: &str) -> usize {
    line.width()
}

/// The text with spaces up to the width. Rust's formatting width counts characters, and panics above 65,535, which a
/// foreign name can exceed.
pub fn padded(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(display_width(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::lines::folded;
    use crate::tables::table::{Column, Table};

    #[test]
    fn wide_characters_take_two_columns_everywhere() {
        assert_eq!(padded("値段", 6), "値段  ");
        assert_eq!(
            padded("e\u{301}", 3),
            "e\u{301}  ",
            "a combining character takes none"
        );
        assert_eq!(folded("値段 値段 値段", 9, 1), "値段 値段\n 値段\n");
        let columns = vec![Column::text("", 0), Column::figure("", "GB/s", 0)];
        let rows = [["値段", "1"], ["abcd", "20"]].map(|row| row.map(str::to_owned).to_vec());
        let table = Table::from_rows(String::new(), columns, rows.to_vec());
        for width in [None, Some(80)] {
            let lines = crate::formats::lines::fitting(&table, width).lines;
            let ends: Vec<usize> = lines[lines.len() - 2..]
                .iter()
                .map(|line| display_width(line))
                .collect();
            assert_eq!(ends[0], ends[1], "{lines:?}");
        }
    }
}
