//! Paragraphs of the reference, which are Markdown, as lines of a terminal.

use writebench_report::formats::folded;

/// The columns before the text of a field.
const NAME_COLUMNS: usize = 16;

/// `name    text`, with further lines below the text.
pub(super) fn field(name: &str, text: &str, width: usize) -> String {
    folded(&format!("{name:<NAME_COLUMNS$}{text}"), width, NAME_COLUMNS)
}

/// `  axis=default    text`. The longest is `descriptor=shared`.
pub(super) fn default_of(assignment: &str, text: &str, width: usize) -> String {
    const COLUMNS: usize = 21;
    folded(
        &format!("  {assignment:<COLUMNS$}{text}"),
        width,
        COLUMNS + 2,
    )
}

/// Some lines below the name of a field.
pub(super) fn below(text: &str, width: usize) -> String {
    field("", text, width)
}

/// Wraps a paragraph, and leaves out the addresses of its links.
pub(super) fn paragraph(markdown: &str, indent: usize, width: usize) -> String {
    let line = format!("{:indent$}{}", "", plain(markdown));
    folded(&line, width, indent)
}

/// `see [Findings](findings.md#threads)` → `see Findings`.
pub(super) fn plain(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, words, after)) = next_link(rest) {
        text += before;
        text += words;
        rest = after;
    }
    text + rest
}

/// The text before the first link, its words, and the text after it.
fn next_link(markdown: &str) -> Option<(&str, &str, &str)> {
    let (linked, rest) = markdown.split_once("](")?;
    let (before, words) = linked.rsplit_once('[')?;
    let (_, after) = rest.split_once(')')?;
    Some((before, words, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_their_words() {
        assert_eq!(
            plain("it pays ([Findings](../findings.md#a)), see [b](c.md)."),
            "it pays (Findings), see b."
        );
        assert_eq!(plain("a[0](x"), "a[0](x");
    }

    #[test]
    fn lines_after_the_first_are_indented() {
        assert_eq!(paragraph("a b c d", 2, 5), "  a b\n  c d\n");
        assert_eq!(field("x", "y z", 18), format!("{:16}y\n{:16}z\n", "x", ""));
    }
}
