//! The project's own tools: `cargo xtask setup|test|tidy|docs|dist|parity|validate`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these are tools of the command line"
)]

mod command;
#[cfg(test)]
mod contributing;
mod dist;
mod docs;
mod export;
mod need;
mod parity;
mod program;
mod setup;
mod target;
mod test;
mod tidy;
mod validate;

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
    /// Compare writebench with plain C programs of the same work, or with other tools
    Parity(parity::Options),
    /// Run a program that measures itself, for `parity`
    #[command(hide = true)]
    SelfTimed(parity::self_timed::Options),
    /// Test the reliability of writebench's results
    #[command(subcommand)]
    Validate(validate::Question),
}

fn main() -> ExitCode {
    let outcome = match Task::parse() {
        Task::Setup => setup::run().map(|()| true),
        Task::Test(options) => test::run(&options),
        Task::Tidy => tidy::run(),
        Task::Docs => docs::run(),
        Task::Dist(options) => dist::run(&options),
        Task::Parity(options) => parity::run(&options),
        Task::SelfTimed(options) => parity::self_timed::run(&options),
        Task::Validate(question) => validate::run(&question),
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
