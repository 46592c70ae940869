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

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory, Parser, ValueHint};
use signal_hook::consts::SIGXFSZ;

use crate::commands::{Command, HIDDEN};
use crate::exit::{Exit, usage};
use crate::global::Global;
use crate::output::Output;
use crate::ranks::{LaunchedRank, Role};

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
    match stack::ensure_enough() {
        Ok(()) => with_enough_stack(),
        Err(error) => exit_code(Err(error), &Output::new(ColorChoice::Never, false)),
    }
}

/// Apart, so that `main` takes little itself.
#[inline(never)]
fn with_enough_stack() -> ExitCode {
    outlive_file_size_limit();
    let plain = Output::new(ColorChoice::Never, false);
    let mut words = std::env::args_os().skip(1);
    let word = words.next();
    if let Some((_, serve)) = HIDDEN.iter().find(|(name, _)| word.as_ref().is_some_and(|word| word == name)) {
        return exit_code(serve(&mut words), &plain);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // The first rank reports the error for all. A launcher ends all ranks when one fails.
        Err(_) if LaunchedRank::from_environment().is_some_and(|launched| launched.rank > 0) => {
            return Exit::Ok.into();
        }
        Err(error)
            if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            let words: Vec<OsString> = std::env::args_os().skip(1).collect();
            let line = usage_errors::one_line(&error, &Arguments::command(), &words);
            return exit_code(Err(usage!("{line}")), &plain);
        }
        // `--help` and `--version` are results.
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            return exit_code(output::printed(error.print(), "standard output").map(|()| exit), &plain);
        }
    };
    let output =
        Output::new(arguments.color, arguments.quiet).relayed(LaunchedRank::from_environment().is_some());
    let leader = match join_ranks(&arguments.command) {
        Ok(Role::Supervisor(leader)) => leader,
        Ok(Role::Done) => return Exit::Ok.into(),
        Err(error) => return exit_code(Err(error), &output),
    };
    let global = Global { db: arguments.db, output, leader, interface: Arguments::command };
    exit_code(arguments.command.run(&global), &global.output)
}

/// Joins the processes that were started together with this one. Only measuring takes several.
fn join_ranks(command: &Command) -> anyhow::Result<Role> {
    let Some(launched) = LaunchedRank::from_environment() else { return Ok(Role::Supervisor(None)) };
    match command {
        Command::Run(_) | Command::Advise(_) => ranks::join(launched),
        _ if launched.rank == 0 => Ok(Role::Supervisor(None)),
        _ => Ok(Role::Done),
    }
}

/// Turns a write beyond `ulimit -f` into an error with its place (EFBIG), in the worker and in the
/// database; the signal alone would end the program without a word.
fn outlive_file_size_limit() {
    // Without a handler the signal does what it always did.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

fn exit_code(result: anyhow::Result<Exit>, output: &Output) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            output.error(&error);
            exit::for_error(&error).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
