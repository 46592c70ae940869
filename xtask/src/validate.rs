mod frontier;
mod grid;
mod promise;
mod soak;

use anyhow::Result;

use crate::test::run_declared;

#[derive(clap::Subcommand)]
pub(crate) enum Question {
    /// Check that searches, or first answers, are near the best of the grid, the same each time, and minimal
    Advise(grid::answer::Options),
    /// Compare the best methods of five programs with those of writebench, for each contract
    Frontier(frontier::Options),
    /// Measure the cases of each goal in stages, or choose the portfolios from all results
    Grid(grid::Options),
    /// Run the soak, fuzz targets, lints, Miri, frontier, and the check of the first answer, with one summary
    All {
        /// Minutes of the soak. Each fuzz target runs for half of them
        #[arg(long, default_value_t = 20)]
        minutes: u32,
    },
    /// Run all commands with all kinds of faults, and look for errors and leftovers
    Soak(soak::Options),
}

pub(crate) fn run(question: &Question) -> Result<bool> {
    match question {
        Question::All { minutes } => {
            let words = [
                ("soak", minutes.to_string()),
                ("fuzz", (minutes * 30).to_string()),
            ];
            run_declared(include_str!("validate/all.toml"), words)
        }
        Question::Advise(options) => grid::answer::run(options),
        Question::Frontier(options) => frontier::run(options),
        Question::Grid(options) => grid::run(options),
        Question::Soak(options) => soak::run(options),
    }
}
