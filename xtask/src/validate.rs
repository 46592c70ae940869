//! `cargo xtask validate`: whether what writebench says can be relied on.

mod advice;
mod export;
mod noise;
mod order;
mod ranking;
mod soak;

use anyhow::Result;

/// What is looked into.
#[derive(clap::Subcommand)]
pub(crate) enum Question {
    /// How often does `compare` tell a build from itself, and from one that is 5 % slower?
    Noise(noise::Options),
    /// Does a second run rank the ways of copying as the first did?
    Ranking(ranking::Options),
    /// Does a search find what measuring every candidate finds?
    Advise(advice::Options),
    /// Is anything left behind, or anything wrong, after minutes of all that it does and all that goes wrong?
    Soak(soak::Options),
}

/// Looks into it; whether there is an answer.
pub(crate) fn run(question: &Question) -> Result<bool> {
    match question {
        Question::Noise(options) => noise::run(options),
        Question::Ranking(options) => ranking::run(options),
        Question::Advise(options) => advice::run(options),
        Question::Soak(options) => soak::run(options),
    }
}
