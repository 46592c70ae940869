//! Words that many sentences are made of.

use std::borrow::Borrow;

/// How many names are shown before the rest is counted.
pub(crate) const NAMED: usize = 3;

/// `1 case`, `2 cases`.
#[must_use]
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
