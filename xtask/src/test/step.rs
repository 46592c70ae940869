//! One part of the whole check, and how it is run.

use std::io::{BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::counts::{Counts, ReadResult, pass_on};
use super::need::Need;
use crate::command::root;

/// One part of the whole check.
#[derive(Clone)]
pub(super) struct Step {
    /// What `cargo xtask test` takes.
    pub(super) name: &'static str,
    /// Where one of these is missing, it is skipped.
    pub(super) needs: Vec<Need>,
    /// For a shell in the root of the repository, as a person would type it.
    pub(super) command: String,
    /// How its tests say what came of them, if it runs some.
    pub(super) read: Option<ReadResult>,
    /// What is done after, whatever came of it: it ends what tests may have left running.
    pub(super) after: Option<String>,
}

impl Step {
    /// A step that needs nothing but cargo.
    pub(super) fn new(name: &'static str, command: impl Into<String>) -> Self {
        Self { name, needs: Vec::new(), command: command.into(), read: None, after: None }
    }

    pub(super) fn tests(name: &'static str, command: impl Into<String>, read: ReadResult) -> Self {
        Self { read: Some(read), ..Self::new(name, command) }
    }

    pub(super) fn needing(self, needs: impl Into<Vec<Need>>) -> Self {
        Self { needs: needs.into(), ..self }
    }

    /// Why it cannot be run here; none if it can.
    pub(super) fn missing(&self) -> Option<String> {
        self.needs.iter().find_map(Need::missing)
    }

    /// The steps that make files which this one needs.
    pub(super) fn makers(&self) -> impl Iterator<Item = &'static str> {
        self.needs.iter().filter_map(|need| match need {
            Need::File { made_by, .. } => Some(*made_by),
            _ => None,
        })
    }

    /// Does it. Adds to the counts, also where it fails.
    pub(super) fn run(&self, counts: &mut Counts, output: &mut impl Write) -> Result<()> {
        let outcome = match self.read {
            Some(read) => self.count(read, counts, output),
            None => shell(&self.command).status().context("cannot start a shell").and_then(|status| {
                ensure!(status.success(), "it ended with {status}");
                Ok(())
            }),
        };
        if let Some(after) = &self.after {
            // It fails where nothing was left, and has nothing to say otherwise.
            let _ = shell(after).output();
        }
        outcome
    }

    /// Passes what tests say on, line by line, and counts along.
    fn count(&self, read: ReadResult, counts: &mut Counts, output: &mut impl Write) -> Result<()> {
        let child = shell(&self.command).stdout(Stdio::piped()).spawn();
        let mut child = child.context("cannot start a shell")?;
        let stdout = child.stdout.take().context("tests without output")?;
        let found = pass_on(BufReader::new(stdout), output, read)?;
        counts.add(found);
        let status = child.wait()?;
        ensure!(status.success(), "the tests ended with {status}");
        ensure!(found.failed == 0, "the tests ended as if none of them had failed");
        // Such as those of a module that has another name now.
        ensure!(found != Counts::default(), "no test was run");
        Ok(())
    }
}

fn shell(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text]).current_dir(root());
    command
}

#[cfg(test)]
mod tests {
    use super::super::counts::libtest;
    use super::*;

    fn tests(script: &str) -> Step {
        Step::tests("a", script, libtest)
    }

    /// Runs tests that come to such results, which must not be taken for those of this program.
    fn run(step: &Step) -> (Result<(), String>, Counts) {
        let mut counts = Counts { passed: 1, failed: 0, skipped: 2 };
        let outcome = step.run(&mut counts, &mut Vec::new());
        (outcome.map_err(|error| error.to_string()), counts)
    }

    #[test]
    fn tests_that_fail_are_counted_and_fail_the_step() {
        let script = "echo 'test result: FAILED. 3 passed; 1 failed; 0 ignored'; exit ";
        let (outcome, counts) = run(&tests(&format!("{script} 101")));
        assert_eq!(outcome.unwrap_err(), "the tests ended with exit status: 101");
        assert_eq!(counts, Counts { passed: 4, failed: 1, skipped: 2 });
        let (outcome, _) = run(&tests(&format!("{script} 0")));
        assert_eq!(outcome.unwrap_err(), "the tests ended as if none of them had failed");
    }

    #[test]
    fn a_command_that_runs_no_tests_has_not_passed() {
        for script in ["true", "echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 7 filtered out'"] {
            let (outcome, _) = run(&tests(script));
            assert_eq!(outcome.unwrap_err(), "no test was run");
        }
    }

    #[test]
    fn what_comes_before_must_succeed_and_what_comes_after_is_always_done() {
        let folder = tempfile::tempdir().unwrap();
        let mark = |name: &str| format!("touch {}", folder.path().join(name).display());
        let step = Step { after: Some(mark("after")), ..tests(&format!("exit 1 && {}", mark("tests"))) };
        assert!(run(&step).0.is_err());
        assert!(!folder.path().join("tests").exists());
        assert!(folder.path().join("after").exists());
    }
}
