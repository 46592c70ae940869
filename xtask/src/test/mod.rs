//! `cargo xtask test`: everything that must hold before a change goes in.

mod counts;
mod steps;

use std::io::BufReader;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use self::counts::{Counts, pass_on};
use self::steps::{STEPS, Step, Work};
use crate::command::succeed;
use crate::{setup, tidy};

/// Runs all steps up to the first that fails; whether none did. What was counted comes last, on a line
/// of its own.
pub(crate) fn run() -> Result<bool> {
    let start = Instant::now();
    let mut counts = None;
    let outcome = STEPS.iter().try_for_each(|step| run_step(step, &mut counts).map_err(|error| (step, error)));
    match &outcome {
        Ok(()) => println!("\n== all {} steps passed, {:.1} s", STEPS.len(), start.elapsed().as_secs_f64()),
        Err((step, error)) => {
            println!("\n== {} FAILED: {error:#}", step.name);
            println!("== to repeat it: {}", step.work);
        }
    }
    if let Some(counts) = counts {
        println!("{counts}");
    }
    Ok(outcome.is_ok())
}

fn run_step(step: &Step, counts: &mut Option<Counts>) -> Result<()> {
    println!("\n== {}: {}", step.name, step.work);
    let start = Instant::now();
    match &step.work {
        Work::Setup => setup::run()?,
        Work::Tidy if !tidy::run()? => bail!("the findings are above"),
        Work::Tidy => {}
        Work::Tests => run_tests(counts)?,
        work @ Work::Cargo { .. } => succeed(&mut work.command())?,
    }
    println!("== {}: passed, {:.1} s", step.name, start.elapsed().as_secs_f64());
    Ok(())
}

/// Passes the tests' output on, line by line, and counts along.
fn run_tests(counts: &mut Option<Counts>) -> Result<()> {
    let mut command = Work::Tests.command();
    let mut child = command.stdout(Stdio::piped()).spawn().context("starting cargo test")?;
    let stdout = child.stdout.take().context("cargo test without output")?;
    *counts = pass_on(BufReader::new(stdout), &mut std::io::stdout())?;
    let status = child.wait()?;
    if status.success() {
        return Ok(());
    }
    // A test program that died has no line of its own; it is a failure all the same.
    if let Some(counts) = counts {
        counts.failed = counts.failed.max(1);
    }
    bail!("cargo test ended with {status}");
}
