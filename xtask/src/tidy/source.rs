//! The names that a source file brings in and mentions, read from its tokens: macros are looked into, comments,
//! strings and tests are not.

use std::collections::BTreeMap;
use std::str::FromStr;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// What a file says of other modules. An inline module counts as a part of its file.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// The paths that `use` gives a name to.
    pub(super) bindings: BTreeMap<String, Vec<String>>,
    /// The paths in code, and those of each `use` that is not for others.
    pub(super) mentions: Vec<Mention>,
    /// The modules below this one that are for tests.
    pub(super) tests: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Mention {
    pub(super) words: Vec<String>,
    pub(super) line: usize,
}

impl Source {
    pub(super) fn read(text: &str) -> Result<Self> {
        let mut source = Self::default();
        let tokens = TokenStream::from_str(text).map_err(|error| anyhow!("no Rust: {error}"))?;
        source.add(tokens, false);
        Ok(source)
    }

    fn add(&mut self, tokens: TokenStream, is_inline: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = &tokens[..];
        let mut is_public = false;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match first {
                TokenTree::Group(group) => self.add(group.stream(), is_inline),
                TokenTree::Punct(mark) if mark.as_char() == '#' && is_for_tests(rest) => {
                    rest = self.skip_item(rest);
                }
                // Another attribute, also one of the whole file; a field or a method.
                TokenTree::Punct(mark) if "#!.".contains(mark.as_char()) => {
                    let is_part = matches!(rest.first(), Some(TokenTree::Ident(_) | TokenTree::Group(_)));
                    rest = &rest[usize::from(is_part && mark.as_char() != '!')..];
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                TokenTree::Ident(word) if word == "pub" => {
                    is_public = true;
                    rest = &rest[usize::from(matches!(rest.first(), Some(TokenTree::Group(_))))..];
                    continue;
                }
                TokenTree::Ident(word) if word == "use" => {
                    let end = rest.iter().position(|token| is_mark(token, ';')).unwrap_or(rest.len());
                    self.bind(&rest[..end], &[], is_public, is_inline);
                    rest = &rest[end..];
                }
                TokenTree::Ident(word) if word == "mod" => {
                    if let [TokenTree::Ident(_), TokenTree::Group(body), after @ ..] = rest {
                        self.add(body.stream(), true);
                        rest = after;
                    }
                }
                TokenTree::Ident(word) => {
                    let mut words = vec![word.to_string()];
                    while let [a, b, TokenTree::Ident(next), after @ ..] = rest
                        && is_mark(a, ':')
                        && is_mark(b, ':')
                    {
                        words.push(next.to_string());
                        rest = after;
                    }
                    self.mention(words, first, is_inline);
                }
            }
            is_public = false;
        }
    }

    /// The tree of a `use`, below these words.
    fn bind(&mut self, tree: &[TokenTree], before: &[String], is_public: bool, is_inline: bool) {
        let below = |word: &dyn ToString| [before, &[word.to_string()]].concat();
        match tree {
            [TokenTree::Group(branches)] if branches.delimiter() == Delimiter::Brace => {
                let tokens: Vec<TokenTree> = branches.stream().into_iter().collect();
                for branch in tokens.split(|token| is_mark(token, ',')) {
                    self.bind(branch, before, is_public, is_inline);
                }
            }
            [TokenTree::Ident(word), colon, _, rest @ ..] if is_mark(colon, ':') => {
                self.bind(rest, &below(word), is_public, is_inline);
            }
            [first, .., last] | [first @ last] => {
                let words = if first.to_string() == "self" { before.to_vec() } else { below(first) };
                let name = if first.to_string() == last.to_string() { words.last() } else { None };
                let name = name.cloned().unwrap_or_else(|| last.to_string());
                if !is_public {
                    self.mention(words.clone(), first, is_inline);
                }
                self.bindings.insert(name, in_file(words, is_inline));
            }
            [] => {}
        }
    }

    fn mention(&mut self, words: Vec<String>, first: &TokenTree, is_inline: bool) {
        let line = first.span().start().line;
        self.mentions.push(Mention { words: in_file(words, is_inline), line });
    }

    /// Past the item of an attribute, which may have others.
    fn skip_item<'t>(&mut self, tokens: &'t [TokenTree]) -> &'t [TokenTree] {
        let is_end = |token: &TokenTree| {
            is_mark(token, ';')
                || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
        };
        let end = tokens.iter().position(is_end).map_or(tokens.len(), |end| end + 1);
        let (item, rest) = tokens.split_at(end);
        if let [.., TokenTree::Ident(word), TokenTree::Ident(name), _] = item
            && word == "mod"
        {
            self.tests.push(name.to_string());
        }
        rest
    }
}

/// What is above an inline module is the file itself.
fn in_file(mut words: Vec<String>, is_inline: bool) -> Vec<String> {
    if is_inline && words[0] == "super" {
        words[0] = "self".to_owned();
    }
    words
}

fn is_for_tests(attribute: &[TokenTree]) -> bool {
    let text = attribute.first().map(ToString::to_string).unwrap_or_default().replace(' ', "");
    text == "[cfg(test)]" || text.starts_with("[cfg(all(test")
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}
