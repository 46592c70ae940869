//! `cargo xtask test`: everything that must hold before a change goes in.

mod counts;
mod need;
mod platform;
mod step;
mod steps;

use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use self::counts::Counts;
use self::step::Step;
use self::steps::steps;
use crate::command::target_directory;

#[derive(Args)]
pub(crate) struct Options {
    /// Only these steps; all without.
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    /// Say which steps there are, and what they run.
    #[arg(long)]
    list: bool,
}

/// Runs the steps up to the first that fails; whether none did. What was counted comes last, on a line
/// of its own.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let steps = chosen(steps(&target_directory()?), &options.steps)?;
    if options.list {
        for step in &steps {
            println!("{}: {}", step.name, step.command);
        }
        return Ok(true);
    }
    let start = Instant::now();
    let mut counts = Counts::default();
    let mut skipped = Vec::new();
    let mut passed = 0;
    let mut has_failed = false;
    for step in steps {
        println!("\n== {}: {}", step.name, step.command);
        match run_step(&step, &mut counts) {
            Ok(None) => passed += 1,
            Ok(Some(why)) => skipped.push(format!("{} was skipped: {why}", step.name)),
            Err(error) => {
                println!("\n== {} FAILED: {error:#}", step.name);
                println!("== to repeat it: {}", step.command);
                has_failed = true;
                break;
            }
        }
    }
    println!("\n== steps passed: {passed}, {:.1} s", start.elapsed().as_secs_f64());
    for line in skipped {
        println!("== {line}");
    }
    println!("{counts}");
    Ok(!has_failed)
}

/// The steps of these names, in their own order; all if there are no names.
fn chosen(mut steps: Vec<Step>, names: &[String]) -> Result<Vec<Step>> {
    if let Some(unknown) = names.iter().find(|name| steps.iter().all(|step| step.name != **name)) {
        let known: Vec<_> = steps.iter().map(|step| step.name).collect();
        bail!("there is no step '{unknown}'; there are {}", known.join(", "));
    }
    steps.retain(|step| names.is_empty() || names.iter().any(|name| name == step.name));
    Ok(steps)
}

/// Why it was skipped; none if it has passed.
fn run_step(step: &Step, counts: &mut Counts) -> Result<Option<String>> {
    if let Some(why) = step.missing() {
        println!("== {}: skipped: {why}", step.name);
        counts.skipped += 1;
        return Ok(Some(why));
    }
    let start = Instant::now();
    let mut found = Counts::default();
    let outcome = step.run(&mut found, &mut std::io::stdout());
    if outcome.is_err() {
        // What is no test, and a test program that died, has no line of its own; it is a failure all the same.
        found.failed = found.failed.max(1);
    }
    counts.add(found);
    outcome?;
    println!("== {}: passed, {:.1} s", step.name, start.elapsed().as_secs_f64());
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::need::Need;
    use super::*;

    #[test]
    fn a_step_that_lacks_something_is_skipped_with_a_message_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let mut step = Step::new("a", format!("touch {}", mark.display()));
        let mut counts = Counts::default();

        step.needs = vec![Need::Program("sh"), Need::Program("no-such-program-here")];
        let Ok(Some(why)) = run_step(&step, &mut counts) else { panic!("not skipped") };
        assert!(why.starts_with("no-such-program-here is not installed"), "{why}");
        assert!(!mark.exists(), "it was run all the same");
        assert_eq!(counts.to_string(), "0 passed, 0 failed, 1 skipped");

        step.needs.truncate(1);
        assert!(matches!(run_step(&step, &mut counts), Ok(None)));
        assert!(mark.exists());
        assert_eq!(counts.to_string(), "0 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn a_step_that_fails_is_a_failure_also_where_no_test_did() {
        for program in ["false", "no-such-program-here"] {
            let mut counts = Counts::default();
            assert!(run_step(&Step::new("a", program), &mut counts).is_err());
            assert_eq!(counts.to_string(), "0 passed, 1 failed, 0 skipped");
        }
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
