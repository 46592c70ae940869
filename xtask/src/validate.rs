//! `cargo xtask validate`: tests of the reliability of writebench's results.

mod advice;
mod builds;
mod frontier;
mod noise;
mod order;
mod promise;
mod ranking;
mod soak;
mod turns;

use anyhow::Result;

/// The property under test.
#[derive(clap::Subcommand)]
pub(crate) enum Question {
    /// Count how often `compare` distinguishes a build from itself, and from one that is 5 % slower
    Noise(noise::Options),
    /// Check that repeated runs rank the copying cases alike
    Ranking(ranking::Options),
    /// Check that a search finds the result of measuring every candidate, and keeps its promise in a program
    Advise(advice::Options),
    /// Compare the best ways of the five programs with the best here, for each contract
    Frontier(frontier::Options),
    /// Compare two builds of writebench with each other, case by case
    Builds(builds::Options),
    /// Run all commands with all kinds of trouble for minutes, and look for errors and leftovers
    Soak(soak::Options),
}

/// Runs the test; returns whether it could be completed.
pub(crate) fn run(question: &Question) -> Result<bool> {
    match question {
        Question::Noise(options) => noise::run(options),
        Question::Ranking(options) => ranking::run(options),
        Question::Advise(options) => advice::run(options),
        Question::Frontier(options) => frontier::run(options),
        Question::Builds(options) => builds::run(options),
        Question::Soak(options) => soak::run(options),
    }
}
