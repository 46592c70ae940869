use std::borrow::Cow;

/// These are letters and symbols to Unicode, but blank on every screen.
const BLANK: [char; 5] = ['\u{115f}', '\u{1160}', '\u{2800}', '\u{3164}', '\u{ffa0}'];

/// One line with an escape such as `\u{202e}` for each character that a terminal obeys or does not show:
/// control characters, marks of writing direction, blanks of no width. Ends of lines and tabs become spaces.
///
/// All foreign text passes through this: the only styles in a terminal are ours.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| {
        if matches!(c, '\n' | '\t') {
            Some(' ')
        } else {
            None
        }
    })
}

/// Each line is made safe as by [`visible`].
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| {
        if matches!(c, '\n' | '\t') {
            Some(c)
        } else {
            None
        }
    })
}

fn escaped(text: &str, replaced: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if text.chars().all(is_visible) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match replaced(c) {
            Some(other) => safe.push(other),
            None if is_visible(c) => safe.push(c),
            None if c == '\r' => safe.push_str("\\r"),
            None => safe.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(safe)
}

/// Whether a terminal shows the character, by the tables of the standard library, which escapes unprintable ones.
fn is_visible(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // An accent after a letter is visible: `escape_debug` escapes one only at the beginning of a text.
    let mut bytes = [b'e'; 5];
    let length = 1 + c.encode_utf8(&mut bytes[1..]).len();
    let after_letter = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
    after_letter.escape_debug().nth(1) != Some('\\') && !BLANK.contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(visible("a\u{1b}[8mb\rc"), "a\\u{1b}[8mb\\rc");
        assert_eq!(visible("a\u{9b}2Jb\u{7f}\u{0}"), "a\\u{9b}2Jb\\u{7f}\\u{0}");
        assert_eq!(visible("one\ntwo\tthree"), "one two three");
        assert_eq!(
            visible_lines("one\n\ttwo\r\n\u{1b}[1m"),
            "one\n\ttwo\\r\n\\u{1b}[1m"
        );
    }

    #[test]
    fn direction_marks_and_invisible_characters_are_escaped() {
        let directions = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        let marks = [
            '\u{200e}', '\u{200f}', '\u{61c}', '\u{200b}', '\u{200d}', '\u{2060}', '\u{feff}',
        ];
        let others = [
            '\u{ad}',
            '\u{2028}',
            '\u{2029}',
            '\u{fff9}',
            '\u{e0041}',
            '\u{3164}',
            '\u{2800}',
        ];
        for c in directions.chain(marks).chain(others) {
            let text = format!("a{c}b");
            assert_eq!(visible(&text), format!("a{}b", c.escape_unicode()));
        }
    }

    #[test]
    fn text_of_all_scripts_is_unchanged() {
        for text in [
            "/data/Übung (neu)",
            "e\u{301}te\u{301}",
            "測試",
            "שלום",
            "é·–→…±µ×",
            "a\\b\"c'd",
            "📦",
        ] {
            assert_eq!(visible(text), text);
        }
    }
}
