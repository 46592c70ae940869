//! The parser's errors in one line, with the probable intention.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use writebench_report::formats::{FORMATS, Render};
use writebench_report::quoted;

/// Names of `--samples` in other benchmarks.
const SAMPLES: [&str; 6] = ["-n", "--runs", "--repeat", "--repeats", "--iterations", "--rounds"];

/// The parser's error in one line: what is wrong and what would fit, without usage and advice.
pub(crate) fn one_line(error: &clap::Error, interface: &Command, words: &[OsString]) -> String {
    let line = match suggestion(error, interface, words) {
        Some(suggestion) => format!("{}; did you mean {suggestion}? See", cause(error)),
        None => format!("{}{}; see", cause(error), tips(error)),
    };
    format!("{} writebench --help", line.split_whitespace().collect::<Vec<&str>>().join(" "))
}

/// What is wrong, in clap's own words.
fn cause(error: &clap::Error) -> String {
    let context = |kind| text(error, kind).unwrap_or_default();
    let (argument, value) = (context(ContextKind::InvalidArg), context(ContextKind::InvalidValue));
    let why = std::error::Error::source(error).map_or(String::new(), |why| format!(": {why}"));
    match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("a value is required for '{argument}' but none was supplied{}", values(error))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            format!("invalid value '{value}' for '{argument}'{why}{}", values(error))
        }
        ErrorKind::UnknownArgument => format!("unexpected argument '{argument}' found"),
        ErrorKind::InvalidSubcommand => {
            format!("unrecognized subcommand '{}'", context(ContextKind::InvalidSubcommand))
        }
        ErrorKind::ArgumentConflict => match context(ContextKind::PriorArg) {
            prior if prior == argument => format!("the argument '{argument}' cannot be used multiple times"),
            prior => format!("the argument '{argument}' cannot be used with '{prior}'"),
        },
        ErrorKind::MissingRequiredArgument => format!("required and missing: {argument}"),
        ErrorKind::NoEquals => format!("an equal sign is missing between '{argument}' and its value"),
        ErrorKind::MissingSubcommand => "a command is missing".to_owned(),
        // A kind that has no words here, or that the command line above cannot lead to.
        kind if argument.is_empty() => kind.to_string(),
        kind => format!("{kind}: '{argument}'"),
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    error.get(kind).map(ToString::to_string).filter(|text| !text.is_empty())
}

fn values(error: &clap::Error) -> String {
    text(error, ContextKind::ValidValue).map_or(String::new(), |all| format!(" [possible values: {all}]"))
}

/// What would fit, as clap suggests.
fn tips(error: &clap::Error) -> String {
    let kinds = [
        ("subcommand", ContextKind::SuggestedSubcommand),
        ("argument", ContextKind::SuggestedArg),
        ("value", ContextKind::SuggestedValue),
    ];
    let similar = kinds.into_iter().filter_map(|(what, kind)| {
        Some(match error.get(kind)? {
            ContextValue::Strings(names) if names.len() > 1 => {
                format!("; tip: some similar {what}s exist: '{}'", names.join("', '"))
            }
            ContextValue::None | ContextValue::Strings(_) if text(error, kind).is_none() => return None,
            name => format!("; tip: a similar {what} exists: '{name}'"),
        })
    });
    let others = match error.get(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => tips.iter().map(|tip| format!("; tip: {tip}")).collect(),
        _ => Vec::new(),
    };
    similar.chain(others).collect()
}

/// Mistakes unknown to clap: options of other programs, and a target in the place of a command.
fn suggestion(error: &clap::Error, interface: &Command, words: &[OsString]) -> Option<String> {
    let command = named_command(interface, words);
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let ContextValue::String(option) = error.get(ContextKind::InvalidArg)? else { return None };
            let has = |long: &str| {
                command.unwrap_or(interface).get_arguments().any(|argument| argument.get_long() == Some(long))
            };
            if SAMPLES.contains(&option.as_str()) && has("samples") {
                return Some("--samples".to_owned());
            }
            let format = FORMATS.iter().find(|format| option.strip_prefix("--") == Some(format.name))?;
            let to = if matches!(format.render, Render::Text(_)) { "-" } else { "DIRECTORY" };
            has("export").then(|| format!("--export {}={to}", format.name))
        }
        ErrorKind::InvalidSubcommand if command.is_none() => {
            let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else { return None };
            let is_path = word.contains('/') || word == "." || word == ".." || Path::new(word).is_dir();
            is_path.then(|| format!("`writebench run {}`", quoted(word)))
        }
        _ => None,
    }
}

/// The command that the words name; none if they name none.
fn named_command<'c>(interface: &'c Command, words: &[OsString]) -> Option<&'c Command> {
    let inner =
        |command: Option<&'c Command>, word| command.unwrap_or(interface).find_subcommand(word).or(command);
    words.iter().fold(None, inner)
}
