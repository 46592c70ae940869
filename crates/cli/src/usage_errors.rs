//! The parser's errors in one line, with the intended command line.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use writebench_report::quoted;

use crate::meant::{self, meant};

/// The parser's error in one line: what is wrong, what would fit, and whose help to read.
pub(crate) fn one_line(error: &clap::Error, interface: &Command, words: &[OsString]) -> String {
    let path = named_commands(interface, words);
    let cause = cause(error);
    let meant = suggestion(error, &path, words).or_else(|| similar(error));
    let meant = meant.map_or(String::new(), |meant| format!(" Did you mean {meant}?"));
    let names: Vec<&str> = path.iter().map(|command| command.get_name()).collect();
    let end = if cause.ends_with('?') { "" } else { "." };
    let line = format!("{cause}{end}{meant} See {} --help", names.join(" "));
    line.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// The error, mostly in clap's own words.
fn cause(error: &clap::Error) -> String {
    let context = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let (argument, prior) = (context(ContextKind::InvalidArg), context(ContextKind::PriorArg));
    match error.kind() {
        ErrorKind::ArgumentConflict if prior != argument => {
            format!("the argument '{argument}' cannot be used with '{prior}'")
        }
        ErrorKind::MissingRequiredArgument => format!("missing: {argument}"),
        ErrorKind::NoEquals => format!("an equal sign is missing between '{argument}' and its value"),
        ErrorKind::MissingSubcommand => "a command is missing".to_owned(),
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let ends = ["\n  tip: ", "\n\nUsage: ", "\n\nFor more information"];
            let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
            text[..end].trim_end().to_owned()
        }
    }
}

/// Names that resemble the given one.
fn similar(error: &clap::Error) -> Option<String> {
    let kinds = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let names = kinds.map(|kind| texts(error, kind)).into_iter().find(|names| !names.is_empty())?;
    Some(format!("'{}'", names.join("' or '")))
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text],
        Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A command line for mistakes that resemble nothing: words of other programs, or a forgotten word.
fn suggestion(error: &clap::Error, path: &[&Command], words: &[OsString]) -> Option<String> {
    let command = path.last()?;
    let text = |kind| texts(error, kind).first().copied();
    let argument = |long: &str| command.get_arguments().find(|argument| argument.get_long() == Some(long));
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let option = text(ContextKind::InvalidArg)?;
            meant::option(option, value_of(option, words), &|long| argument(long).is_some())
        }
        ErrorKind::InvalidValue => {
            let option = text(ContextKind::InvalidArg)?.split(' ').next()?;
            let (value, valid) = (text(ContextKind::InvalidValue)?, texts(error, ContextKind::ValidValue));
            if value == "all" && option == "--suite" {
                return Some(format!("{option} {}", valid.join(",")));
            }
            let ours = meant(value, |ours| valid.contains(&ours))?;
            Some(if option.starts_with('-') { format!("{option} {ours}") } else { format!("'{ours}'") })
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = text(ContextKind::InvalidArg)?.split(' ').next()?;
            let values = argument(missing.strip_prefix("--")?)?.get_possible_values();
            let values: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
            let given: Vec<_> = words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
            let line = || format!("`writebench {} {missing} {}`", given.join(" "), values.join("|"));
            (!values.is_empty()).then(line)
        }
        ErrorKind::InvalidSubcommand if path.len() == 1 => {
            let word = text(ContextKind::InvalidSubcommand)?;
            if let Some(ours) = meant(word, |ours| command.find_subcommand(ours).is_some()) {
                return Some(format!("`writebench {ours}`"));
            }
            let is_path = word.contains('/') || word == "." || word == ".." || Path::new(word).is_dir();
            is_path.then(|| format!("`writebench run {}`", quoted(word)))
        }
        _ => None,
    }
}

/// The value of an option unknown to clap.
fn value_of<'w>(option: &str, words: &'w [OsString]) -> Option<&'w str> {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let word = words.find(|word| word.split('=').next() == Some(option))?;
    let next = || words.next().filter(|next| !next.starts_with('-'));
    word.split_once('=').map_or_else(next, |(_, value)| Some(value))
}

/// The program, then the named commands, from the outermost.
fn named_commands<'c>(interface: &'c Command, words: &[OsString]) -> Vec<&'c Command> {
    let mut path = vec![interface];
    for word in words {
        let inner = path.last().and_then(|command| command.find_subcommand(word));
        path.extend(inner);
    }
    path
}
