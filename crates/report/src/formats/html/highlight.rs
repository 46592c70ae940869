use writebench_snippets::Language;

pub(super) fn highlighted(text: &str, language: Language) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (class, length) = token(rest, language);
        let (token, after) = rest.split_at(length.max(first.len_utf8()));
        match class {
            Some(class) => html += &format!("<span class=\"{class}\">{}</span>", escaped(token)),
            None => html += &escaped(token),
        }
        rest = after;
    }
    html
}

/// The class and length of the first token.
fn token(text: &str, language: Language) -> (Option<&'static str>, usize) {
    let until = |end: &str, from: usize| {
        text[from..]
            .find(end)
            .map_or(text.len(), |at| from + at + end.len())
    };
    let (line, (begin, end)) = match language {
        Language::Python => ("#", ("\"\"\"", "\"\"\"")),
        _ => ("//", ("/*", "*/")),
    };
    if text.starts_with(line) {
        return (Some("comment"), text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with(begin) {
        return (Some("comment"), until(end, begin.len()));
    }
    // A lifetime of Rust is not a string.
    let quotes: &[char] = if language == Language::Rust {
        &['"']
    } else {
        &['"', '\'', '`']
    };
    if let Some(quote) = text.chars().next().filter(|first| quotes.contains(first)) {
        return (Some("string"), string_length(text, quote));
    }
    let word = text
        .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .unwrap_or(text.len());
    let is_keyword = KEYWORDS.split(' ').any(|keyword| keyword == &text[..word]);
    (is_keyword.then_some("keyword"), word)
}

/// Up to an unescaped quote, or the end of the line.
fn string_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\n' if quote != '`' => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Keywords of all languages, except those that one of them uses otherwise in our code.
const KEYWORDS: &str = "break case catch class const continue def defer do elif else enum except final finally fn for from \
    func function go if import in let loop match mut namespace new None nullptr package pub public raise \
    return static struct switch throw throws try type unsafe use using var void while with";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_keywords_have_classes_and_all_else_is_kept() {
        let html = highlighted(
            "if (a < b) /* <c> */ return \"\\\"x\"; // end\nd",
            Language::C,
        );
        let expected = "<span class=\"keyword\">if</span> (a &lt; b) <span class=\"comment\">/* &lt;c&gt; */</span> \
                        <span class=\"keyword\">return</span> <span class=\"string\">\"\\\"x\"</span>; \
                        <span class=\"comment\">// end</span>\nd";
        assert_eq!(html, expected);
    }

    #[test]
    fn lifetimes_and_unfinished_strings_end() {
        assert_eq!(
            highlighted("fn a<'b>() {}", Language::Rust),
            "<span class=\"keyword\">fn</span> a&lt;'b&gt;() {}"
        );
        assert_eq!(
            highlighted("\"é\nx", Language::Go),
            "<span class=\"string\">\"é</span>\nx"
        );
        assert_eq!(
            highlighted("# a\n", Language::Python),
            "<span class=\"comment\"># a</span>\n"
        );
    }
}
