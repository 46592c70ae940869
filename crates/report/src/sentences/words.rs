//! Words that many sentences are made of, and names in them.

use std::borrow::Borrow;

/// How many names are shown before the rest is counted.
pub(crate) const NAMED: usize = 3;

/// `1 case`, `2 cases`.
pub fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// The first `most` names, and how many more there are.
pub(crate) fn list<S: Borrow<str>>(names: &[S], most: usize) -> String {
    match names.len().checked_sub(most) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..most].join(", ")),
    }
}

/// The values that all of these names of cases have.
pub(crate) fn shared_values<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let Some((first, others)) = names.split_first() else { return Vec::new() };
    let is_in_all = |value: &&str| others.iter().all(|name| name.split(',').any(|other| other == *value));
    first.split(',').skip(1).filter(|value| value.contains('=')).filter(is_in_all).collect()
}

/// A case's name without these values.
pub(crate) fn without_values(name: &str, values: &[&str]) -> String {
    name.split(',').filter(|part| !values.contains(part)).collect::<Vec<_>>().join(",")
}

/// The text as a shell takes it. A shell takes no NUL, and a file's name has none.
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
