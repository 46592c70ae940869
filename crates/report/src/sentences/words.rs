use std::borrow::Borrow;
use std::collections::HashSet;

/// More names than these are counted.
pub(crate) const NAMED: usize = 3;

/// `1 case`, `2 cases`.
pub fn counted(number: usize, what: &str) -> String {
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}

/// `6 rounds`, `5 to 6 rounds`.
pub(crate) fn counted_range(
    numbers: impl Iterator<Item = usize> + Clone,
    what: &str,
) -> Option<String> {
    let least = numbers.clone().min()?;
    let most = numbers.max()?;
    let least = if least == most {
        String::new()
    } else {
        format!("{least} to ")
    };
    Some(least + &counted(most, what))
}

pub(crate) fn capitalised(text: &str) -> String {
    text[..1].to_ascii_uppercase() + &text[1..]
}

/// The names with commas: `write, mmap and 3 more`. Those after the first `most` are counted.
pub(crate) fn list<S: Borrow<str>>(names: &[S], most: usize) -> String {
    match names.len().checked_sub(most) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..most].join(", ")),
    }
}

/// Foreign text, whose lines must not look like those of the program.
pub(crate) fn in_one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// The names with a line each, because names of cases have commas. Those after the first `most` are counted.
pub(crate) fn listed<S: Borrow<str>>(names: &[S], most: usize) -> String {
    let mut lines: Vec<String> = names
        .iter()
        .take(most)
        .map(|name| format!("\n  {}", in_one_line(name.borrow())))
        .collect();
    if let more @ 1.. = names.len().saturating_sub(most) {
        lines.push(format!("\n  and {more} more"));
    }
    lines.concat()
}

/// A name for a file that none of the `used_names` has, which gets a number if necessary. It is also unique on a
/// filesystem that ignores case.
pub(crate) fn free_name(name: &str, used_names: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names
        .find(|name| used_names.insert(name.to_lowercase()))
        .unwrap_or_default()
}

/// The values, such as `size=1MiB`, that all of these names of cases have.
pub(crate) fn shared_values<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let Some((first, others)) = names.split_first() else {
        return Vec::new();
    };
    first
        .split(',')
        .skip(1)
        .filter(|value| value.contains('='))
        .filter(|value| others.iter().all(|name| has_value(name, value)))
        .collect()
}

fn has_value(name: &str, value: &str) -> bool {
    name.split(',').any(|other| other == value)
}

pub(crate) fn without_values(name: &str, values: &[&str]) -> String {
    name.split(',')
        .filter(|part| !values.contains(part))
        .collect::<Vec<_>>()
        .join(",")
}

/// The text quoted for a shell. A text with NUL, which no name of a file has, becomes an empty one.
pub fn quoted(text: &str) -> String {
    // Names of cases need no quotes.
    if !text.is_empty() && text.chars().all(needs_no_quotes) {
        return text.to_owned();
    }
    shlex::try_quote(text).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

fn needs_no_quotes(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_./=,:+@%".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word_for_the_shell() {
        for text in ["/data/x", "/it's", "", "$(here) `there`", "two\nlines", "!"] {
            assert_eq!(
                shlex::split(&quoted(text)),
                Some(vec![text.to_owned()]),
                "{text:?}"
            );
        }
        assert_eq!(quoted("write,size=1GiB"), "write,size=1GiB");
    }
}
