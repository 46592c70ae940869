//! `cargo xtask test`: everything that must hold before a change goes in.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::command::{cargo, shown, succeed};
use crate::{setup, tidy};

/// One part of the whole check.
struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    Setup,
    Tidy,
    Cargo { arguments: &'static [&'static str], variables: &'static [(&'static str, &'static str)] },
    Tests,
}

const DENY_WARNINGS: &[(&str, &str)] = &[("RUSTDOCFLAGS", "-D warnings")];

const TESTS: &[&str] = &["test", "--workspace", "--locked", "--no-fail-fast"];

/// From the quickest to the slowest, as far as they do not build on each other.
const STEPS: &[Step] = &[
    Step { name: "setup", work: Work::Setup },
    Step { name: "format", work: Work::Cargo { arguments: &["fmt", "--all", "--check"], variables: &[] } },
    Step {
        name: "lints",
        work: Work::Cargo {
            arguments: &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
            variables: &[],
        },
    },
    Step { name: "tidy", work: Work::Tidy },
    Step {
        name: "documentation",
        work: Work::Cargo {
            arguments: &["doc", "--workspace", "--no-deps", "--locked"],
            variables: DENY_WARNINGS,
        },
    },
    Step { name: "tests", work: Work::Tests },
    Step {
        name: "release build",
        work: Work::Cargo { arguments: &["build", "--release", "--locked"], variables: &[] },
    },
];

/// What the test programs said of themselves, added up.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

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

impl Work {
    fn command(&self) -> Command {
        let mut command = cargo();
        match self {
            Self::Setup => command.args(["xtask", "setup"]),
            Self::Tidy => command.args(["xtask", "tidy"]),
            Self::Tests => command.args(TESTS),
            Self::Cargo { arguments, variables } => command.args(*arguments).envs(variables.iter().copied()),
        };
        command
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.command()))
    }
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

/// Copies all lines and adds up those with results; none if there was no such line.
fn pass_on(mut from: impl BufRead, to: &mut impl Write) -> Result<Option<Counts>> {
    let mut counts = None;
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        if let Some(result) = result_of(&String::from_utf8_lossy(&line)) {
            counts.get_or_insert_with(Counts::default).add(result);
        }
        line.clear();
    }
    Ok(counts)
}

/// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn result_of(line: &str) -> Option<Counts> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| {
        let part = rest.split(';').map(str::trim).find_map(|part| part.strip_suffix(word))?;
        part.trim_end().parse().ok()
    };
    Some(Counts { passed: count("passed")?, failed: count("failed")?, skipped: count("ignored")? })
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &[u8] = b"running 2 tests\ntest a ... ok\n\
        test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
        \xff not text\n\
        test result: FAILED. 10 passed; 3 failed; 4 ignored; 0 measured; 0 filtered out\nend";

    #[test]
    fn results_add_up_and_the_output_passes_unchanged() {
        let mut copy = Vec::new();
        let counts = pass_on(OUTPUT, &mut copy).unwrap().unwrap();
        assert_eq!(counts.to_string(), "12 passed, 3 failed, 5 skipped");
        assert_eq!(copy, OUTPUT);
    }

    #[test]
    fn without_a_result_nothing_is_counted() {
        assert_eq!(pass_on(&b"error: could not compile\n"[..], &mut Vec::new()).unwrap(), None);
        assert_eq!(result_of("  test result: ok. 2 passed; 0 failed; 1 ignored"), None);
    }

    #[test]
    fn every_step_can_be_repeated_by_hand() {
        for step in STEPS {
            assert!(step.work.to_string().starts_with("cargo ") || step.name == "documentation");
        }
    }
}
