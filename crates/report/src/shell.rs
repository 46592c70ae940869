//! Texts in commands that people copy.

/// As a shell takes it.
#[must_use]
pub fn quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./=,:+".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word_for_the_shell() {
        assert_eq!(quoted("/data/x"), "/data/x");
        assert_eq!(quoted("/it's"), r"'/it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
