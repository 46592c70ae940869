mod counts;
mod step;
mod watch;

use std::io::Write;
use std::sync::{Condvar, Mutex, PoisonError};

use anyhow::{Result, bail};
use clap::Args;
use writebench_testkit::command::target_directory;

use self::counts::Counts;
use self::step::{Ending, Record, Step, declared};
use crate::need::is_met;
use crate::setup;

#[derive(Args)]
pub(crate) struct Options {
    /// Run only these steps [default: all]
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    /// List the steps with their commands
    #[arg(long)]
    list: bool,
    /// Run the weekly steps instead: the soak, fuzz targets, Miri, and the measurements that judge answers
    #[arg(long)]
    long: bool,
    /// Minutes of the soak. Each fuzz target runs for half of them
    #[arg(long, default_value_t = 20, requires = "long")]
    minutes: u32,
}

const REPEATED_LINES: usize = 60;

/// The counts are the last line.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let steps = if options.long {
        long_steps(options.minutes)?
    } else {
        steps()?
    };
    let steps = chosen(steps, &options.steps)?;
    if options.list {
        for step in &steps {
            println!("{:20} {}", step.name, step.run);
        }
        return Ok(true);
    }
    let records = run_all(&steps);
    if let (true, Some(lacking)) = (
        records.iter().any(|record| record.step == "setup"),
        setup::lacking(is_met)?,
    ) {
        println!("== setup: {lacking}");
    }
    let mut counts = Counts::default();
    records.iter().for_each(|record| counts.add(record.counts));
    println!("{counts}");
    Ok(!records.iter().any(Record::has_failed))
}

fn steps() -> Result<Vec<Step>> {
    declared(
        include_str!("steps.toml"),
        [("target", target_directory()?.display().to_string())],
    )
}

fn long_steps(minutes: u32) -> Result<Vec<Step>> {
    declared(
        include_str!("long.toml"),
        [
            ("soak", minutes.to_string()),
            ("fuzz", (minutes * 30).to_string()),
        ],
    )
}

/// Other tasks declare steps, too. Returns whether all have passed.
pub(crate) fn run_declared<const N: usize>(text: &str, words: [(&str, String); N]) -> Result<bool> {
    Ok(run_all(&declared(text, words)?)
        .iter()
        .all(|record| record.ending == Ending::Passed))
}

fn chosen(mut steps: Vec<Step>, names: &[String]) -> Result<Vec<Step>> {
    if let Some(unknown) = names
        .iter()
        .find(|name| steps.iter().all(|step| step.name != **name))
    {
        let known: Vec<_> = steps.iter().map(|step| step.name.as_str()).collect();
        bail!(
            "unknown step '{unknown}'. The steps are {}",
            known.join(", ")
        );
    }
    steps.retain(|step| names.is_empty() || names.contains(&step.name));
    Ok(steps)
}

fn end_of(text: &str, lines: usize) -> &str {
    let start = text
        .rmatch_indices('\n')
        .nth(lines)
        .map_or(0, |(at, _)| at + 1);
    &text[start..]
}

#[derive(Default)]
struct Log {
    ended: Mutex<Vec<Record>>,
    changed: Condvar,
}

/// Steps with `beside` run in two more lanes. The records are in the order of the ends.
fn run_all(steps: &[Step]) -> Vec<Record> {
    let log = Log::default();
    let (first, rest) = steps.split_at(steps.len().min(1));
    first.iter().for_each(|step| log.run(step, steps));
    let beside = Mutex::new(rest.iter().filter(|step| step.beside));
    std::thread::scope(|scope| {
        // While one waits for a disk or for cargo's lock, the other uses the processor.
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(step) = next(&beside) {
                    log.run(step, steps);
                }
            });
        }
        for step in rest.iter().filter(|step| !step.beside) {
            log.run(step, steps);
        }
    });
    let ended = log.ended.into_inner();
    let records = ended.unwrap_or_else(PoisonError::into_inner);
    print_all(&records);
    records
}

/// The lock is released before the step runs.
fn next<'s>(steps: &Mutex<impl Iterator<Item = &'s Step>>) -> Option<&'s Step> {
    steps.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// Failures are printed a second time, because a log may keep only its end.
fn print_all(records: &[Record]) {
    println!();
    for record in records {
        println!("== {record}");
    }
    for Record { step, ending, .. } in records {
        if let Ending::Failed(why) = ending {
            println!("\n== {step} FAILED: {}", end_of(why, REPEATED_LINES));
        }
    }
}

impl Log {
    fn run(&self, step: &Step, all: &[Step]) {
        let failed = self.wait_for_earlier(step, all);
        let title = format!("\n== {}: {}", step.name, step.run);
        let mut stdout = std::io::stdout();
        let record = if step.beside {
            let mut output = Vec::new();
            let record = step.carry_out(failed.as_deref(), &mut output);
            // Standard output may be closed.
            let _ = writeln!(
                stdout.lock(),
                "{title} (beside)\n{}",
                String::from_utf8_lossy(&output)
            );
            record
        } else {
            println!("{title}");
            step.carry_out(failed.as_deref(), &mut stdout)
        };
        println!("== {record}");
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(record);
        self.changed.notify_all();
    }

    /// Waits for the steps in `after`, if they are part of this run. Returns the name of a failed one.
    fn wait_for_earlier(&self, step: &Step, all: &[Step]) -> Option<String> {
        let mut earlier = step.after.clone();
        earlier.retain(|name| all.iter().any(|other| other.name == *name));
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = self
            .changed
            .wait_while(ended, |ended| !have_all_ended(&earlier, ended))
            .unwrap_or_else(PoisonError::into_inner);
        let mut failed = ended.iter().filter(|record| record.has_failed());
        let failed = failed.find(|record| earlier.contains(&record.step));
        failed.map(|record| record.step.clone())
    }
}

fn have_all_ended(names: &[String], ended: &[Record]) -> bool {
    names
        .iter()
        .all(|name| ended.iter().any(|record| record.step == *name))
}

#[cfg(test)]
mod tests {
    use super::step::tests::step;
    use super::*;
    use writebench_testkit::command::{output, root};

    fn after(step: Step, names: &[&str]) -> Step {
        Step {
            after: names.iter().map(|&name| name.to_owned()).collect(),
            ..step
        }
    }

    #[test]
    fn the_end_of_a_long_text_is_repeated() {
        let text = "it ended with exit status: 101\n    fs: a claim\n";
        assert_eq!(end_of(text, 1), "    fs: a claim\n");
        assert_eq!(end_of(text, 9), text);
    }

    #[test]
    fn steps_are_chosen_by_name_and_keep_their_order() {
        let names = |wanted: &[&str]| {
            let wanted: Vec<_> = wanted.iter().map(|&name| name.to_owned()).collect();
            let steps = ["a", "b", "c"].map(|name| step(name, "true")).to_vec();
            chosen(steps, &wanted)
                .map(|steps| steps.into_iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), ["a", "b", "c"]);
        assert_eq!(names(&["c", "a"]).unwrap(), ["a", "c"]);
        let error = names(&["a", "d"]).unwrap_err().to_string();
        assert_eq!(error, "unknown step 'd'. The steps are a, b, c");
    }

    #[test]
    fn a_failed_step_stops_only_the_steps_after_it() {
        let steps = [
            step("a", "exit 1"),
            step("b", "true"),
            after(step("c", "true"), &["a"]),
            after(step("d", "true"), &["b", "elsewhere"]),
        ];
        let lines: Vec<_> = run_all(&steps).iter().map(Record::to_string).collect();
        for (line, start) in
            lines
                .iter()
                .zip(["FAILED   a ", "passed   b ", "skipped  c ", "passed   d "])
        {
            assert!(line.starts_with(start), "{lines:?}");
        }
        assert!(lines[2].ends_with(" s  a failed"), "{lines:?}");
    }

    #[test]
    fn a_step_waits_for_one_in_another_lane() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made").display().to_string();
        let steps = [
            step("setup", "true"),
            after(step("uses", &format!("test -f {file}")), &["makes"]),
            Step {
                beside: true,
                ..step("makes", &format!("sleep 0.3; touch {file}"))
            },
        ];
        let records = run_all(&steps);
        assert!(records.iter().all(|record| record.ending == Ending::Passed));
        assert_eq!(
            records
                .iter()
                .map(|record| record.step.as_str())
                .collect::<Vec<_>>(),
            ["setup", "makes", "uses"]
        );
    }

    #[test]
    fn every_step_can_be_repeated_by_hand() {
        let words = [
            "folder",
            "version",
            "deb",
            "rpm",
            "wheel",
            "npm",
            "stem",
            "foreign-stem",
            "foreign",
        ];
        let words = words.map(|name| (name, "x".to_owned()));
        let tries = declared(include_str!("../dist/tried.toml"), words).unwrap();
        for steps in [steps().unwrap(), tries, long_steps(2).unwrap()] {
            for (at, step) in steps.iter().enumerate() {
                let Step {
                    name, run, after, ..
                } = step;
                output(std::process::Command::new("sh").args(["-n", "-c", run])).unwrap();
                let is_word = |rest: &str| rest.starts_with(|c: char| c.is_ascii_lowercase());
                assert!(!run.split('{').skip(1).any(is_word), "{name}: {run}");
                assert!(
                    steps[..at].iter().all(|other| other.name != *name),
                    "{name} comes twice"
                );
                assert!(
                    after
                        .iter()
                        .all(|name| steps.iter().any(|other| other.name == *name)),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn every_fuzz_target_is_in_the_long_checks() {
        for target in std::fs::read_dir(root().join("fuzz/targets")).unwrap() {
            let name = target
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned();
            assert!(
                include_str!("long.toml").contains(&format!("fuzz run {name} ")),
                "{name}"
            );
        }
    }

    #[test]
    fn every_installed_target_is_linted() {
        let needs = setup::missing(|_| false).unwrap();
        let targets: Vec<_> = needs
            .parts
            .iter()
            .filter_map(|[.., need, _]| need.strip_prefix("rust:"))
            .collect();
        assert_eq!(targets.len(), 4);
        for target in targets {
            let is_linted = |step: &Step| step.run.contains("clippy") && step.run.contains(target);
            assert!(steps().unwrap().iter().any(is_linted), "{target}");
        }
    }
}
