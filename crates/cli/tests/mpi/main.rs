mod mpiio;
mod ranks;
mod slurm;

use std::process::ExitCode;

use anyhow::Result;
use writebench_testkit::{Program, Trials, with_default_signals};

fn main() -> Result<ExitCode> {
    with_default_signals()?;
    let mut trials = Trials::default();
    ranks::add(&mut trials);
    mpiio::add(&mut trials);
    slurm::add(&mut trials);
    // They wait for other ranks and signals half of the time.
    Ok(trials.run(4))
}

fn program() -> Result<Program> {
    Program::new(env!("CARGO_BIN_EXE_writebench"))
}
