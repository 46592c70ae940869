//! `writebench`: finds, and proves, the fastest way to write a file on a given storage target.

mod arguments;
mod commands;
mod consent;
mod database;
mod earlier_search;
mod exit;
mod export;
mod file_copy;
mod global;
mod named_runs;
mod output;
mod output_file;
mod processes;
mod programs;
mod ranks;
mod run_name;
mod sampling;
mod selection;
mod session;
mod signals;
mod stack;
mod usage_errors;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory, Parser, ValueHint};
use signal_hook::consts::SIGXFSZ;

use crate::commands::{Command, HIDDEN};
use crate::exit::{Exit, usage};
use crate::global::Global;
use crate::output::Output;
use crate::ranks::LaunchedRank;

/// Finds, and proves, the fastest way to write a file on a given storage target.
#[derive(Parser)]
#[command(version = VERSION_TEXT.as_str(), after_help = EXIT_CODES)]
struct Arguments {
    /// Database of runs [default: writebench.db in the user's data directory]
    #[arg(long, global = true, value_name = "FILE", env = database::VARIABLE, hide_env_values = true, value_hint = ValueHint::FilePath)]
    db: Option<PathBuf>,
    /// When to use colour; `auto` is on in a terminal unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    /// No progress and no notes: results and errors only
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

/// The version, with the MPI library that this program is linked with.
static VERSION_TEXT: LazyLock<String> = LazyLock::new(|| {
    let library = ranks::library().map(|library| format!(" ({library})")).unwrap_or_default();
    format!("{}{library}", env!("CARGO_PKG_VERSION"))
});

const EXIT_CODES: &str = "Exit codes: 0 ok, 1 runtime error, 2 usage, 3 refused as unsafe, 4 some cases failed, \
    5 slower than --fail-if-slower allows, 130 interrupted.\nSizes are binary (4k, 1M, 1GiB) unless they say kB, MB or GB; rates are in decimal GB/s.";

fn main() -> ExitCode {
    end(stack::ensure_enough().and_then(|()| with_enough_stack())).into()
}

/// Apart, so that `main` takes little itself.
#[inline(never)]
fn with_enough_stack() -> Result<Exit> {
    survive_file_size_limit();
    let mut words = std::env::args_os().skip(1);
    let hidden = words.next().and_then(|word| HIDDEN.iter().find(|(name, _)| word == *name));
    if let Some((_, serve)) = hidden {
        return serve(&mut words);
    }
    let launched = LaunchedRank::from_environment();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // The first rank reports the error for all. A launcher ends all ranks when one fails.
        Err(_) if launched.is_some_and(|launched| launched.rank > 0) => return Ok(Exit::Ok),
        Err(error)
            if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            let words: Vec<OsString> = std::env::args_os().skip(1).collect();
            let line = usage_errors::one_line(&error, &Arguments::command(), &words);
            return Err(usage!("{line}"));
        }
        // `--help` and `--version` are results.
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            return output::printed(error.print(), "standard output").map(|()| exit);
        }
    };
    let leader = match (&arguments.command, launched) {
        // Only measuring takes several processes.
        (Command::Run(_) | Command::Advise(_), Some(launched)) => {
            let Some(leader) = ranks::join(launched)? else { return Ok(Exit::Ok) };
            Some(RefCell::new(leader))
        }
        (_, Some(launched)) if launched.rank > 0 => return Ok(Exit::Ok),
        _ => None,
    };
    let output = Output::new(arguments.color, arguments.quiet, launched.is_some());
    let global = Global { db: arguments.db, output, leader, interface: Arguments::command };
    Ok(end(arguments.command.run(&global)))
}

/// How the program ends; an error is printed.
fn end(result: Result<Exit>) -> Exit {
    result.unwrap_or_else(|error| {
        output::print_error(&error);
        exit::for_error(&error)
    })
}

/// Turns a write beyond `ulimit -f` into an error with its place (EFBIG), in the worker and in the
/// database; the signal alone would end the program without a word.
fn survive_file_size_limit() {
    // Without a handler the signal does what it always did.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
