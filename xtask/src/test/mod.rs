//! `cargo xtask test`: the complete check of a change.

mod counts;
mod need;
mod platform;
mod step;
mod steps;

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;

use self::counts::Counts;
use self::step::Step;
use self::steps::steps;
use crate::command::target_directory;

#[derive(Args)]
pub(crate) struct Options {
    /// Run only these steps [default: all]
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    /// List the steps and their commands
    #[arg(long)]
    list: bool,
}

/// The lines of a step's failures that are repeated at the end of the run.
const REPEATED_LINES: usize = 60;

/// Runs all steps, also after one has failed; whether none has. The failures are repeated at the end, so that a log
/// of which only the end is kept has them. The counts come last, on a line of their own.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let steps = chosen(steps(&target_directory()?), &options.steps)?;
    if options.list {
        for step in &steps {
            println!("{}: {}", step.name, step.command);
        }
        return Ok(true);
    }
    let (records, counts) = run_all(&steps);
    println!();
    for record in &records {
        println!("== {record}");
    }
    let failures = records.iter().filter_map(Record::failure);
    let mut has_failed = false;
    for (step, why) in failures {
        has_failed = true;
        println!("\n== {step} FAILED: {}", end_of(why, REPEATED_LINES));
    }
    println!("{counts}");
    Ok(!has_failed)
}

/// The last lines of a text.
fn end_of(text: &str, lines: usize) -> &str {
    let start = text.rmatch_indices('\n').nth(lines).map_or(0, |(at, _)| at + 1);
    &text[start..]
}

#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Passed,
    /// With the reason, and the tests that failed.
    Failed(String),
    /// With the reason.
    Skipped(String),
}

struct Record {
    step: &'static str,
    ending: Ending,
    took: Duration,
}

impl Record {
    fn failure(&self) -> Option<(&'static str, &str)> {
        match &self.ending {
            Ending::Failed(why) => Some((self.step, why)),
            Ending::Passed | Ending::Skipped(_) => None,
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, reason) = match &self.ending {
            Ending::Passed => ("passed", String::new()),
            Ending::Failed(_) => ("FAILED", String::new()),
            Ending::Skipped(why) => ("skipped", format!("  {why}")),
        };
        write!(f, "{word:7}  {:20} {:7.1} s{reason}", self.step, self.took.as_secs_f64())
    }
}

fn run_all(steps: &[Step]) -> (Vec<Record>, Counts) {
    let mut counts = Counts::default();
    let mut records: Vec<Record> = Vec::new();
    for step in steps {
        println!("\n== {}: {}", step.name, step.command);
        let start = Instant::now();
        let failed =
            |name: &str| records.iter().any(|record| record.step == name && record.failure().is_some());
        let ending = run_step(step, failed, &mut counts);
        let record = Record { step: step.name, ending, took: start.elapsed() };
        println!("== {record}");
        records.push(record);
    }
    (records, counts)
}

/// The steps with these names, in their own order; all if there are no names.
fn chosen(mut steps: Vec<Step>, names: &[String]) -> Result<Vec<Step>> {
    if let Some(unknown) = names.iter().find(|name| steps.iter().all(|step| step.name != **name)) {
        let known: Vec<_> = steps.iter().map(|step| step.name).collect();
        bail!("there is no step '{unknown}'; there are {}", known.join(", "));
    }
    steps.retain(|step| names.is_empty() || names.iter().any(|name| name == step.name));
    Ok(steps)
}

/// Runs a step, unless a requirement is missing. A file of a failed step may be outdated.
fn run_step(step: &Step, has_failed: impl Fn(&str) -> bool, counts: &mut Counts) -> Ending {
    let maker = step.makers().find(|maker| has_failed(maker));
    if let Some(why) = maker.map(|maker| format!("{maker} failed")).or_else(|| step.missing()) {
        counts.skipped += 1;
        return Ending::Skipped(why);
    }
    let mut found = Counts::default();
    let outcome = step.run(&mut found, &mut std::io::stdout());
    if outcome.is_err() {
        // A step without tests, or a test program that died, prints no count; it is a failure all the same.
        found.failed = found.failed.max(1);
    }
    counts.add(found);
    match outcome {
        Ok(()) => Ending::Passed,
        Err(error) => {
            let why = format!("{error:#}");
            println!("\n== {} FAILED: {why}", step.name);
            println!("== to repeat it: {}", step.command);
            Ending::Failed(why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::need::Need;
    use super::*;

    #[test]
    fn a_step_without_its_requirements_is_skipped_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let mut step = Step::new("a", format!("touch {}", mark.display()));
        let mut counts = Counts::default();

        step.needs = vec![Need::Program("sh"), Need::Program("no-such-program-here")];
        let Ending::Skipped(why) = run_step(&step, |_| false, &mut counts) else { panic!("not skipped") };
        assert!(why.starts_with("no-such-program-here is not installed"), "{why}");
        assert!(!mark.exists(), "it was run all the same");
        assert_eq!(counts.to_string(), "0 passed, 0 failed, 1 skipped");

        step.needs.truncate(1);
        assert_eq!(run_step(&step, |_| false, &mut counts), Ending::Passed);
        assert!(mark.exists());
        assert_eq!(counts.to_string(), "0 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn a_step_that_fails_is_a_failure_also_where_no_test_did() {
        for program in ["false", "no-such-program-here"] {
            let mut counts = Counts::default();
            let ending = run_step(&Step::new("a", program), |_| false, &mut counts);
            assert!(matches!(ending, Ending::Failed(_)), "{ending:?}");
            assert_eq!(counts.to_string(), "0 passed, 1 failed, 0 skipped");
        }
    }

    #[test]
    fn a_failed_step_stops_only_the_steps_that_use_its_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let uses = |made_by| Need::File { path: file.path().to_owned(), made_by };
        let steps = [
            Step::new("a", "false"),
            Step::new("b", "true"),
            Step::new("c", "true").needing([uses("a")]),
            Step::new("d", "true").needing([uses("b")]),
        ];
        let (records, counts) = run_all(&steps);
        let lines: Vec<_> = records.iter().map(Record::to_string).collect();
        for (line, start) in lines.iter().zip(["FAILED   a ", "passed   b ", "skipped  c ", "passed   d "]) {
            assert!(line.starts_with(start), "{lines:?}");
        }
        assert!(lines[2].ends_with(" s  a failed"), "{lines:?}");
        assert_eq!(counts.to_string(), "0 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn the_tests_that_failed_are_known_at_the_end() {
        let result = "test result: FAILED. 0 passed; 1 failed; 0 ignored";
        let script = format!("printf 'failures:\\n    fs: a claim\\n'; echo '{result}'; exit 101");
        let step = Step::tests("a", script, super::counts::libtest);
        // Its output would be counted among the results of these tests.
        let why = step.run(&mut Counts::default(), &mut Vec::new()).unwrap_err().to_string();
        assert!(why.ends_with("exit status: 101\n    fs: a claim\n"), "{why}");
        assert_eq!(end_of(&why, 1), "    fs: a claim\n");
        assert_eq!(end_of(&why, 9), why);
    }

    #[test]
    fn steps_are_chosen_by_name_and_keep_their_order() {
        let steps = || ["a", "b", "c"].map(|name| Step::new(name, "true")).to_vec();
        let names = |wanted: &[&str]| {
            let wanted: Vec<_> = wanted.iter().map(|&name| name.to_owned()).collect();
            chosen(steps(), &wanted).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), ["a", "b", "c"]);
        assert_eq!(names(&["c", "a"]).unwrap(), ["a", "c"]);
        let error = names(&["a", "d"]).unwrap_err().to_string();
        assert_eq!(error, "there is no step 'd'; there are a, b, c");
    }
}
