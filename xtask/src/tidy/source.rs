//! Reads imported and used names from the tokens of a source file. Tokens include macros, but neither comments nor
//! strings.

use std::collections::BTreeMap;
use std::str::FromStr;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// An inline module counts as its file. Its `super` then means the file's parent, a permitted use.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) path: String,
    /// `use` binds a name to a path.
    pub(super) bindings: BTreeMap<String, Vec<String>>,
    /// The paths of private `use` count, too. Each has its line.
    pub(super) mentions: Vec<(Vec<String>, usize)>,
    pub(super) tests: Vec<String>,
}

impl Source {
    pub(super) fn read(path: &str, text: &str) -> Result<Self> {
        let mut source = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        let tokens = TokenStream::from_str(text).map_err(|error| anyhow!("no Rust: {error}"))?;
        source.add(tokens);
        Ok(source)
    }

    fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = &tokens[..];
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match first {
                TokenTree::Group(group) => self.add(group.stream()),
                TokenTree::Punct(mark) if mark.as_char() == '#' && is_for_tests(rest) => {
                    rest = self.skip_item(rest);
                }
                // The name of a field or a method is no path.
                TokenTree::Punct(mark) if mark.as_char() == '.' => {
                    rest = &rest[usize::from(matches!(rest.first(), Some(TokenTree::Ident(_))))..];
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                TokenTree::Ident(word) if word == "pub" => {
                    rest = &rest[usize::from(matches!(rest.first(), Some(TokenTree::Group(_))))..];
                    if let [TokenTree::Ident(next), after @ ..] = rest
                        && next == "use"
                    {
                        rest = self.bind_all(after, true);
                    }
                }
                TokenTree::Ident(word) if word == "use" => rest = self.bind_all(rest, false),
                TokenTree::Ident(word) => {
                    let mut words = vec![word.to_string()];
                    while let [a, b, TokenTree::Ident(next), after @ ..] = rest
                        && is_mark(a, ':')
                        && is_mark(b, ':')
                    {
                        words.push(next.to_string());
                        rest = after;
                    }
                    self.mention(words, first);
                }
            }
        }
    }

    /// A re-export is not a use.
    fn bind_all<'t>(&mut self, tokens: &'t [TokenTree], is_public: bool) -> &'t [TokenTree] {
        let end = tokens
            .iter()
            .position(|token| is_mark(token, ';'))
            .unwrap_or(tokens.len());
        let mentioned = self.mentions.len();
        self.bind(&tokens[..end], &[]);
        if is_public {
            self.mentions.truncate(mentioned);
        }
        &tokens[end..]
    }

    fn bind(&mut self, tree: &[TokenTree], before: &[String]) {
        match tree {
            [TokenTree::Group(branches)] => {
                let tokens: Vec<TokenTree> = branches.stream().into_iter().collect();
                for branch in tokens.split(|token| is_mark(token, ',')) {
                    self.bind(branch, before);
                }
            }
            [word, colon, _, rest @ ..] if is_mark(colon, ':') => {
                self.bind(rest, &below(before, word));
            }
            [first, .., last] | [first @ last] => {
                let words = if first.to_string() == "self" {
                    before.to_vec()
                } else {
                    below(before, first)
                };
                let is_renamed = first.to_string() != last.to_string();
                let name = words
                    .last()
                    .filter(|_| !is_renamed)
                    .cloned()
                    .unwrap_or_else(|| last.to_string());
                self.mention(words.clone(), first);
                self.bindings.insert(name, words);
            }
            [] => {}
        }
    }

    fn mention(&mut self, words: Vec<String>, first: &TokenTree) {
        self.mentions.push((words, first.span().start().line));
    }

    /// The item may have more attributes.
    fn skip_item<'t>(&mut self, tokens: &'t [TokenTree]) -> &'t [TokenTree] {
        let end = tokens
            .iter()
            .position(ends_item)
            .map_or(tokens.len(), |end| end + 1);
        let (item, rest) = tokens.split_at(end);
        if let [.., TokenTree::Ident(word), TokenTree::Ident(name), _] = item
            && word == "mod"
        {
            self.tests.push(name.to_string());
        }
        rest
    }
}

fn is_for_tests(attribute: &[TokenTree]) -> bool {
    let text = attribute
        .first()
        .map(ToString::to_string)
        .unwrap_or_default()
        .replace(' ', "");
    text == "[cfg(test)]" || text.starts_with("[cfg(all(test")
}

fn below(path: &[String], word: &TokenTree) -> Vec<String> {
    [path, &[word.to_string()]].concat()
}

fn ends_item(token: &TokenTree) -> bool {
    is_mark(token, ';')
        || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}
