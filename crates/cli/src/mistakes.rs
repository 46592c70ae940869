//! Mistakes of a command line, in one line, with the probable intention.

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
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or_default();
    let text = text.split("\n\nFor more information").next().unwrap_or_default();
    let meant = meant(error, interface, words);
    let text = match &meant {
        Some(meant) => format!("{}; did you mean {meant}?", text.split("\n\n").next().unwrap_or_default()),
        None => text.replace("\n\n  tip:", "; tip:"),
    };
    let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    let see = if meant.is_some() { " See" } else { "; see" };
    format!("{}{see} writebench --help", line.strip_prefix("error: ").unwrap_or(&line))
}

/// Mistakes unknown to clap: options of other programs, and a target in the place of a command.
fn meant(error: &clap::Error, interface: &Command, words: &[OsString]) -> Option<String> {
    let (command, names) = command_of(interface, words);
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let ContextValue::String(option) = error.get(ContextKind::InvalidArg)? else { return None };
            let has = |long: &str| command.get_arguments().any(|argument| argument.get_long() == Some(long));
            if SAMPLES.contains(&option.as_str()) && has("samples") {
                return Some("--samples".to_owned());
            }
            let format = FORMATS.iter().find(|it| option.strip_prefix("--") == Some(it.name))?;
            let to = if matches!(format.render, Render::Text(_)) { "-" } else { "DIRECTORY" };
            has("export").then(|| format!("--export {}={to}", format.name))
        }
        ErrorKind::InvalidSubcommand if names.is_empty() => {
            let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else { return None };
            let is_path = word.contains('/') || word == "." || word == ".." || Path::new(word).is_dir();
            is_path.then(|| format!("`writebench run {}`", quoted(word)))
        }
        _ => None,
    }
}

/// The command that the words name, and its names.
fn command_of<'c>(interface: &'c Command, words: &[OsString]) -> (&'c Command, Vec<&'c str>) {
    let (mut command, mut names) = (interface, Vec::new());
    for word in words {
        if let Some(found) = command.find_subcommand(word) {
            command = found;
            names.push(found.get_name());
        }
    }
    (command, names)
}
