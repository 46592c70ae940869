//! One part of the whole check, and how it is run.

use std::fmt;
use std::io::{BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::counts::{Counts, ReadResult, pass_on};
use super::need::Need;
use crate::command::{cargo, shown, succeed};
use crate::{setup, tidy};

/// One part of the whole check.
pub(super) struct Step {
    /// What `cargo xtask test` takes.
    pub(super) name: &'static str,
    /// Where one of these is missing, it is skipped.
    pub(super) needs: Vec<Need>,
    pub(super) work: Work,
}

pub(super) enum Work {
    Setup,
    Tidy,
    Command(Command),
    Tests(Tests),
}

/// A command that runs tests.
pub(super) struct Tests {
    /// What has to be done before, in this order.
    pub(super) before: Vec<Command>,
    pub(super) command: Command,
    /// How it says what came of them.
    pub(super) read: ReadResult,
    /// What is done after, whatever came of them: it ends what they may have left running.
    pub(super) after: Vec<Command>,
}

impl Step {
    /// A step that needs nothing but cargo.
    pub(super) fn new(name: &'static str, work: Work) -> Self {
        Self { name, needs: Vec::new(), work }
    }

    /// Why it cannot be run here; none if it can.
    pub(super) fn missing(&self) -> Option<String> {
        self.needs.iter().find_map(Need::missing)
    }
}

impl Work {
    /// Does it. Adds to the counts, also where it fails.
    pub(super) fn run(&mut self, counts: &mut Counts) -> Result<()> {
        match self {
            Self::Setup => setup::run(),
            Self::Tidy if !tidy::run()? => bail!("the findings are above"),
            Self::Tidy => Ok(()),
            Self::Command(command) => succeed(command),
            Self::Tests(tests) => tests.run(counts, &mut std::io::stdout()),
        }
    }
}

impl Tests {
    /// Tests that need nothing before and leave nothing running.
    pub(super) fn of(command: Command, read: ReadResult) -> Self {
        Self { before: Vec::new(), command, read, after: Vec::new() }
    }

    fn run(&mut self, counts: &mut Counts, output: &mut impl Write) -> Result<()> {
        let outcome = self.before.iter_mut().try_for_each(succeed).and_then(|()| self.count(counts, output));
        for after in &mut self.after {
            // It fails where nothing was left, and has nothing to say otherwise.
            let _ = after.output();
        }
        outcome
    }

    /// Passes what they say on, line by line, and counts along.
    fn count(&mut self, counts: &mut Counts, output: &mut impl Write) -> Result<()> {
        let child = self.command.stdout(Stdio::piped()).spawn();
        let mut child = child.with_context(|| format!("cannot start {}", shown(&self.command)))?;
        let stdout = child.stdout.take().context("tests without output")?;
        let found = pass_on(BufReader::new(stdout), output, self.read)?;
        counts.add(found);
        let status = child.wait()?;
        ensure!(status.success(), "the tests ended with {status}");
        ensure!(found.failed == 0, "the tests ended as if none of them had failed");
        // Such as those of a module that has another name now.
        ensure!(found != Counts::default(), "no test was run");
        Ok(())
    }
}

/// As a person would type it.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ours = |task| shown(cargo().args(["xtask", task]));
        match self {
            Self::Setup => f.write_str(&ours("setup")),
            Self::Tidy => f.write_str(&ours("tidy")),
            Self::Command(command) => f.write_str(&shown(command)),
            Self::Tests(tests) => {
                let commands = tests.before.iter().chain([&tests.command]);
                f.write_str(&commands.map(shown).collect::<Vec<_>>().join(" && "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::counts::libtest;
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// Runs tests that come to such results, which must not be taken for those of this program.
    fn run(tests: &mut Tests) -> (Result<(), String>, Counts) {
        let mut counts = Counts { passed: 1, failed: 0, skipped: 2 };
        let outcome = tests.run(&mut counts, &mut Vec::new());
        (outcome.map_err(|error| error.to_string()), counts)
    }

    #[test]
    fn tests_that_fail_are_counted_and_fail_the_step() {
        let script = "echo 'test result: FAILED. 3 passed; 1 failed; 0 ignored'; exit ";
        let (outcome, counts) = run(&mut Tests::of(shell(&format!("{script} 101")), libtest));
        assert_eq!(outcome.unwrap_err(), "the tests ended with exit status: 101");
        assert_eq!(counts, Counts { passed: 4, failed: 1, skipped: 2 });
        let (outcome, _) = run(&mut Tests::of(shell(&format!("{script} 0")), libtest));
        assert_eq!(outcome.unwrap_err(), "the tests ended as if none of them had failed");
    }

    #[test]
    fn a_command_that_runs_no_tests_has_not_passed() {
        for script in ["true", "echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 7 filtered out'"] {
            let (outcome, _) = run(&mut Tests::of(shell(script), libtest));
            assert_eq!(outcome.unwrap_err(), "no test was run");
        }
    }

    #[test]
    fn what_comes_before_must_succeed_and_what_comes_after_is_always_done() {
        let folder = tempfile::tempdir().unwrap();
        let mark = |name: &str| shell(&format!("touch {}", folder.path().join(name).display()));
        let mut tests = Tests::of(mark("tests"), libtest);
        tests.before = vec![shell("exit 1")];
        tests.after = vec![mark("after")];
        assert!(run(&mut tests).0.is_err());
        assert!(!folder.path().join("tests").exists());
        assert!(folder.path().join("after").exists());
    }

    #[test]
    fn all_commands_are_shown_but_the_ones_that_tidy_up() {
        let mut tests = Tests::of(shell("b"), libtest);
        tests.before = vec![shell("a")];
        tests.after = vec![shell("c")];
        assert_eq!(Work::Tests(tests).to_string(), "sh -c a && sh -c b");
    }
}
