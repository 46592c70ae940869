//! `writebench`: finds, and proves, the fastest way to write a file on a given storage target.

mod arguments;
mod commands;
mod database;
mod exit;
mod export;
mod keeper;
mod named_runs;
mod output;
mod output_file;
mod run_name;
mod selection;
mod session;

use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory, Parser};
use signal_hook::consts::SIGXFSZ;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::output::Output;

fn main() -> ExitCode {
    outlive_file_size_limit();
    // These are no commands for people: help, manual and completions do not know them.
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == "worker" => {
            return ended(commands::worker::work(words), &Output::new(ColorChoice::Never, false));
        }
        Some(word) if word == keeper::COMMAND => {
            return ended(commands::keeper::keep(), &Output::new(ColorChoice::Never, false));
        }
        Some(word) if word == writebench_filesystems::PASSTHROUGH_COMMAND => {
            let served = writebench_filesystems::serve_passthrough(words).map(|()| Exit::Ok);
            return ended(served.map_err(Into::into), &Output::new(ColorChoice::Never, false));
        }
        _ => {}
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        Err(error) if error.use_stderr() => {
            let error = exit::usage(arguments::one_line(&error));
            return ended(Err(error), &Output::new(ColorChoice::Never, false));
        }
        // `--help` and `--version` are results.
        Err(error) => error.exit(),
    };
    let output = Output::new(arguments.color, arguments.quiet);
    let result = match arguments.command {
        Command::Run(command) => commands::run::run(&command, arguments.db.as_deref(), &output),
        Command::Fs(command) => commands::fs::fs(&command, arguments.db.as_deref(), &output),
        Command::Advise(command) => commands::advise::advise(&command, arguments.db.as_deref(), &output),
        Command::List(command) => commands::list::list(&command, arguments.db.as_deref(), &output),
        Command::Show(command) => commands::show::show(&command, arguments.db.as_deref(), &output),
        Command::Report(command) => commands::report::report(&command, arguments.db.as_deref(), &output),
        Command::Import(command) => commands::import::import(&command, arguments.db.as_deref(), &output),
        Command::Compare(command) => commands::compare::compare(&command, arguments.db.as_deref(), &output),
        Command::Probe(command) if command.noise => {
            commands::noise::noise(&command, arguments.db.as_deref(), &output)
        }
        Command::Probe(command) => commands::probe::probe(&command, &output),
        Command::Completions { shell } => completions(shell, &output),
        Command::Man { command } => man(command.as_deref(), &output),
    };
    ended(result, &output)
}

/// A write beyond `ulimit -f` is then an error that says where (EFBIG), in the worker as in the database; the signal
/// alone would end the program without a word.
fn outlive_file_size_limit() {
    // Where there can be no handler, the signal does what it always did.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

fn ended(result: anyhow::Result<Exit>, output: &Output) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            output.error(&error);
            exit::of(&error).into()
        }
    }
}

fn completions(shell: clap_complete::Shell, output: &Output) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "writebench", &mut text);
    output.results(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Ok)
}

fn man(name: Option<&str>, output: &Output) -> anyhow::Result<Exit> {
    let mut command = Arguments::command();
    command.build();
    let command = match name {
        None => command,
        Some(name) => {
            let found = command.find_subcommand(name).cloned();
            let found = found.ok_or_else(|| exit::usage(format!("there is no command '{name}'")))?;
            found.display_name(format!("writebench-{name}"))
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    output.results(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Ok)
}
