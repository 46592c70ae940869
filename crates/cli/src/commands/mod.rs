//! The commands, one per file, independent of each other. A new one needs its file, and a line in both lists here.

mod advise;
mod agent;
mod code;
mod compare;
mod completions;
mod fs;
mod import;
mod list;
mod man;
mod powerloss;
mod probe;
mod report;
mod run;
mod runs;
mod show;

use std::ffi::OsString;

use anyhow::Result;
use clap::Subcommand;

use crate::exit::Exit;
use crate::global::Global;

macro_rules! commands {
    ($($name:ident($arguments:ty),)*) => {
        #[derive(Subcommand)]
        pub(crate) enum Command { $($name(Box<$arguments>),)* }

        impl Command {
            pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
                match self { $(Self::$name(arguments) => arguments.run(global),)* }
            }
        }
    };
}

// This is the order of the help.
commands! {
    Run(run::RunCommand),
    Fs(fs::FsCommand),
    Advise(advise::AdviseCommand),
    Code(code::CodeCommand),
    List(list::ListCommand),
    Runs(runs::RunsCommand),
    Show(show::ShowCommand),
    Report(report::ReportCommand),
    Compare(compare::CompareCommand),
    Import(import::ImportCommand),
    Probe(probe::ProbeCommand),
    Powerloss(powerloss::PowerlossCommand),
    Completions(completions::CompletionsCommand),
    Man(man::ManCommand),
}

type Hidden = fn(&mut dyn Iterator<Item = OsString>) -> Result<Exit>;

/// Commands for processes of the program, without help, manual and completions.
pub(crate) const HIDDEN: [(&str, Hidden); 2] = [
    (crate::processes::AGENT, agent::serve),
    (writebench_engine::GUARD, |words| {
        Ok(writebench_engine::guard(words).map(|()| Exit::Ok)?)
    }),
];
