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
    let (cause, tips) = cause_and_tips(error);
    let line = match suggestion(error, interface, words) {
        Some(suggestion) => format!("{cause}; did you mean {suggestion}? See"),
        None => format!("{cause}{tips}; see"),
    };
    format!("{} writebench --help", line.split_whitespace().collect::<Vec<&str>>().join(" "))
}

/// The error, mostly in clap's own words, and clap's suggestion.
fn cause_and_tips(error: &clap::Error) -> (String, String) {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let advice = text.rfind("\n\nUsage: ").or_else(|| text.rfind("\n\nFor more information"));
    let mut parts = text[..advice.unwrap_or(text.len())].split("\n  tip: ");
    let cause = parts.next().unwrap_or_default().trim_end().to_owned();
    let tips = parts.map(|tip| format!("; tip: {tip}")).collect();
    let context = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let (argument, prior) = (context(ContextKind::InvalidArg), context(ContextKind::PriorArg));
    let cause = match error.kind() {
        ErrorKind::ArgumentConflict if prior != argument => {
            format!("the argument '{argument}' cannot be used with '{prior}'")
        }
        ErrorKind::MissingRequiredArgument => format!("required and missing: {argument}"),
        ErrorKind::NoEquals => format!("an equal sign is missing between '{argument}' and its value"),
        ErrorKind::MissingSubcommand => "a command is missing".to_owned(),
        _ => cause,
    };
    (cause, tips)
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
