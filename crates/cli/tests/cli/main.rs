mod advice;
mod advice_constraints;
mod agents;
mod bytes_written;
mod cache_promises;
mod clock;
mod commands;
mod compare;
mod copied_files;
mod copy_promises;
mod copying;
mod database_faults;
mod database_locks;
mod database_owners;
mod deleting;
mod device_faults;
mod devices;
mod docs;
mod durability;
mod exports;
mod faults;
mod filesystems;
mod fio;
mod gate;
mod guides;
mod kills;
mod large;
mod lasting_faults;
mod limits;
mod load;
mod memory_limits;
mod newest_answer;
#[cfg(not(feature = "mpi"))]
mod no_mpi;
mod outcomes;
mod outputs;
mod pages;
mod pipes;
mod powerloss;
mod privileges;
mod process_limits;
mod program_ends;
mod programs;
mod promises;
mod quotas;
mod read_back;
mod readme;
mod real_faults;
mod refusals;
mod require;
mod run_status;
mod same_calls;
mod scripted_faults;
mod set_promises;
mod side_by_side;
mod signals;
mod silent_targets;
mod sizes;
mod snippets;
mod space;
mod stalls;
mod strangers;
mod streams;
mod suites;
mod synonyms;
mod syscalls;
mod terminal;
mod terminals;

use std::process::ExitCode;

use anyhow::{Context, Result};
use writebench_testkit::{Program, Trials, with_default_signals};

fn main() -> Result<ExitCode> {
    with_default_signals()?;
    let mut trials = Trials::default();
    advice::add(&mut trials);
    advice_constraints::add(&mut trials);
    clock::add(&mut trials);
    commands::add(&mut trials);
    compare::add(&mut trials);
    gate::add(&mut trials);
    copied_files::add(&mut trials);
    copying::add(&mut trials);
    database_faults::add(&mut trials);
    database_locks::add(&mut trials);
    database_owners::add(&mut trials);
    deleting::add(&mut trials);
    device_faults::add(&mut trials);
    devices::add(&mut trials);
    docs::add(&mut trials);
    durability::add(&mut trials);
    exports::add(&mut trials);
    faults::add(&mut trials);
    filesystems::add(&mut trials);
    fio::add(&mut trials);
    guides::add(&mut trials);
    agents::add(&mut trials);
    stalls::add(&mut trials);
    kills::add(&mut trials);
    large::add(&mut trials);
    lasting_faults::add(&mut trials);
    limits::add(&mut trials);
    load::add(&mut trials);
    memory_limits::add(&mut trials);
    newest_answer::add(&mut trials);
    #[cfg(not(feature = "mpi"))]
    no_mpi::add(&mut trials);
    process_limits::add(&mut trials);
    pages::add(&mut trials);
    pipes::add(&mut trials);
    powerloss::add(&mut trials);
    privileges::add(&mut trials);
    program_ends::add(&mut trials);
    programs::add(&mut trials);
    quotas::add(&mut trials);
    read_back::add(&mut trials);
    readme::add(&mut trials);
    real_faults::add(&mut trials);
    refusals::add(&mut trials);
    require::add(&mut trials);
    run_status::add(&mut trials);
    same_calls::add(&mut trials);
    scripted_faults::add(&mut trials);
    side_by_side::add(&mut trials);
    silent_targets::add(&mut trials);
    sizes::add(&mut trials);
    snippets::add(&mut trials);
    space::add(&mut trials);
    strangers::add(&mut trials);
    streams::add(&mut trials);
    suites::add(&mut trials);
    synonyms::add(&mut trials);
    syscalls::add(&mut trials);
    terminals::add(&mut trials);
    bytes_written::add(&mut trials);
    outcomes::add(&mut trials);
    outputs::add(&mut trials);
    signals::add(&mut trials);
    // They wait for disks and signals half of the time.
    let code = trials.run(4);
    snippets::remove_programs();
    Ok(code)
}

fn program() -> Result<Program> {
    Program::new(env!("CARGO_BIN_EXE_writebench"))
}

fn commands_of(program: &Program) -> Result<Vec<String>> {
    let help = program.call(&["--help"])?.stdout;
    let (_, commands) = help
        .split_once("\nCommands:\n")
        .context("a list of commands")?;
    let lines = commands.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| {
        line.strip_prefix("  ")?
            .split(' ')
            .next()
            .filter(|word| !word.is_empty())
    });
    Ok(names.map(str::to_owned).collect())
}
