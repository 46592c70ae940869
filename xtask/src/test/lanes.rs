//! Runs steps: most one after another, and beside them those that build in folders of their own and measure nothing.

use std::io::Write;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use super::counts::Counts;
use super::record::{Ending, Record};
use super::step::Step;

/// The ends of steps, which both lanes write down.
#[derive(Default)]
struct Log {
    ended: Mutex<(Vec<Record>, Counts)>,
    changed: Condvar,
}

/// Runs all steps; returns how they ended, in the order of their ends. The first step runs alone:
/// it installs what others need.
pub(super) fn run_all(steps: &[Step]) -> (Vec<Record>, Counts) {
    let log = Log::default();
    let (first, rest) = steps.split_at(steps.len().min(1));
    log.lane(first.iter(), &[]);
    let beside: Vec<_> = rest.iter().filter(|step| step.is_beside).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| log.lane(beside.iter().copied(), &[]));
        log.lane(rest.iter().filter(|step| !step.is_beside), &beside);
    });
    log.ended.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    /// Runs steps one after another; each waits for those in the other lane that it needs.
    fn lane<'s>(&self, steps: impl Iterator<Item = &'s Step>, others: &[&Step]) {
        for step in steps {
            self.wait_for(step.earlier().filter(|maker| others.iter().any(|other| other.name == *maker)));
            let start = Instant::now();
            let mut output = Vec::new();
            let mut counts = Counts::default();
            let title = format!("\n== {}: {}", step.name, step.command);
            let ending = if step.is_beside {
                run_step(step, |name| self.has_failed(name), &mut counts, &mut output)
            } else {
                println!("{title}");
                run_step(step, |name| self.has_failed(name), &mut counts, &mut std::io::stdout())
            };
            let record = Record { step: step.name, ending, took: start.elapsed() };
            let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            if step.is_beside {
                let mut stdout = std::io::stdout().lock();
                // Without a standard output there is nobody to tell.
                let _ = writeln!(stdout, "{title} (beside others)").and_then(|()| stdout.write_all(&output));
            }
            println!("== {record}");
            ended.0.push(record);
            ended.1.add(counts);
            self.changed.notify_all();
        }
    }

    fn has_failed(&self, name: &str) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.0.iter().any(|record| record.step == name && record.failure().is_some())
    }

    fn wait_for<'n>(&self, makers: impl Iterator<Item = &'n str>) {
        for maker in makers {
            let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            let is_missing = |ended: &mut (Vec<Record>, Counts)| !ended.0.iter().any(|it| it.step == maker);
            drop(self.changed.wait_while(ended, is_missing).unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Runs a step, unless a requirement is missing. A file of a failed step may be outdated.
fn run_step(
    step: &Step,
    has_failed: impl Fn(&str) -> bool,
    counts: &mut Counts,
    output: &mut impl Write,
) -> Ending {
    let maker = step.makers().find(|maker| has_failed(maker));
    if let Some(why) = maker.map(|maker| format!("{maker} failed")).or_else(|| step.missing()) {
        counts.skipped += 1;
        return Ending::Skipped(why);
    }
    let mut found = Counts::default();
    let outcome = step.run(&mut found, output);
    if outcome.is_err() {
        // A step without tests, or a test program that died, prints no count; it is a failure all the same.
        found.failed = found.failed.max(1);
    }
    counts.add(found);
    match outcome {
        Ok(()) => Ending::Passed,
        Err(error) => {
            let why = format!("{error:#}");
            let _ = writeln!(output, "\n== {} FAILED: {why}\n== to repeat it: {}", step.name, step.command);
            Ending::Failed(why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::need::Need;
    use super::*;

    #[test]
    fn a_step_without_its_requirements_is_skipped_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let mut step = Step::new("a", format!("touch {}", mark.display()));
        let mut counts = Counts::default();

        step.needs = vec![Need::Program("sh"), Need::Program("no-such-program-here")];
        let Ending::Skipped(why) = run_step(&step, |_| false, &mut counts, &mut Vec::new()) else {
            panic!("not skipped")
        };
        assert!(why.starts_with("no-such-program-here is not installed"), "{why}");
        assert!(!mark.exists(), "it was run all the same");
        assert_eq!(counts.to_string(), "0 passed, 0 failed, 1 skipped");

        step.needs.truncate(1);
        assert_eq!(run_step(&step, |_| false, &mut counts, &mut Vec::new()), Ending::Passed);
        assert!(mark.exists());
        assert_eq!(counts.to_string(), "0 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn a_step_that_fails_is_a_failure_also_where_no_test_did() {
        for program in ["false", "no-such-program-here"] {
            let mut counts = Counts::default();
            let ending = run_step(&Step::new("a", program), |_| false, &mut counts, &mut Vec::new());
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
    fn a_step_waits_for_its_maker_in_the_other_lane() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made");
        let steps = [
            Step::new("setup", "true"),
            Step::new("uses", format!("test -f {}", file.display()))
                .needing([Need::File { path: file.clone(), made_by: "makes" }]),
            Step::new("makes", format!("sleep 0.3; touch {}", file.display())).beside(),
        ];
        let (records, counts) = run_all(&steps);
        assert!(records.iter().all(|record| record.ending == Ending::Passed), "{counts}");
        assert_eq!(records.iter().map(|record| record.step).collect::<Vec<_>>(), ["setup", "makes", "uses"]);
    }
}
