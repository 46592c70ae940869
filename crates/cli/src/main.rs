//! `writebench`: finds, and proves, the fastest way to write a file on a given storage target.

mod advise_command;
mod arguments;
mod compare;
mod copied;
mod database;
mod dry_run;
mod exit;
mod export;
mod fs_command;
mod hardware;
mod import_command;
mod keeper;
mod kinds;
mod list;
mod measure;
mod named_runs;
mod noise_command;
mod output;
mod output_file;
mod place;
mod privileges;
mod probe_command;
mod progress;
mod properties;
mod recorder;
mod report_command;
mod run_command;
mod run_name;
mod selection;
mod show;
mod stream;
mod worker;
mod workspaces;

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
            return ended(worker::work(words), &Output::new(ColorChoice::Never, false));
        }
        Some(word) if word == keeper::COMMAND => {
            return ended(keeper::keep(), &Output::new(ColorChoice::Never, false));
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
        Command::Run(command) => run_command::run(&command, arguments.db.as_deref(), &output),
        Command::Fs(command) => fs_command::fs(&command, arguments.db.as_deref(), &output),
        Command::Advise(command) => advise_command::advise(&command, arguments.db.as_deref(), &output),
        Command::List(command) => list::list(&command, arguments.db.as_deref(), &output),
        Command::Show(command) => show::show(&command, arguments.db.as_deref(), &output),
        Command::Report(command) => report_command::report(&command, arguments.db.as_deref(), &output),
        Command::Import(command) => import_command::import(&command, arguments.db.as_deref(), &output),
        Command::Compare(command) => compare::compare(&command, arguments.db.as_deref(), &output),
        Command::Probe(command) if command.noise => {
            noise_command::noise(&command, arguments.db.as_deref(), &output)
        }
        Command::Probe(command) => probe_command::probe(&command, &output),
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
