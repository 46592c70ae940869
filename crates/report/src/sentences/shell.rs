//! Texts in commands that people copy.

/// The text as a shell takes it. A shell takes no NUL, and a file's name has none.
#[must_use]
pub fn quoted(text: &str) -> String {
    // Quotes around a case's name would only be in the way.
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./=,:+@%".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    shlex::try_quote(text).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word_for_the_shell() {
        for text in ["/data/x", "/it's", "", "$(here) `there`", "two\nlines", "!"] {
            assert_eq!(shlex::split(&quoted(text)), Some(vec![text.to_owned()]), "{text:?}");
        }
        assert_eq!(quoted("write,size=1GiB"), "write,size=1GiB");
    }
}
