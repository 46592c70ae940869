use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use writebench_testkit::command::root;

use super::counts::{Counts, pass_on};
use super::watch::{Mark, Watch};
use crate::need::is_met;

/// `steps.toml` explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    /// The limit, in minutes, of steps that have none of their own.
    minutes: Option<u64>,
    step: Vec<Step>,
    #[serde(default)]
    words: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) run: String,
    #[serde(default)]
    pub(super) tests: bool,
    #[serde(default)]
    pub(super) needs: Vec<String>,
    #[serde(default)]
    pub(super) after: Vec<String>,
    #[serde(default)]
    pub(super) beside: bool,
    pub(super) minutes: Option<u64>,
}

pub(super) fn declared<const N: usize>(
    text: &str,
    more_words: [(&str, String); N],
) -> Result<Vec<Step>> {
    let Steps {
        minutes,
        mut step,
        mut words,
    } = toml::from_str(text).context("the declaration of steps")?;
    words.extend(more_words.map(|(name, word)| (name.to_owned(), word)));
    for text in step
        .iter_mut()
        .flat_map(|step| std::iter::once(&mut step.run).chain(&mut step.needs))
    {
        *text = words.iter().fold(text.clone(), |text, (name, word)| {
            text.replace(&format!("{{{name}}}"), word)
        });
    }
    for step in &mut step {
        step.minutes = step.minutes.or(minutes);
    }
    Ok(step)
}

pub(super) struct Record {
    pub(super) step: String,
    pub(super) ending: Ending,
    pub(super) counts: Counts,
    took: Duration,
}

impl Record {
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.ending, Ending::Failed(_))
    }
}

#[derive(Debug, PartialEq)]
pub(super) enum Ending {
    Passed,
    /// The text is the reason, with the names of failed tests.
    Failed(String),
    Skipped(String),
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, reason) = match &self.ending {
            Ending::Passed => ("passed", ""),
            Ending::Failed(_) => ("FAILED", ""),
            Ending::Skipped(why) => ("skipped", why.as_str()),
        };
        let line = format!(
            "{word:7}  {:20} {:7.1} s  {reason}",
            self.step,
            self.took.as_secs_f64()
        );
        f.write_str(line.trim_end())
    }
}

impl Step {
    /// `failed` names a step in `after` that has failed.
    pub(super) fn carry_out(&self, failed: Option<&str>, output: &mut impl Write) -> Record {
        let start = Instant::now();
        let mut counts = Counts::default();
        let why = failed.map(|step| format!("{step} failed"));
        let ending = match why.or_else(|| self.needs.iter().find_map(|need| missing(need))) {
            Some(why) => {
                counts.skipped = 1;
                Ending::Skipped(why)
            }
            None => match self.succeed(&mut counts, output) {
                Ok(()) => Ending::Passed,
                Err(error) => {
                    // A test program that died prints no counts.
                    counts.failed = counts.failed.max(1);
                    let why = format!("{error:#}");
                    let _ = writeln!(
                        output,
                        "\n== {} FAILED: {why}\n== to repeat it: {}",
                        self.name, self.run
                    );
                    Ending::Failed(why)
                }
            },
        };
        Record {
            step: self.name.clone(),
            ending,
            counts,
            took: start.elapsed(),
        }
    }

    fn succeed(&self, counts: &mut Counts, output: &mut impl Write) -> Result<()> {
        let mut command = Command::new("nice");
        // The output of a step in another lane is printed in one piece, with its errors where they belong.
        let (niceness, start) = if self.beside {
            ("19", "exec 2>&1\n")
        } else {
            ("0", "")
        };
        command
            .args(["-n", niceness, "sh", "-c", &format!("{start}{}", self.run)])
            .current_dir(root());
        let mark = Mark::of(&self.name);
        let mut child = mark
            .put_on(&mut command)
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a shell")?;
        let stdout = child.stdout.take().context("a step without output")?;
        let limit = self
            .minutes
            .map(|minutes| Duration::from_secs(minutes * 60));
        let watch = Watch::start(mark, limit);
        let failures = pass_on(BufReader::new(stdout), output, self.tests, counts)?;
        let status = child.wait()?;
        if let Some(left) = watch.end() {
            bail!(
                "it did not end within {} minutes, and was killed. {left}\n{failures}",
                self.minutes.unwrap_or_default()
            );
        }
        ensure!(
            status.success(),
            "{}",
            format!("it ended with {status}\n{failures}").trim_end()
        );
        ensure!(counts.failed == 0, "it ended as if no test had failed");
        // A filter for a renamed module finds no test.
        ensure!(
            !self.tests || *counts != Counts::default(),
            "no test was run"
        );
        Ok(())
    }
}

/// Returns the missing requirement with its remedy.
fn missing(need: &str) -> Option<String> {
    let remedy = match need {
        "cargo-deny" => "`cargo install --locked cargo-deny` builds it in minutes",
        _ if need.contains('/') => "the steps before this one make it",
        _ => "`cargo xtask setup` installs it",
    };
    (!is_met(need)).then(|| format!("{need} is missing: {remedy}"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::test) fn step(name: &str, run: &str) -> Step {
        Step {
            name: name.to_owned(),
            run: run.to_owned(),
            ..Step::default()
        }
    }

    fn tests(run: &str) -> Step {
        Step {
            tests: true,
            ..step("a", run)
        }
    }

    fn ended(step: &Step) -> (String, String) {
        let Record { ending, counts, .. } = step.carry_out(None, &mut Vec::new());
        let why = match ending {
            Ending::Passed => String::new(),
            Ending::Failed(why) | Ending::Skipped(why) => why,
        };
        (why, counts.to_string())
    }

    #[test]
    fn tests_that_fail_are_counted_and_fail_the_step() {
        let script = "echo 'test result: FAILED. 3 passed; 1 failed; 0 ignored'; exit ";
        let (why, counts) = ended(&tests(&format!("{script} 101")));
        assert_eq!(
            (why.as_str(), counts.as_str()),
            (
                "it ended with exit status: 101",
                "3 passed, 1 failed, 0 skipped"
            )
        );
        assert_eq!(
            ended(&tests(&format!("{script} 0"))).0,
            "it ended as if no test had failed"
        );
    }

    #[test]
    fn a_command_that_runs_no_tests_has_not_passed() {
        for script in [
            "true",
            "echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 7 filtered out'",
        ] {
            assert_eq!(
                ended(&tests(script)),
                (
                    "no test was run".to_owned(),
                    "0 passed, 1 failed, 0 skipped".to_owned()
                )
            );
        }
    }

    #[test]
    fn a_step_that_hangs_is_killed_and_fails() {
        let hanging = Step {
            minutes: Some(0),
            ..step("hangs at once", "echo begun; sleep 6003")
        };
        let (why, counts) = ended(&hanging);
        let start = "it did not end within 0 minutes, and was killed. These processes still ran:\n";
        assert!(why.starts_with(start), "{why}");
        assert_eq!(counts, "0 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn a_failed_step_without_tests_counts_as_a_failure() {
        for program in ["false", "no-such-program-here 2>/dev/null"] {
            assert_eq!(
                ended(&step("a", program)).1,
                "0 passed, 1 failed, 0 skipped"
            );
        }
    }

    #[test]
    fn a_step_without_its_requirements_is_skipped_with_the_remedy() {
        let needing = |need: &str| Step {
            needs: vec!["sh".to_owned(), need.to_owned()],
            ..step("a", "false")
        };
        for (need, remedy) in [
            (
                "no-such-program-here",
                "no-such-program-here is missing: `cargo xtask setup` installs it",
            ),
            (
                "rust:sparc64-unknown-openbsd",
                "rust:sparc64-unknown-openbsd is missing: `cargo xtask setup` installs it",
            ),
            (
                "no/such/file",
                "no/such/file is missing: the steps before this one make it",
            ),
        ] {
            assert_eq!(
                ended(&needing(need)),
                (
                    remedy.to_owned(),
                    "0 passed, 0 failed, 1 skipped".to_owned()
                )
            );
        }
        assert_eq!(
            ended(&Step {
                run: "true".to_owned(),
                ..needing("/proc/self/status")
            })
            .0,
            ""
        );
    }

    #[test]
    fn a_step_beside_others_prints_its_output_at_once() {
        let step = Step {
            beside: true,
            ..step("a", "echo one; echo two >&2")
        };
        let mut output = Vec::new();
        assert_eq!(step.carry_out(None, &mut output).ending, Ending::Passed);
        assert_eq!(output, b"one\ntwo\n");
    }
}
