//! The measurements behind the documents: `cargo studies parity|frontier|grid|advise|replay|sample-time|powerloss|soak`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these are tools of the command line"
)]

mod export;
mod frontier;
mod grid;
mod made;
mod parity;
mod powerloss;
mod program;
mod promise;
mod sample_time;
mod soak;
mod target;

use std::process::ExitCode;

use clap::Parser;

/// The measurements behind the documents.
///
/// They measure the release build, or the program that the variable WRITEBENCH names.
#[derive(Parser)]
#[command(name = "cargo studies", bin_name = "cargo studies")]
enum Study {
    /// Compare writebench with plain C programs of the same work, or with other tools
    Parity(parity::Options),
    /// Run a program that measures itself, for `parity`
    #[command(hide = true)]
    SelfTimed(parity::self_timed::Options),
    /// Compare the best methods of five programs with those of writebench, for each workload
    Frontier(frontier::Options),
    /// Measure the cases of each goal in stages, or choose the portfolios from all results
    Grid(grid::Options),
    /// Check that searches, or first answers, are near the best of the grid, the same each time, and minimal
    Advise(grid::answer::Options),
    /// Answer as `run` and `advise` do, with times that are drawn around those of the grids
    Replay(grid::replay::Options),
    /// Show where the time of a sample goes, and how much of a first answer is inside timed regions
    SampleTime(sample_time::Options),
    /// Cut the power while printed code runs, on more filesystems than the tests
    Powerloss(powerloss::Options),
    /// Run all commands with all kinds of faults, and look for errors and leftovers
    Soak(soak::Options),
}

fn main() -> ExitCode {
    let outcome = match Study::parse() {
        Study::Parity(options) => parity::run(&options),
        Study::SelfTimed(options) => parity::self_timed::run(&options),
        Study::Frontier(options) => frontier::run(&options),
        Study::Grid(options) => grid::run(&options),
        Study::Advise(options) => grid::answer::run(&options),
        Study::Replay(options) => grid::replay::run(&options),
        Study::SampleTime(options) => sample_time::run(&options),
        Study::Powerloss(options) => powerloss::run(&options),
        Study::Soak(options) => soak::run(&options),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
