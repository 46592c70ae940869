//! Rust source without what only looks like code: comments, strings and tests.

/// The source with every comment and literal blanked out; lines keep their numbers.
pub(super) fn without_text(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let after_word = code.chars().next_back().is_some_and(is_word);
        let hidden = text_length(rest, after_word);
        if hidden == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            let (text, next) = rest.split_at(hidden);
            code.extend(text.chars().map(|c| if c == '\n' { c } else { ' ' }));
            rest = next;
        }
    }
    code
}

/// The code with its `#[cfg(test)]` modules blanked out too.
pub(super) fn without_tests(source: &str) -> String {
    const TEST: &str = "#[cfg(test)]";
    let code = without_text(source);
    let mut kept = String::with_capacity(code.len());
    let mut rest = code.as_str();
    while let Some(start) = rest.find(TEST) {
        let (before, item) = rest.split_at(start);
        let (item, after) = item.split_at(item_length(item));
        kept.push_str(before);
        kept.extend(item.chars().filter(|&c| c == '\n'));
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The lines, from 1, on which `word` stands as a word of its own, with the lines' text.
pub(super) fn lines_with<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let numbered = code.lines().enumerate().map(|(index, line)| (index + 1, line));
    numbered.filter(move |(_, line)| has_word(line, word))
}

/// Whether `word` stands in the line as a word of its own.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the comment or literal that `rest` begins with; 0 if it begins with code.
fn text_length(rest: &str, after_word: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment_length(rest);
    }
    if rest.starts_with('"') {
        return quoted_length(rest, '"');
    }
    if rest.starts_with('\'') {
        return character_length(rest);
    }
    // `r` in the middle of a word begins no literal; `b` and `c` before a plain quote need no care.
    if after_word { 0 } else { raw_string_length(rest) }
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// `'a'` and `'\n'`, not the lifetime `'a`.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), _) => quoted_length(rest, '\''),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

fn raw_string_length(rest: &str) -> usize {
    let Some(after_r) = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix)) else { return 0 };
    let hashes = after_r.len() - after_r.trim_start_matches('#').len();
    if !after_r[hashes..].starts_with('"') {
        return 0;
    }
    let body = rest.len() - after_r.len() + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len())
}

/// Up to the brace that closes the item, or the semicolon of one that has none.
fn item_length(item: &str) -> usize {
    let mut depth = 0;
    for (at, c) in item.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    item.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(code: &str) -> String {
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_go_and_nested_ones_end_where_they_end() {
        assert_eq!(words(&without_text("a // b\nc /* d /* e */ f */ g")), "a c g");
    }

    #[test]
    fn strings_go_whatever_their_quotes() {
        let source = r####"a "b \" c" d r"\" e r#"f " g"# h br##"i"# j"## k b"l" 'm' '\'' '"' n"####;
        assert_eq!(words(&without_text(source)), "a d e h k b n");
    }

    #[test]
    fn lifetimes_and_words_that_end_in_r_are_code() {
        let source = "fn bar<'a>(x: &'a str) { for<'b> r }";
        assert_eq!(without_text(source), source);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let code = without_text("/* 1\n2 */\n\"3\n4\"\nfound");
        assert_eq!(lines_with(&code, "found").collect::<Vec<_>>(), [(5, "found")]);
    }

    #[test]
    fn a_word_is_not_part_of_another() {
        assert!(has_word("x = unsafe {", "unsafe"));
        assert!(!has_word("#![deny(unsafe_code)] notunsafe", "unsafe"));
    }

    #[test]
    fn test_modules_go_and_what_follows_stays() {
        let source = "a\n#[cfg(test)]\nmod tests {\n fn b() { }\n}\nc\n#[cfg(test)]\nmod d;\ne";
        assert_eq!(without_tests(source), "a\n\n\n\n\nc\n\n\ne");
    }
}
