//! The project's own tools: `cargo xtask setup|test|tidy|docs|dist`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these are tools of the command line"
)]

#[cfg(test)]
mod contributing;
mod dist;
mod docs;
mod need;
mod setup;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::Parser;

/// The project's own tools.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Task {
    /// Install the tools of the tests
    Setup,
    /// Run the complete check of a change: format, lints, rules, documentation, tests here and on other systems
    Test(test::Options),
    /// Check rules of the repository that neither the compiler nor clippy check
    Tidy,
    /// Build the documentation as a website, and check its links. Installs mdBook if it is missing
    Docs,
    /// Make the files of a release: static programs, packages for systems and registries, documentation, sums
    Dist(dist::Options),
}

fn main() -> ExitCode {
    let outcome = match Task::parse() {
        Task::Setup => setup::run().map(|()| true),
        Task::Test(options) => test::run(&options),
        Task::Tidy => tidy::run(),
        Task::Docs => docs::run(),
        Task::Dist(options) => dist::run(&options),
    };
    let is_good = outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        false
    });
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
