//! `writebench` finds the fastest way to write or copy a file on a disk, and shows how sure the answer is.

mod arguments;
mod caution;
mod closed_output;
mod commands;
mod consent;
mod constraints;
mod database;
mod earlier_search;
mod exit;
mod export;
mod file_copy;
mod gate;
mod global;
mod meant;
mod named_runs;
mod newest_answer;
mod output;
mod output_file;
mod processes;
mod programs;
mod progress;
mod ranks;
mod require;
mod run_name;
mod sampling;
mod selection;
mod session;
mod signals;
mod stack;
mod synonyms;
mod usage_errors;

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{ArgAction, ColorChoice, CommandFactory, Parser, ValueHint};
use signal_hook::consts::SIGXFSZ;

use crate::commands::{Command, HIDDEN};
use crate::exit::{Exit, usage};
use crate::global::Global;
use crate::output::Output;
use crate::ranks::LaunchedRank;

/// Finds the fastest way to write or copy a file on your disk, and shows how sure the answer is.
#[derive(Parser)]
#[command(version = VERSION_TEXT.as_str(), after_help = EXIT_CODES, next_help_heading = "Global options",
    disable_help_flag = true, disable_version_flag = true, term_width = output::help_columns())]
struct Arguments {
    /// Keep runs in this database [default: writebench.db in your data directory]
    #[arg(long, global = true, value_name = "FILE", env = database::VARIABLE, hide_env_values = true, value_hint = ValueHint::FilePath)]
    db: Option<PathBuf>,
    /// Colour the output. `auto` does so in a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    /// Print results and errors only, without progress and notes
    #[arg(long, short, global = true)]
    quiet: bool,
    // The flags of clap would have no heading, and so be the first group.
    /// Print help
    #[arg(long, short, global = true, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the version
    #[arg(long, short = 'V', action = ArgAction::Version)]
    version: Option<bool>,
    #[command(subcommand)]
    command: Command,
}

/// The version, and the MPI library that this program is linked to.
static VERSION_TEXT: LazyLock<String> = LazyLock::new(|| {
    let library = ranks::library()
        .map(|library| format!(" ({library})"))
        .unwrap_or_default();
    format!("{}{library}", env!("CARGO_PKG_VERSION"))
});

const EXIT_CODES: &str = "Exit codes: 0 ok, 1 runtime error, 2 usage, 3 refused as unsafe, 4 some cases failed, \
    5 a gate failed, 6 no answer, 7 undecided, 130 interrupted.\nSizes are binary (4k, 1M, 1GiB) unless you write kB, MB or GB. \
    Rates are in decimal GB/s.";

/// The text for a call without arguments.
const FIRST_COMMANDS: &str = "\
writebench finds the fastest way to write or copy a file on your disk, and shows how sure the answer is.
  writebench run .                  the fastest method for each goal, in this directory, in under a minute
  writebench advise . --for stream  a search of all methods for one goal (`writebench list goals`)
  writebench code --lang c          the recommendation as code
  writebench --help                 all commands
";

fn main() -> ExitCode {
    ExitCode::from(end(stack::ensure_enough().and_then(|()| with_enough_stack())) as u8)
}

/// A function, to keep the stack frame of `main` small.
#[inline(never)]
fn with_enough_stack() -> Result<Exit> {
    // Turns a write beyond `ulimit -f` into an error (EFBIG), where SIGXFSZ would kill the program silently.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some((_, serve)) = HIDDEN
        .iter()
        .find(|(name, _)| words.first().is_some_and(|word| word == name))
    {
        return serve(&mut words.into_iter().skip(1));
    }
    if words.is_empty() {
        return output::printed(
            write!(std::io::stderr(), "{FIRST_COMMANDS}"),
            "standard error",
        )
        .map(|()| Exit::Usage);
    }
    let launched = LaunchedRank::from_variables(|name| std::env::var(name).ok());
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // The first rank reports the error for all. A launcher ends all ranks when one fails.
        Err(_) if launched.is_some_and(|launched| launched.rank > 0) => return Ok(Exit::Ok),
        Err(error) => return not_parsed(&error, &words),
    };
    let leader = match (&arguments.command, launched) {
        // Only measuring takes several processes.
        (Command::Run(_) | Command::Advise(_), Some(launched)) => {
            let Some(leader) = ranks::join(launched)? else {
                return Ok(Exit::Ok);
            };
            Some(RefCell::new(leader))
        }
        (_, Some(launched)) if launched.rank > 0 => return Ok(Exit::Ok),
        _ => None,
    };
    let output = Output::new(arguments.color, arguments.quiet, launched.is_some());
    let global = Global {
        db: arguments.db,
        output,
        leader,
        interface: Arguments::command,
    };
    Ok(end(arguments.command.run(&global)))
}

/// Prints `--help` and `--version`, which are results, and makes one line of an error.
fn not_parsed(error: &clap::Error, words: &[OsString]) -> Result<Exit> {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if error.use_stderr() && !is_help {
        let line = usage_errors::one_line(error, &Arguments::command(), words);
        return Err(usage!("{line}"));
    }
    let (exit, stream) = if error.use_stderr() {
        (Exit::Usage, closed_output::STDERR)
    } else {
        (Exit::Ok, closed_output::STDOUT)
    };
    let printed = closed_output::check(stream).and_then(|()| error.print());
    output::printed(printed, "standard output").map(|()| exit)
}

/// Prints an error, and returns its exit.
fn end(result: Result<Exit>) -> Exit {
    result.unwrap_or_else(|error| {
        output::print_error(&error);
        exit::for_error(&error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
