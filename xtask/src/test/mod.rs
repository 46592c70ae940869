//! `cargo xtask test`: the complete check of a change.

mod counts;
mod lanes;
mod need;
mod platform;
mod record;
mod step;
mod steps;
mod times;

use anyhow::{Result, bail};
use clap::Args;

use self::lanes::run_all;
use self::record::Record;
use self::step::Step;
use self::steps::steps;
use self::times::Times;
use crate::command::target_directory;

#[derive(Args)]
pub(crate) struct Options {
    /// Run only these steps [default: all]
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    /// List the steps with their commands, and the seconds that they took when they last ran here
    #[arg(long)]
    list: bool,
}

/// The lines of a step's failures that are repeated at the end of the run.
const REPEATED_LINES: usize = 60;

/// Runs all steps, also after one has failed; returns whether none has. The failures are repeated
/// at the end, so that a log of which only the end is kept has them. The counts come last, on a
/// line of their own.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let steps = chosen(steps(&target_directory()?), &options.steps)?;
    if options.list {
        let times = Times::read()?;
        for step in &steps {
            println!("{:20} {:>6}  {}", step.name, times.shown(step.name), step.command);
        }
        return Ok(true);
    }
    let (records, counts) = run_all(&steps);
    Times::read()?.with(&records).write()?;
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

/// The steps with these names, in their own order; all if there are no names.
fn chosen(mut steps: Vec<Step>, names: &[String]) -> Result<Vec<Step>> {
    if let Some(unknown) = names.iter().find(|name| steps.iter().all(|step| step.name != **name)) {
        let known: Vec<_> = steps.iter().map(|step| step.name).collect();
        bail!("there is no step '{unknown}'; there are {}", known.join(", "));
    }
    steps.retain(|step| names.is_empty() || names.iter().any(|name| name == step.name));
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::counts::Counts;
    use super::*;

    #[test]
    fn the_tests_that_failed_are_known_at_the_end() {
        let result = "test result: FAILED. 0 passed; 1 failed; 0 ignored";
        let script = format!("printf 'failures:\\n    fs: a claim\\n'; echo '{result}'; exit 101");
        let step = Step::tests("a", script, super::counts::libtest);
        // The output of the step would be counted among the results of these tests.
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
