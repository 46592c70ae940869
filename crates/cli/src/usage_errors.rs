//! The parser's errors in one line, with the intended command line.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use writebench_model::{Axis, built_in_suites, is_slip, unknown};
use writebench_report::quoted;

use crate::meant::{self, meant};

/// The parser's error in one line: what is wrong, what would fit, and whose help to read.
pub(crate) fn one_line(error: &clap::Error, interface: &Command, words: &[OsString]) -> String {
    let path = named_commands(interface, words);
    let meant = suggestion(error, &path, words);
    let unknown = unknown_name(error).filter(|_| meant.is_none());
    let meant = meant.or_else(|| similar(error).filter(|_| unknown.is_none()));
    let cause = negative(error, words)
        .or(unknown)
        .unwrap_or_else(|| cause(error));
    let meant = meant.map_or(String::new(), |meant| format!(" Did you mean {meant}?"));
    let names: Vec<&str> = path.iter().map(|command| command.get_name()).collect();
    let end = if cause.ends_with('?') { "" } else { "." };
    let line = format!("{cause}{end}{meant} See {} --help", names.join(" "));
    line.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// The error about a goal or a suite that does not exist. clap would print all names.
fn unknown_name(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::InvalidValue {
        return None;
    }
    let option = first_text(error, ContextKind::InvalidArg)?;
    let (kind, lists) = match option.split(' ').next()? {
        "--for" => ("goal", "writebench list goals"),
        "--suite" => ("suite", "writebench list suites"),
        _ => return None,
    };
    let value = first_text(error, ContextKind::InvalidValue)?;
    let valid = texts(error, ContextKind::ValidValue);
    Some(unknown(kind, value, valid, lists))
}

/// The error, mostly in clap's own words.
fn cause(error: &clap::Error) -> String {
    let context = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let argument = context(ContextKind::InvalidArg);
    let prior = context(ContextKind::PriorArg);
    match error.kind() {
        ErrorKind::ArgumentConflict if prior != argument => {
            format!("the argument '{argument}' cannot be used with '{prior}'")
        }
        ErrorKind::MissingRequiredArgument => format!("missing: {argument}"),
        ErrorKind::NoEquals => {
            format!("an equal sign is missing between '{argument}' and its value")
        }
        ErrorKind::MissingSubcommand => "a command is missing".to_owned(),
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let ends = ["\n  tip: ", "\n\nUsage: ", "\n\nFor more information"];
            let end = ends
                .iter()
                .filter_map(|end| text.find(end))
                .min()
                .unwrap_or(text.len());
            in_words(text[..end].trim_end())
        }
    }
}

/// Replaces the words of Rust's parsers.
fn in_words(text: &str) -> String {
    [
        ("invalid digit found in string", "expected a whole number"),
        (
            "cannot parse integer from empty string",
            "expected a whole number",
        ),
        (
            "number too large to fit in target type",
            "the number is too large",
        ),
        (
            "number too small to fit in target type",
            "the number is too small",
        ),
        (
            "number would be zero for non-zero type",
            "expected at least 1",
        ),
    ]
    .iter()
    .fold(text.to_owned(), |text, (theirs, ours)| {
        text.replace(theirs, ours)
    })
}

/// The parser takes `-5s` after an option for another option.
fn negative(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let argument = texts(error, ContextKind::InvalidArg).first().copied()?;
    let digit = argument
        .strip_prefix('-')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    digit.filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let pair = words
        .windows(2)
        .find(|pair| pair[0].starts_with("--") && pair[1].starts_with(argument))?;
    Some(format!(
        "invalid value '{}' for '{}': it cannot be negative",
        pair[1], pair[0]
    ))
}

/// Names that resemble the given one.
fn similar(error: &clap::Error) -> Option<String> {
    let kinds = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    let alike = |(given, suggested)| {
        let word = texts(error, given)
            .first()
            .copied()
            .unwrap_or_default()
            .trim_start_matches('-');
        let is_slip = |name: &&str| is_slip(word, name.trim_start_matches('-'));
        texts(error, suggested)
            .into_iter()
            .filter(is_slip)
            .collect::<Vec<&str>>()
    };
    let names = kinds
        .map(alike)
        .into_iter()
        .find(|names| !names.is_empty())?;
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
    let command = *path.last()?;
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let option = first_text(error, ContextKind::InvalidArg)?;
            let has_option = |long: &str| argument(command, long).is_some();
            meant::option(option, value_of(option, words), &has_option)
                .or_else(|| of_another_command(option, path, words))
        }
        ErrorKind::InvalidValue => valid_value(error),
        ErrorKind::MissingRequiredArgument => missing_argument(error, command, words),
        ErrorKind::InvalidSubcommand if command.get_name() == "list" => {
            let word = first_text(error, ContextKind::InvalidSubcommand)?;
            let is_suite = built_in_suites().iter().any(|suite| suite.name == word);
            is_suite.then(|| format!("`writebench list cases {word}`"))
        }
        ErrorKind::InvalidSubcommand if path.len() == 1 => {
            let word = first_text(error, ContextKind::InvalidSubcommand)?;
            if let Some(ours) = meant(word, |ours| command.find_subcommand(ours).is_some()) {
                return Some(format!("`writebench {ours}`"));
            }
            let is_path =
                word.contains('/') || word == "." || word == ".." || Path::new(word).is_dir();
            is_path.then(|| format!("`writebench run {}`", quoted(word)))
        }
        _ => None,
    }
}

fn first_text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    texts(error, kind).first().copied()
}

fn argument<'c>(command: &'c Command, long: &str) -> Option<&'c Arg> {
    command
        .get_arguments()
        .find(|argument| argument.get_long() == Some(long))
}

/// The accepted value that an unknown one means.
fn valid_value(error: &clap::Error) -> Option<String> {
    let option = first_text(error, ContextKind::InvalidArg)?
        .split(' ')
        .next()?;
    let value = first_text(error, ContextKind::InvalidValue)?;
    let valid = texts(error, ContextKind::ValidValue);
    if value == "all" && option == "--suite" {
        return Some(format!("{option} {}", valid.join(",")));
    }
    let ours = meant(value, |ours| valid.contains(&ours))?;
    Some(if option.starts_with('-') {
        format!("{option} {ours}")
    } else {
        format!("'{ours}'")
    })
}

/// The given command line with the missing option and its possible values.
fn missing_argument(error: &clap::Error, command: &Command, words: &[OsString]) -> Option<String> {
    let missing = first_text(error, ContextKind::InvalidArg)?
        .split(' ')
        .next()?;
    let values = argument(command, missing.strip_prefix("--")?)?.get_possible_values();
    if values.is_empty() {
        return None;
    }
    let values: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
    let given: Vec<String> = words
        .iter()
        .map(|word| quoted(&word.to_string_lossy()))
        .collect();
    Some(format!(
        "`writebench {} {missing} {}`",
        given.join(" "),
        values.join("|")
    ))
}

/// The same words for the command that has the option: `writebench advise /data --for stream`.
fn of_another_command(option: &str, path: &[&Command], words: &[OsString]) -> Option<String> {
    let [program, command] = path else {
        return None;
    };
    let long = option
        .strip_prefix("--")
        .filter(|long| Axis::from_name(long).is_none())?;
    let has = |other: &&Command| {
        other
            .get_arguments()
            .any(|argument| argument.get_long() == Some(long))
    };
    // An export of a run, or the language of code, is no other question.
    let asks = ["run", "advise"].contains(&command.get_name());
    let other = program
        .get_subcommands()
        .find(|other| ["run", "advise"].contains(&other.get_name()) && has(other));
    let other = other.filter(|_| asks)?;
    let line = words.iter().map(|word| match word {
        word if word == command.get_name() => other.get_name().to_owned(),
        word => quoted(&word.to_string_lossy()),
    });
    Some(format!(
        "`writebench {}`",
        line.collect::<Vec<_>>().join(" ")
    ))
}

/// The value of an option unknown to clap.
fn value_of<'w>(option: &str, words: &'w [OsString]) -> Option<&'w str> {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let word = words.find(|word| word.split('=').next() == Some(option))?;
    let next = || words.next().filter(|next| !next.starts_with('-'));
    word.split_once('=')
        .map_or_else(next, |(_, value)| Some(value))
}

/// The program, then the named commands, from the outermost.
fn named_commands<'c>(interface: &'c Command, words: &[OsString]) -> Vec<&'c Command> {
    let mut path = vec![interface];
    for word in words {
        let inner = path
            .last()
            .and_then(|command| command.find_subcommand(word));
        path.extend(inner);
    }
    path
}
