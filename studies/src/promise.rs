//! Compares a promised gain with a program of the recommended function. Its data is from malloc, as in most
//! programs.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use writebench_model::Case;
use writebench_snippets::{EmitOptions, Language, Unsupported, code};
use writebench_stats::Interval;

use crate::export::{Clock, Measured};
use crate::parity::beside::{with_directory, writes_several};
use crate::program::{Bench, compiled};

const ROUNDS: u32 = 40;

#[derive(Debug, Deserialize)]
struct Advice {
    recommended: String,
    baseline: String,
    /// The promised gain. None if plain write is recommended.
    speed_ratio: Option<Gain>,
}

/// A gain is a speed over that of plain write.
#[derive(Debug, Deserialize)]
struct Gain {
    low: f64,
    high: f64,
}

impl Gain {
    fn is_broken(&self, measured: &Interval) -> bool {
        measured.high < self.low
    }
}

/// Returns the number of gains proven to be below the promised interval.
pub(super) fn broken(bench: Bench<'_>, searches: &[Value]) -> Result<u32> {
    let mut promises = BTreeMap::<(String, String), Vec<Gain>>::new();
    for search in searches {
        let Advice {
            recommended,
            baseline,
            speed_ratio,
        } = Advice::deserialize(&search["advice"])?;
        if let Some(gain) = speed_ratio {
            promises
                .entry((recommended, baseline))
                .or_default()
                .push(gain);
        }
    }
    println!("gain of the recommended functions as programs over plain write, {ROUNDS} rounds:");
    let mut count = 0;
    let mut all_broken = 0;
    for ((recommended, baseline), gains) in promises {
        if let Err(why) = program_text(&Case::parse(&recommended)?) {
            println!("  not measured, {why}: {recommended}");
            continue;
        }
        let measured = gain(bench, &recommended, &baseline).context(recommended.clone())?;
        let Interval {
            estimate,
            low,
            high,
            ..
        } = measured;
        for promise in gains {
            let is_broken = promise.is_broken(&measured);
            count += 1;
            all_broken += u32::from(is_broken);
            let verdict = if is_broken {
                "LESS THAN PROMISED"
            } else {
                "as promised"
            };
            let promised = format!("{:.2} – {:.2}", promise.low, promise.high);
            println!("  {estimate:.2} [{low:.2}, {high:.2}] {verdict} ({promised}): {recommended}");
        }
    }
    println!("promises of a gain: {count}, not kept: {all_broken}");
    Ok(all_broken)
}

fn gain(bench: Bench<'_>, recommended: &str, baseline: &str) -> Result<Interval> {
    let scratch = tempfile::tempdir().context("a folder for the programs")?;
    let recommended = Case::parse(recommended)?;
    let baseline = Case::parse(baseline)?;
    let own = program(&recommended, &scratch.path().join("recommended"))?;
    let plain = program(&baseline, &scratch.path().join("baseline"))?;
    let cases = bench.compare(
        Command::new(bench.program),
        &baseline,
        ROUNDS,
        &[&own, &plain],
        "first",
    )?;
    of_program(&cases, 2)?.ratio(of_program(&cases, 1)?, Clock::Total)
}

fn of_program(cases: &[Measured], number: u32) -> Result<&Measured> {
    cases
        .iter()
        .find(|case| case.program() == Some(number))
        .context("a program failed")
}

/// Returns a command line for `--command`.
fn program(case: &Case, folder: &Path) -> Result<String> {
    ensure!(case.workload().pages.is_none(), OF_PAGES);
    let line = compiled(&program_text(case)?, Language::C, folder)?;
    with_directory(case, line)
}

fn program_text(case: &Case) -> Result<String, Unsupported> {
    // A copy takes no data from its caller, and the function of a set takes it by file.
    let frame = EmitOptions {
        is_program: case.method().copies() || writes_several(case),
        ..EmitOptions::default()
    };
    let text = code(case, Language::C, frame)?;
    Ok(if frame.is_program { text } else { text + MAIN })
}

const OF_PAGES: &str =
    "the printed code of pages is a store, which only its caller's commits make a program";

/// malloc's memory is not page-aligned. The program times only the function.
const MAIN: &str = concat!("\n", include_str!("promise.c"));

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use writebench_model::{Goal, Space};

    #[test]
    fn plain_write_of_every_goal_has_a_program_or_a_reason_to_have_none() {
        let scratch = tempfile::tempdir().unwrap();
        for &goal in Goal::ALL {
            let plain = Space::for_goal(goal, &[]).unwrap().baseline;
            let line = program(&plain, &scratch.path().join(goal.name()));
            let message = format!("{goal}: {line:?}");
            match line {
                Ok(_) => assert!(!goal.has_pages(), "{message}"),
                Err(error) => {
                    assert!(
                        goal.has_pages() && error.to_string().contains(OF_PAGES),
                        "{message}"
                    );
                }
            }
        }
    }

    #[test]
    fn plain_write_promises_nothing() {
        let advice = json!({"recommended": "write", "baseline": "write", "speed_ratio": null});
        assert!(Advice::deserialize(&advice).unwrap().speed_ratio.is_none());
    }

    #[test]
    fn a_gain_proven_to_be_less_breaks_a_promise() {
        let gain = |low, high| Interval {
            estimate: f64::midpoint(low, high),
            low,
            high,
            confidence: 0.95,
            count: 40,
        };
        let promise = Gain {
            low: 1.4,
            high: 1.6,
        };
        assert!(promise.is_broken(&gain(0.8, 0.9)));
        assert!(
            promise.is_broken(&gain(1.2, 1.3)),
            "it may still be faster than plain write"
        );
        assert!(!promise.is_broken(&gain(1.2, 1.5)), "not proven");
        assert!(
            !promise.is_broken(&gain(1.9, 2.0)),
            "more than was promised"
        );
    }

    #[test]
    fn a_program_has_its_data_from_malloc_and_a_copy_has_none() {
        let text = program_text(&Case::parse("pwrite,size=64MiB,cache=direct").unwrap()).unwrap();
        assert!(
            text.contains("malloc(size + 1)") && text.contains("int write_file("),
            "{text}"
        );
        let folder = tempfile::tempdir().unwrap();
        for (number, name) in ["write", "pwrite,cache=direct", "mmap", "pwrite,threads=2"]
            .into_iter()
            .enumerate()
        {
            let text = program_text(&Case::parse(name).unwrap()).unwrap();
            compiled(&text, Language::C, &folder.path().join(number.to_string())).unwrap();
        }
        let copy = program_text(&Case::parse("read-write,size=64MiB").unwrap()).unwrap();
        assert!(
            copy.contains("copy_file(argv[1], argv[2])") && !copy.contains("malloc(size + 1)"),
            "{copy}"
        );
    }
}
