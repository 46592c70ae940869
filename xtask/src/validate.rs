mod frontier;
mod grid;
mod promise;
mod soak;

use anyhow::Result;

#[derive(clap::Subcommand)]
pub(crate) enum Question {
    /// Check that searches, or first answers, are near the best of the grid, the same each time, and minimal
    Advise(grid::answer::Options),
    /// Compare the best methods of five programs with those of writebench, for each contract
    Frontier(frontier::Options),
    /// Measure the cases of each goal in stages, or choose the portfolios from all results
    Grid(grid::Options),
    /// Run all commands with all kinds of faults, and look for errors and leftovers
    Soak(soak::Options),
}

pub(crate) fn run(question: &Question) -> Result<bool> {
    match question {
        Question::Advise(options) => grid::answer::run(options),
        Question::Frontier(options) => frontier::run(options),
        Question::Grid(options) => grid::run(options),
        Question::Soak(options) => soak::run(options),
    }
}
