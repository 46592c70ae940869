//! One step of the check.

use std::io::{BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::counts::{Counts, ReadResult, pass_on};
use super::need::Need;
use crate::command::root;

#[derive(Clone)]
pub(super) struct Step {
    /// The name on the command line.
    pub(super) name: &'static str,
    /// The requirements; the step is skipped if one is missing.
    pub(super) needs: Vec<Need>,
    /// The command for a shell in the root of the repository.
    pub(super) command: String,
    /// Reads the test results, if the step runs tests.
    pub(super) read: Option<ReadResult>,
    /// A command that is always run afterwards, to end leftover processes.
    pub(super) after: Option<String>,
    /// Whether the step runs beside the others, when they leave the CPUs free: it builds in a
    /// folder of its own and measures nothing.
    pub(super) is_beside: bool,
}

impl Step {
    /// A step that needs only cargo.
    pub(super) fn new(name: &'static str, command: impl Into<String>) -> Self {
        Self { name, needs: Vec::new(), command: command.into(), read: None, after: None, is_beside: false }
    }

    pub(super) fn tests(name: &'static str, command: impl Into<String>, read: ReadResult) -> Self {
        Self { read: Some(read), ..Self::new(name, command) }
    }

    pub(super) fn needing(self, needs: impl Into<Vec<Need>>) -> Self {
        Self { needs: needs.into(), ..self }
    }

    pub(super) fn beside(self) -> Self {
        Self { is_beside: true, ..self }
    }

    /// The first missing requirement, if any.
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

    /// The steps that must have ended before this one.
    pub(super) fn earlier(&self) -> impl Iterator<Item = &'static str> {
        let ended = self.needs.iter().filter_map(|need| match need {
            Need::Ended(step) => Some(*step),
            _ => None,
        });
        self.makers().chain(ended)
    }

    /// Runs the step. Adds to the counts, even if it fails.
    pub(super) fn run(&self, counts: &mut Counts, output: &mut impl Write) -> Result<()> {
        let outcome = match self.read {
            Some(read) => self.count(read, counts, output),
            None => self.pass(output),
        };
        if let Some(after) = &self.after {
            // The command fails if nothing was left, and its output is not needed.
            let _ = shell(after).output();
        }
        outcome
    }

    /// Copies the output, of which a step beside others must print all at once.
    fn pass(&self, output: &mut impl Write) -> Result<()> {
        let mut command = self.shell();
        let status = if self.is_beside {
            let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start a shell")?;
            std::io::copy(&mut child.stdout.take().context("a step without output")?, output)?;
            child.wait()
        } else {
            command.status()
        };
        let status = status.context("cannot start a shell")?;
        ensure!(status.success(), "it ended with {status}");
        Ok(())
    }

    fn shell(&self) -> Command {
        if !self.is_beside {
            return shell(&self.command);
        }
        let mut command = Command::new("nice");
        command.args(["-n", "19", "sh", "-c", &format!("exec 2>&1\n{}", self.command)]).current_dir(root());
        command
    }

    /// Copies the output of tests line by line, and counts the results.
    fn count(&self, read: ReadResult, counts: &mut Counts, output: &mut impl Write) -> Result<()> {
        let child = self.shell().stdout(Stdio::piped()).spawn();
        let mut child = child.context("cannot start a shell")?;
        let stdout = child.stdout.take().context("tests without output")?;
        let (found, failures) = pass_on(BufReader::new(stdout), output, read)?;
        counts.add(found);
        let status = child.wait()?;
        ensure!(status.success(), "the tests ended with {status}\n{failures}");
        ensure!(found.failed == 0, "the tests ended as if none of them had failed");
        // This detects a filter for a module that was renamed.
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

    /// Runs tests with these results, keeping them out of this program's own output.
    fn run(step: &Step) -> (Result<(), String>, Counts) {
        let mut counts = Counts { passed: 1, failed: 0, skipped: 2 };
        let outcome = step.run(&mut counts, &mut Vec::new());
        (outcome.map_err(|error| error.to_string()), counts)
    }

    #[test]
    fn tests_that_fail_are_counted_and_fail_the_step() {
        let script = "echo 'test result: FAILED. 3 passed; 1 failed; 0 ignored'; exit ";
        let (outcome, counts) = run(&tests(&format!("{script} 101")));
        assert_eq!(outcome.unwrap_err(), "the tests ended with exit status: 101\n");
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
    fn a_step_beside_others_has_all_of_its_output_in_one_place() {
        let step = Step::new("a", "echo one; echo two >&2").beside();
        let mut output = Vec::new();
        step.run(&mut Counts::default(), &mut output).unwrap();
        assert_eq!(output, b"one\ntwo\n");
    }

    #[test]
    fn preparation_must_succeed_and_cleanup_is_always_run() {
        let folder = tempfile::tempdir().unwrap();
        let mark = |name: &str| format!("touch {}", folder.path().join(name).display());
        let step = Step { after: Some(mark("after")), ..tests(&format!("exit 1 && {}", mark("tests"))) };
        assert!(run(&step).0.is_err());
        assert!(!folder.path().join("tests").exists());
        assert!(folder.path().join("after").exists());
    }
}
